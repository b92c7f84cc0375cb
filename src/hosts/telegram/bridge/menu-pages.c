#include "hosts/telegram/bridge/menu-pages.h"

#include "base/clock.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/bridge/sections.h"
#include "hosts/telegram/bridge/templates.h"
#include "hosts/telegram/bridge/waiting.h"
#include "hosts/telegram/rules/press.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/prompt.h"
#include "hosts/telegram/text/unicode.h"

enum {
	LABEL_UNITS = 56,
	STATUS_UNITS = 64,
	ITEM_UNITS = 3600,
	MODELS_ON_PAGE = 6,
	PAGES_IN_ROW = 4,
};

void view_init(struct menu_view *v)
{
	*v = (struct menu_view){ .keyboard = json_array() };
}

void view_done(struct menu_view *v)
{
	json_decref(v->keyboard);
	buf_done(&v->html);
	arena_done(&v->arena);
}

static struct str shortened(struct arena *a, struct str text, size_t units)
{
	struct str cut = unicode_cut(text, units);

	return cut.len == text.len ? text
				   : arena_printf(a, "%.*s…", STR(unicode_cut(text, units - 1)));
}

void view_button(struct menu_view *v, struct str label, struct str data)
{
	json_array_append_new(
		v->keyboard, button_row(shortened(&v->arena, label, LABEL_UNITS), data));
}

#define BACK S("⬅ Back")

static void back(struct menu_view *v, enum callback_action to)
{
	view_button(v, BACK, callback_plain(to));
}

static void add_buttons(
	struct menu_view *v, const struct str *labels, const struct str *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		view_button(v, labels[i], keys[i]);
}

static void line(struct menu_view *v, const char *what, struct str value)
{
	buf_printf(&v->html, "<b>%s</b> ", what);
	html_escape(&v->html, shortened(&v->arena, value, STATUS_UNITS));
	buf_addc(&v->html, '\n');
}

/* -- main ----------------------------------------------------------------------------------------
 */

static struct str state_of(struct bridge *b, struct arena *a)
{
	struct turns *t = &b->turns;
	AUTO_BUF since = BUF_INIT;

	if (t->compacting)
		return S("compacting");
	if (!t->item)
		return t->held ? S("idle; waiting prompts are held, /next continues") : S("idle");
	clock_duration(&since, clock_real_ms() - MIN(t->since_ms, clock_real_ms()));
	struct str tool = t->paused ? S("") : unicode_cut(buf_str(&b->live.stream.tool), 20);
	return arena_printf(a, "%s%.*s for %s, run %s",
		t->paused  ? "waits for an approval"
		: tool.len ? "tool running: "
			   : "active",
		STR(tool), buf_cstr(&since), t->run);
}

/* What the agent has told last: the first of the names that it uses. */
static json_t *told(const json_t *usage, const char *name, const char *other)
{
	json_t *value = json_object_get(usage, name);

	value = value ? value : json_object_get(usage, other);
	return json_is_number(value) && json_number_value(value) >= 0 ? value : NULL;
}

static void usage_rows(struct menu_view *v, const json_t *usage)
{
	json_t *in = told(usage, "input", "input_tokens");
	json_t *out = told(usage, "output", "output_tokens");
	json_t *cost = told(usage, "cost", "cost_usd");
	json_t *context = told(usage, "context", "context_tokens");
	json_t *window = told(usage, "window", "context_window");

	if (in || out)
		line(v, "usage:",
			arena_printf(&v->arena, "%.0f tokens in, %.0f out", json_number_value(in),
				json_number_value(out)));
	if (cost)
		line(v, "cost:", arena_printf(&v->arena, "$%.4f", json_number_value(cost)));
	if (context && json_number_value(window) > 0)
		line(v, "context:",
			arena_printf(&v->arena, "%.0f of %.0f tokens (%.0f%%)",
				json_number_value(context), json_number_value(window),
				100 * json_number_value(context) / json_number_value(window)));
	else if (context)
		line(v, "context:",
			arena_printf(&v->arena, "%.0f tokens", json_number_value(context)));
}

static void status_rows(struct bridge *b, struct menu_view *v)
{
	struct str agent = agent_name(b, &v->arena, NULL), model = agent_model(b, &v->arena);
	AUTO_JSON *last = store_get(&b->store, "last-run");

	line(v, "state:", state_of(b, &v->arena));
	line(v, "agent:", agent.len ? agent : S("none is configured"));
	if (model.len)
		line(v, "model:", model);
	line(v, "queue:", arena_printf(&v->arena, "%zu waiting", b->turns.waiting.count));
	if (last)
		line(v, "last run:",
			arena_printf(&v->arena, "%.*s, %.*s", STR(json_text_of(last, "status")),
				STR(json_text_of(last, "time"))));
	usage_rows(v, json_object_get(last, "usage"));
	if (json_array_size(b->deliveries.keys))
		line(v, "not delivered:",
			arena_printf(&v->arena, "%zu", json_array_size(b->deliveries.keys)));
}

void view_main(struct bridge *b, struct menu_view *v)
{
	buf_adds(&v->html, "Send a prompt, a file or a voice message.\n\n"
			   "/next starts the next prompt\n/continue sends <code>continue</code>\n"
			   "/abort ends the running turn\n/stop also drops what waits\n"
			   "/compact shortens what the agent remembers\n"
			   "/run NAME runs a recipe, /runs lists runs\n");
	templates_list(b, &v->html);
	buf_addc(&v->html, '\n');
	status_rows(b, v);
	view_button(v, S("🤖 Model"), callback_plain(MENU_MODEL));
	if (agent_thinks(b))
		view_button(v, S("💭 Thinking"), callback_plain(MENU_THINKING));
	view_button(v, arena_printf(&v->arena, "⌛ Queue (%zu)", b->turns.waiting.count),
		callback_plain(MENU_QUEUE));
	sections_buttons(b, v, false);
	view_button(v, S("⚙ Settings"), callback_plain(MENU_SETTINGS));
}

/* -- models --------------------------------------------------------------------------------------
 */

static json_t *scope_of(struct bridge *b)
{
	json_t *scope = store_get(&b->store, "scope");

	if (json_is_array(scope))
		return scope;
	json_decref(scope);
	return json_array();
}

static bool in_scope(const json_t *scope, struct str id)
{
	json_t *s;
	size_t i;

	json_array_foreach((json_t *)scope, i, s) if (str_eq(json_str(s), id)) return true;
	return false;
}

json_t *models_of(struct bridge *b, bool scoped)
{
	AUTO_JSON *all = agent_models(b);
	AUTO_JSON *scope = scope_of(b);
	json_t *m, *found = json_array();
	size_t i;

	json_array_foreach(all, i, m)
	{
		if (!scoped || !json_array_size(scope) || in_scope(scope, json_text_of(m, "id")))
			json_array_append(found, m);
	}
	return found;
}

uint64_t models_sum(const json_t *models)
{
	AUTO_BUF text = BUF_INIT;
	uint64_t sum = 1469598103934665603ull;

	json_write(&text, models, 0);
	for (size_t i = 0; i < text.len; i++)
		sum = (sum ^ (unsigned char)text.p[i]) * 1099511628211ull;
	return sum;
}

static void model_button(
	struct bridge *b, struct menu_view *v, const json_t *m, uint64_t number, struct str chosen)
{
	struct str id = json_text_of(m, "id"), provider = json_text_of(m, "provider");

	(void)b;
	view_button(v,
		arena_printf(&v->arena, "%s%.*s%s%.*s", str_eq(id, chosen) ? "✅ " : "", STR(id),
			provider.len ? " · " : "", STR(provider)),
		callback_numbered(&v->arena, MODEL_OPEN, number));
}

/* One row: the page before, which this one is, the page behind. */
static void add_pages(struct menu_view *v, uint64_t page, uint64_t pages, const struct str *keys)
{
	struct str labels[] = { S("‹"),
		arena_printf(&v->arena, "%llu/%llu", (unsigned long long)page + 1,
			(unsigned long long)pages),
		S("›") };
	json_t *row = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		json_array_append_new(row, json_pack("{s:o,s:o}", "text", json_from_str(labels[i]),
						   "callback_data", json_from_str(keys[i])));
	json_array_append_new(v->keyboard, row);
}

static void add_model_pages(struct menu_view *v, uint64_t page, uint64_t pages)
{
	struct str keys[] = {
		callback_numbered(&v->arena, MODEL_PAGE, page ? page - 1 : pages - 1),
		callback_plain(MODEL_PAGES),
		callback_numbered(&v->arena, MODEL_PAGE, (page + 1) % pages),
	};

	add_pages(v, page, pages, keys);
}

static void view_model(
	struct bridge *b, struct menu_view *v, const json_t *m, uint64_t number, struct str chosen)
{
	AUTO_JSON *scope = scope_of(b);
	struct str id = json_text_of(m, "id"), provider = json_text_of(m, "provider");
	bool in = in_scope(scope, id);

	buf_adds(&v->html, "🤖 <b>");
	html_escape(&v->html, id);
	buf_adds(&v->html, "</b>\n");
	html_escape(&v->html, provider);
	if (json_truth_of(m, "thinking"))
		buf_adds(&v->html, "\nsupports thinking levels");
	if (str_eq(id, chosen))
		buf_adds(&v->html, "\nis the one in use");
	back(v, MENU_MODEL);
	view_button(v, S("Use it"), callback_numbered(&v->arena, MODEL_PICK, number));
	view_button(v, in ? S("Take it out of the scope") : S("Put it into the scope"),
		callback_plain(in ? MODEL_SCOPE_DISABLE : MODEL_SCOPE_ENABLE));
}

void view_models(struct bridge *b, struct menu_view *v, const struct model_view *m)
{
	AUTO_JSON *models = models_of(b, m->scoped);
	AUTO_JSON *scope = scope_of(b);
	struct str chosen = agent_model(b, &v->arena);
	uint64_t count = json_array_size(models);
	uint64_t pages = (count + MODELS_ON_PAGE - 1) / MODELS_ON_PAGE;
	uint64_t page = pages ? MIN(m->page, pages - 1) : 0;

	if (m->open < count) {
		view_model(b, v, json_array_get(models, m->open), m->open, chosen);
		return;
	}
	buf_adds(&v->html, count ? "🤖 <b>Model</b>\nnow: "
				 : "No models are configured for this agent: "
				   "set <code>agent.models</code> in "
				   "telegram.json.");
	if (count)
		html_escape(&v->html, chosen);
	back(v, MENU_BACK);
	if (json_array_size(scope))
		view_button(v, m->scoped ? S("Show all models") : S("Show the scope only"),
			m->scoped ? S("model:scope:all") : S("model:scope:scoped"));
	for (uint64_t i = page * MODELS_ON_PAGE; i < MIN(count, (page + 1) * MODELS_ON_PAGE); i++)
		model_button(b, v, json_array_get(models, i), i, chosen);
	if (pages > 1)
		add_model_pages(v, page, pages);
}

void view_model_pages(struct bridge *b, struct menu_view *v, const struct model_view *m)
{
	AUTO_JSON *models = models_of(b, m->scoped);
	uint64_t pages = (json_array_size(models) + MODELS_ON_PAGE - 1) / MODELS_ON_PAGE;
	json_t *row = NULL;

	buf_adds(&v->html, "🤖 <b>Model</b>\nWhich page?");
	back(v, MODEL_PAGES_BACK);
	for (uint64_t i = 0; i < MIN(pages, 80u); i++) {
		if (i % PAGES_IN_ROW == 0)
			json_array_append_new(v->keyboard, row = json_array());
		json_array_append_new(row,
			json_pack("{s:o,s:o}", "text",
				json_from_str(
					arena_printf(&v->arena, "%llu", (unsigned long long)i + 1)),
				"callback_data",
				json_from_str(callback_numbered(&v->arena, MODEL_PAGE, i))));
	}
}

/* -- thinking ------------------------------------------------------------------------------------
 */

void view_thinking(struct bridge *b, struct menu_view *v)
{
	json_t *levels = conf_get(&b->config, "agent.thinking"), *l;
	struct str chosen = agent_thinking(b, &v->arena), data;
	size_t i;

	buf_adds(&v->html, "💭 <b>Thinking</b>\nnow: ");
	html_escape(&v->html, chosen);
	back(v, MENU_BACK);
	json_array_foreach(levels, i,
		l) if (json_is_string(l) && callback_thinking(&v->arena, json_str(l), &data))
		view_button(v,
			arena_printf(&v->arena, "%s%.*s", str_eq(json_str(l), chosen) ? "✅ " : "",
				STR(json_str(l))),
			data);
}

/* -- the queue -----------------------------------------------------------------------------------
 */

static struct item_name name_of(const json_t *turn)
{
	return (struct item_name){ (uint64_t)json_number_of(turn, "chat"),
		(uint64_t)waiting_message(turn) };
}

/* The turns of one page. */
struct page {
	struct arena *arena;
	size_t count;
	struct item_name names[QUEUE_PAGE_ITEMS];
	struct str labels[QUEUE_PAGE_ITEMS];
};

static bool add_turn(void *data, uint64_t item, enum lane lane, const json_t *turn)
{
	struct page *p = data;

	(void)item;
	p->names[p->count] = name_of(turn);
	p->labels[p->count++] = arena_printf(p->arena, "%s%.*s", lane == LANE_DEFAULT ? "" : "⚡ ",
		STR(turn_summary(p->arena, turn)));
	return p->count < QUEUE_PAGE_ITEMS;
}

static void queue_heading(struct menu_view *v, size_t count, const uint64_t *heading)
{
	static const char *const refreshed[QUEUE_HEADINGS] = { "⌛ The queue is still empty.",
		"🍃 Nothing waits.", "☕ Still nothing.", "🌙 All quiet." };

	if (count)
		buf_printf(&v->html, "⌛ <b>Queue</b>: %zu waiting", count);
	else
		buf_adds(&v->html,
			heading ? refreshed[*heading % QUEUE_HEADINGS] : "⌛ Queue is empty.");
}

void view_queue(struct bridge *b, struct menu_view *v, uint64_t number, const uint64_t *heading)
{
	size_t count = b->turns.waiting.count, keys_count;
	uint64_t pages = (count + QUEUE_PAGE_ITEMS - 1) / QUEUE_PAGE_ITEMS;
	uint64_t at = pages ? MIN(number, pages - 1) : 0;
	struct page page = { .arena = &v->arena };
	struct str *keys;

	queue_heading(v, count, heading);
	if (count)
		waiting_each(b, at * QUEUE_PAGE_ITEMS, add_turn, &page);
	keys_count = menu_queue_keys(
		&v->arena, page.names, page.count, at, pages, heading ? *heading : 0, &keys);
	view_button(v, BACK, keys[0]);
	view_button(v, S("🔄 Refresh"), keys[1]);
	for (size_t i = 0; i < page.count; i++)
		view_button(v, page.labels[i], keys[2 + i]);
	if (keys_count > 2 + page.count)
		add_pages(v, at, pages, &keys[2 + page.count]);
}

void view_item(struct menu_view *v, const json_t *turn, bool priority)
{
	AUTO_BUF prompt = BUF_INIT;
	struct str text = (turn_prompt_of(&prompt, turn), buf_str(&prompt));
	struct str escaped = html_escaped(&v->arena, text);
	struct str labels[] = { BACK, priority ? S("✅ Priority") : S("⚡ Priority"),
		priority ? S("Normal") : S("✅ Normal"), S("🗑 Delete") };
	struct str *keys;

	/* Cut before it is escaped, or an entity might be. */
	while (unicode_units(escaped) > ITEM_UNITS) {
		text = unicode_cut(text, unicode_units(text) * 9 / 10);
		escaped = arena_printf(&v->arena, "%.*s…", STR(html_escaped(&v->arena, text)));
	}
	buf_printf(&v->html, "%s\n\n%.*s", priority ? "⚡ <b>Priority</b>" : "<b>Waiting</b>",
		STR(escaped));
	size_t count = menu_item_keys(&v->arena, name_of(turn), &keys);
	add_buttons(v, labels, keys, count);
}

void view_confirm(struct menu_view *v, const json_t *turn)
{
	struct str labels[] = { S("🗑 Delete"), S("Keep") }, *keys;

	buf_adds(&v->html, "Delete this prompt?\n\n");
	html_escape(&v->html, turn_summary(&v->arena, turn));
	size_t count = menu_confirm_keys(&v->arena, name_of(turn), &keys);
	add_buttons(v, labels, keys, count);
}

/* -- settings ------------------------------------------------------------------------------------
 */

void view_settings(struct bridge *b, struct menu_view *v)
{
	bool on = conf_truth(&b->config, "proactivePush");
	struct str *keys;

	buf_adds(&v->html, "⚙ <b>Settings</b>");
	(void)menu_settings_keys(&v->arena, &keys);
	view_button(v, BACK, keys[0]);
	sections_buttons(b, v, true);
	view_button(v, on ? S("📣 Proactive push: on") : S("📣 Proactive push: off"), keys[1]);
}

void view_proactive(struct bridge *b, struct menu_view *v)
{
	bool on = conf_truth(&b->config, "proactivePush");
	struct str labels[] = { BACK, on ? S("✅ On") : S("On"), on ? S("Off") : S("✅ Off") }, *keys;

	buf_adds(&v->html,
		"📣 <b>Proactive push</b>\nResults of runs that were not started here are "
		"sent to this chat.");
	size_t count = menu_proactive_keys(&v->arena, &keys);
	add_buttons(v, labels, keys, count);
}
