#include "hosts/telegram/rules/callback.h"

#include "base/lang.h"

/* What follows the data of an action. */
enum operand {
	NO_OPERAND,
	NUMBER,
	NUMBER_OR_NONE,
	ITEM,          /* :chat:message */
	ITEM_PRIORITY, /* :chat:message:priority */
	ITEM_NORMAL,
};

/* One table for reading and building. A word that is the beginning of another stands behind it or
 * has an operand that tells them apart: the whole data has to match. */
static const struct form {
	const char *word;
	enum callback_kind kind;
	enum callback_action action;
	enum operand operand;
	const char *text;
} forms[] = {
	{ "menu:model", CALLBACK_MENU, MENU_MODEL, NO_OPERAND, "" },
	{ "menu:thinking", CALLBACK_MENU, MENU_THINKING, NO_OPERAND, "" },
	{ "menu:queue", CALLBACK_MENU, MENU_QUEUE, NO_OPERAND, "" },
	{ "menu:settings", CALLBACK_MENU, MENU_SETTINGS, NO_OPERAND, "" },
	{ "menu:back", CALLBACK_MENU, MENU_BACK, NO_OPERAND, "" },
	{ "status:model", CALLBACK_MENU, MENU_MODEL, NO_OPERAND, "" },
	{ "status:thinking", CALLBACK_MENU, MENU_THINKING, NO_OPERAND, "" },
	{ "status:queue", CALLBACK_MENU, MENU_QUEUE, NO_OPERAND, "" },
	{ "status:settings", CALLBACK_MENU, MENU_SETTINGS, NO_OPERAND, "" },
	{ "status:back", CALLBACK_MENU, MENU_BACK, NO_OPERAND, "" },
	{ "model:noop", CALLBACK_MODEL, MODEL_NOOP, NO_OPERAND, "" },
	{ "model:scope:scoped", CALLBACK_MODEL, MODEL_SCOPE, NO_OPERAND, "scoped" },
	{ "model:scope:all", CALLBACK_MODEL, MODEL_SCOPE, NO_OPERAND, "all" },
	{ "model:page", CALLBACK_MODEL, MODEL_PAGE, NUMBER, "" },
	{ "model:pages", CALLBACK_MODEL, MODEL_PAGES, NO_OPERAND, "" },
	{ "model:pages:back", CALLBACK_MODEL, MODEL_PAGES_BACK, NO_OPERAND, "" },
	{ "model:open", CALLBACK_MODEL, MODEL_OPEN, NUMBER, "" },
	{ "model:pick", CALLBACK_MODEL, MODEL_PICK, NUMBER, "" },
	{ "model:pick-selected", CALLBACK_MODEL, MODEL_PICK_SELECTED, NO_OPERAND, "" },
	{ "model:scope-enable", CALLBACK_MODEL, MODEL_SCOPE_ENABLE, NO_OPERAND, "" },
	{ "model:scope-disable", CALLBACK_MODEL, MODEL_SCOPE_DISABLE, NO_OPERAND, "" },
	{ "model:scope-toggle", CALLBACK_MODEL, MODEL_SCOPE_TOGGLE, NO_OPERAND, "" },
	{ "queue:noop", CALLBACK_QUEUE, QUEUE_NOOP, NO_OPERAND, "" },
	{ "queue:list", CALLBACK_QUEUE, QUEUE_LIST, NO_OPERAND, "" },
	{ "queue:refresh", CALLBACK_QUEUE, QUEUE_REFRESH, NUMBER_OR_NONE, "" },
	{ "queue:page", CALLBACK_QUEUE, QUEUE_PAGE, NUMBER, "" },
	{ "queue:pick", CALLBACK_QUEUE, QUEUE_PICK, ITEM, "" },
	{ "queue:prio", CALLBACK_QUEUE, QUEUE_TOGGLE, ITEM, "" },
	{ "queue:prio-set", CALLBACK_QUEUE, QUEUE_PRIORITY, ITEM_PRIORITY, "" },
	{ "queue:prio-set", CALLBACK_QUEUE, QUEUE_NORMAL, ITEM_NORMAL, "" },
	{ "queue:delete", CALLBACK_QUEUE, QUEUE_DELETE, ITEM, "" },
	{ "queue:cancel", CALLBACK_QUEUE, QUEUE_CANCEL, ITEM, "" },
	{ "queue:keep", CALLBACK_QUEUE, QUEUE_KEEP, ITEM, "" },
	{ "queue:confirm-delete", CALLBACK_QUEUE, QUEUE_CONFIRM_DELETE, ITEM, "" },
	{ "settings:list", CALLBACK_SETTINGS, SETTINGS_LIST, NO_OPERAND, "" },
	{ "settings:open:proactive", CALLBACK_SETTINGS, SETTINGS_OPEN_PROACTIVE, NO_OPERAND, "" },
	{ "settings:set:proactive:on", CALLBACK_SETTINGS, SETTINGS_PROACTIVE_ON, NO_OPERAND, "" },
	{ "settings:set:proactive:off", CALLBACK_SETTINGS, SETTINGS_PROACTIVE_OFF, NO_OPERAND, "" },
};

static const char *const owned[] = { "tgbtn:", "gate:", "runs:", "menu:", "status:", "thinking:",
	"model:", "queue:", "settings:", "section:" };

static bool take(struct str *s, struct str prefix)
{
	if (!str_starts(*s, prefix))
		return false;
	*s = str_from(*s, prefix.len);
	return true;
}

/* `:` and 1 to 19 digits. */
static bool take_number(struct str *s, uint64_t *ret)
{
	size_t end = 1;

	if (!s->len || s->p[0] != ':')
		return false;
	while (end < s->len && ascii_digit(s->p[end]))
		end++;
	if (end == 1 || end > 20 || !str_to_uint(str_sub(*s, 1, end - 1), ret))
		return false;
	*s = str_from(*s, end);
	return true;
}

/* Eight hexadecimal digits in lower case. */
static bool take_id(struct str *s, struct str *ret)
{
	if (s->len < 8)
		return false;
	for (size_t i = 0; i < 8; i++)
		if (!ascii_digit(s->p[i]) && (s->p[i] < 'a' || s->p[i] > 'f'))
			return false;
	*ret = str_sub(*s, 0, 8);
	*s = str_from(*s, 8);
	return true;
}

static bool operand_fits(enum operand operand, struct str rest, struct callback *c)
{
	switch (operand) {
	case NO_OPERAND:
		break;
	case NUMBER_OR_NONE:
		if (!rest.len)
			break;
		/* fall through */
	case NUMBER:
		if (!take_number(&rest, &c->number))
			return false;
		break;
	case ITEM:
	case ITEM_PRIORITY:
	case ITEM_NORMAL:
		if (!take_number(&rest, &c->chat) || !take_number(&rest, &c->message))
			return false;
		if (operand != ITEM)
			return str_eq(rest, operand == ITEM_NORMAL ? S(":normal") : S(":priority"));
		break;
	}
	return !rest.len;
}

static bool read_form(struct str data, struct callback *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		struct callback c = {
			.kind = f->kind, .action = f->action, .text = str_of(f->text)
		};
		struct str rest = data;

		if (take(&rest, str_of(f->word)) && operand_fits(f->operand, rest, &c)) {
			*ret = c;
			return true;
		}
	}
	return false;
}

/* A form of this family begins with `kind:action`. */
static bool known_action(struct str kind, struct str action)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct str rest = str_of(forms[i].word);

		if (!take(&rest, kind) || !take(&rest, S(":")) || !take(&rest, action))
			continue;
		if (!rest.len || rest.p[0] == ':')
			return true;
	}
	return false;
}

bool callback_menu_words(struct str data, struct callback_words *ret)
{
	size_t colon = str_find(data, ':', 0);
	struct callback_words w = { .kind = str_sub(data, 0, colon) };
	struct str rest = colon < data.len ? str_from(data, colon + 1) : S("");

	if (take(&data, S("thinking:set:"))) {
		*ret = (struct callback_words){ S("thinking:set"), S(""), data, true };
		return true;
	}
	if (!str_eq(w.kind, S("menu")) && !str_eq(w.kind, S("status")) &&
		!str_eq(w.kind, S("model")))
		return false;
	size_t end = str_find(rest, ':', 0);
	w.action = str_sub(rest, 0, end);
	w.has_value = end < rest.len;
	w.value = w.has_value ? str_from(rest, end + 1) : S("");
	if (!w.action.len || !known_action(w.kind, w.action))
		return false;
	*ret = w;
	return true;
}

/* The words first, then what they mean. */
static bool read_menu(struct str data, struct callback *ret)
{
	struct callback_words w;

	if (!callback_menu_words(data, &w))
		return false;
	if (!str_eq(w.kind, S("thinking:set")))
		return read_form(data, ret);
	if (w.value.len)
		*ret = (struct callback){ .kind = CALLBACK_THINKING, .text = w.value };
	return w.value.len;
}

static bool read_id(struct str data, struct callback *ret)
{
	struct callback c = { 0 };

	if (take(&data, S("tgbtn:"))) {
		c.kind = CALLBACK_BUTTON;
	} else if (take(&data, S("runs:cancel:"))) {
		c.kind = CALLBACK_RUN_CANCEL;
	} else if (take(&data, S("gate:"))) {
		c.kind = CALLBACK_GATE;
		c.yes = str_ends(data, S(":y"));
		if (!c.yes && !str_ends(data, S(":n")))
			return false;
		data.len -= 2;
	} else {
		return false;
	}
	if (!take_id(&data, &c.id) || data.len)
		return false;
	*ret = c;
	return true;
}

bool callback_section_words(
	struct str data, struct str *token, struct str *action, struct str *payload)
{
	if (!take(&data, S("section:")))
		return false;
	size_t colon = str_find(data, ':', 0);
	if (colon == data.len)
		return false;
	size_t second = str_find(data, ':', colon + 1);
	*token = str_sub(data, 0, colon);
	*action = str_sub(data, colon + 1, second - colon - 1);
	*payload = second < data.len ? str_from(data, second + 1) : S("");
	return true;
}

static bool is_owned(struct str data)
{
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		if (str_starts(data, str_of(owned[i])))
			return true;
	return false;
}

void callback_parse(struct str data, struct callback *ret)
{
	*ret = (struct callback){ .kind = CALLBACK_EMPTY };
	if (!data.len)
		return;
	if (!is_owned(data)) {
		ret->kind = CALLBACK_FOREIGN;
		return;
	}
	ret->kind = CALLBACK_BAD;
	if (data.len > CALLBACK_BYTES || read_menu(data, ret) || read_form(data, ret) ||
		read_id(data, ret))
		return;
	if (callback_section_words(data, &ret->token, &ret->name, &ret->text) && ret->token.len &&
		ret->name.len)
		ret->kind = CALLBACK_SECTION;
}

static const struct form *form_of(enum callback_action action)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (forms[i].action == action)
			return &forms[i];
	UNREACHABLE("an action has a form");
}

struct str callback_plain(enum callback_action action)
{
	return str_of(form_of(action)->word);
}

struct str callback_numbered(struct arena *a, enum callback_action action, uint64_t number)
{
	return arena_printf(a, "%s:%llu", form_of(action)->word, (unsigned long long)number);
}

struct str callback_item(
	struct arena *a, enum callback_action action, uint64_t chat, uint64_t message)
{
	const struct form *f = form_of(action);
	const char *end = f->operand == ITEM_PRIORITY ? ":priority"
			  : f->operand == ITEM_NORMAL ? ":normal"
						      : "";

	return arena_printf(a, "%s:%llu:%llu%s", f->word, (unsigned long long)chat,
		(unsigned long long)message, end);
}

struct str callback_button(struct arena *a, struct str id)
{
	return arena_printf(a, "tgbtn:%.*s", STR(id));
}

struct str callback_gate(struct arena *a, struct str id, bool yes)
{
	return arena_printf(a, "gate:%.*s:%c", STR(id), yes ? 'y' : 'n');
}

struct str callback_run_cancel(struct arena *a, struct str id)
{
	return arena_printf(a, "runs:cancel:%.*s", STR(id));
}

/* From any bytes: printf() would stop at a NUL. */
static bool build(struct arena *a, const struct str *parts, size_t count, struct str *ret)
{
	AUTO_BUF b = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		buf_add(&b, parts[i]);
	*ret = arena_str(a, buf_str(&b));
	return ret->len <= CALLBACK_BYTES;
}

bool callback_section(
	struct arena *a, struct str token, struct str action, struct str payload, struct str *ret)
{
	struct str parts[] = { S("section:"), token, S(":"), action, S(":"), payload };

	return build(a, parts, payload.len ? 6 : 4, ret);
}

bool callback_thinking(struct arena *a, struct str level, struct str *ret)
{
	struct str parts[] = { S("thinking:set:"), level };

	return build(a, parts, 2, ret);
}
