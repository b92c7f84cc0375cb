#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "graph/around.h"
#include "graph/call.h"
#include "graph/document.h"
#include "graph/label.h"
#include "graph/members.h"
#include "graph/risk.h"
#include "graph/settings.h"
#include "graph/typed.h"
#include "template/braces.h"

enum { OLD_TIMEOUT_MS = 30000 }; /* what a leaf without one had in the 0.9 dialect */

static struct node *read_node(struct reader *rd, const json_t *value, const struct place *place,
	const struct node *parent);

static struct node *new_node(struct reader *rd, enum node_kind kind, const struct place *place,
	const struct node *parent)
{
	struct node *n = arena_new(rd->a, struct node);

	n->kind = kind;
	n->place = place;
	n->parent = parent;
	n->origin = rd->importer ? rd->importer->origin : NULL;
	n->runs = true;
	n->retry.value = 1;
	return n;
}

/* A value that was made while reading lives as long as the graph. */
static void keep_value(struct reader *rd, json_t *value)
{
	json_array_append_new(rd->g->made, value);
}

/* -- commands ------------------------------------------------------------------------------------
 */

struct collecting {
	struct reader *rd;
	const struct text *text;
};

/* A type written inline declares the name for the whole run. */
static void collect_type(void *data, const struct placeholder *p)
{
	struct collecting *c = data;
	struct declaration d = { .name = p->name, .type = p->type };
	struct report *notes = &c->rd->g->extensions;
	size_t offset = (size_t)(p->content.p - c->text->raw.p) - 1;

	if (p->kind == PLACEHOLDER_SPREAD)
		report_note(notes,
			report_full(notes) ? (struct where){ 0 }
					   : braces_where(c->text, offset, p->content.len + 2),
			"`{%.*s}` is an extension of roux", STR(p->content));
	if (p->type.kind != TYPE_NONE)
		vec_push(&c->rd->g->arguments,
			(struct argument){ d, c->text->place, c->text, p->content });
}

static void collect_types(struct reader *rd, const struct text *t)
{
	struct collecting c = { rd, t };

	if (t)
		t->ops->walk(t, collect_type, &c);
}

static bool read_command(
	struct reader *rd, struct node *n, struct str line, const struct place *place)
{
	struct word *words;
	size_t count = words_split(rd->a, line, &words);
	bool ok = true;

	n->kind = NODE_COMMAND;
	n->line = line;
	n->keep_empty = rd->d == DIALECT_0_9;
	if (!count || !words[0].text.len) {
		report_error(rd->r, place_where(place), "the command is empty");
		return report_hint(rd->r, "the first word is the program to run");
	}
	struct command_word *made = arena_array(rd->a, struct command_word, count);
	for (size_t i = 0; i < count; i++) {
		const struct text *t =
			braces_word(rd->a, place, line, i, words[i].text, rd->d, rd->r);

		made[i] = (struct command_word){ t, words[i].quoted };
		collect_types(rd, t);
		ok &= t != NULL;
	}
	n->words = made;
	n->word_count = count;
	return ok;
}

/* -- fields --------------------------------------------------------------------------------------
 */

/* Adds the shorthand defaults of one list. First declaration of a name within one list wins. */
static void read_declarations(struct reader *rd, const struct layer *list, struct presets *presets)
{
	size_t before = presets->count, i;
	json_t *item;

	json_array_foreach(list->value, i, item)
	{
		const struct place *p = place_element(rd->a, list->place, i);
		struct declaration d;

		if (!json_is_string(item) || !declaration_parse(utf8_trim(json_str(item)), &d)) {
			AUTO_BUF found = BUF_INIT;

			template_text(&found, item);
			report_error(rd->r, place_where(p),
				"'%.*s' declares no argument, expected name, name:type or "
				"name:type=default",
				STR(report_quote(rd->r, buf_str(&found))));
			report_hint(
				rd->r, "a name is a letter or _, then letters, digits, _ and -");
			continue;
		}
		if (d.unknown_type) {
			report_warning(&rd->g->warnings, place_where_for(&rd->g->warnings, p),
				"unknown type in '%.*s': any text is taken", STR(json_str(item)));
			report_hint(&rd->g->warnings, DECLARATION_TYPES);
			report_slip(&rd->g->warnings);
		}
		if (d.type.kind == TYPE_WORDS)
			report_note(&rd->g->extensions, place_where_for(&rd->g->extensions, p),
				"the type `words` is an extension of roux");
		vec_push(&rd->g->arguments, (struct argument){ d, p, NULL, S("") });
		struct presets own = { .at = presets->at + before,
			.count = presets->count - before };
		if (d.fallback.p && !presets_find(&own, d.name)) {
			json_t *text = json_from_str(d.fallback);

			keep_value(rd, text);
			struct preset *made = &presets->at[presets->count++];
			preset_compile(rd->a, d.name, text, rd->d, made);
			made->place = p;
		}
	}
}

/* The list of an importer replaces that of the recipe it imports; what was declared there holds
 * where the importer says nothing else. */
static void read_args(struct reader *rd, struct node *n, const struct layer *top)
{
	struct presets *presets = arena_new(rd->a, struct presets);
	size_t count = 0;

	for (const struct layer *l = top; l; l = l->under)
		count += json_array_size(l->value);
	presets->at = arena_array(rd->a, struct preset, count);
	for (const struct layer *l = top; l; l = l->under)
		read_declarations(rd, l, presets);
	/* The nearest list comes first here, and last where a name is looked up. */
	for (size_t i = 0; i < presets->count / 2; i++) {
		struct preset other = presets->at[i];

		presets->at[i] = presets->at[presets->count - 1 - i];
		presets->at[presets->count - 1 - i] = other;
	}
	presets_index(presets, rd->a);
	n->args = presets;
}

/* The entries of `top` and what lies under it, down to but without `end`, the lowest first: of two
 * of one name the later wins. */
static void add_entries(struct reader *rd, const struct layer *top, const struct layer *end,
	const struct presets *around, struct presets *ret)
{
	const char *key;
	json_t *value;

	if (top == end)
		return;
	add_entries(rd, top->under, end, around, ret);
	json_object_foreach((json_t *)top->value, key, value)
	{
		struct preset *p = &ret->at[ret->count++];

		preset_compile(rd->a, str_of(key), value, rd->d, p);
		p->around = top->around ? around : NULL;
		p->place = top->place ? place_member(rd->a, top->place, p->name) : NULL;
	}
}

static size_t entries(const struct layer *top, const struct layer *end)
{
	size_t count = 0;

	for (; top != end; top = top->under)
		count += json_object_size(top->value);
	return count;
}

static struct presets *new_presets(struct reader *rd, size_t room)
{
	struct presets *p = arena_new(rd->a, struct presets);

	p->at = arena_array(rd->a, struct preset, room);
	return p;
}

/* What recipes around layers say, each read once. */
struct known_around {
	const struct layer *around;
	const struct presets *presets;
	struct known_around *next;
};

struct defaults_reader {
	struct reader *rd;
	const struct layer *top;
	struct known_around *known;
};

static const struct presets *read_around(struct defaults_reader *d, const struct layer *l);

static void add_layers(struct defaults_reader *d, const struct layer *l, const struct layer *end,
	struct presets *ret)
{
	if (l == end)
		return;
	add_layers(d, l->under, end, ret);
	add_entries(d->rd, l, l->under, l->around ? read_around(d, l) : NULL, ret);
}

/* What the recipe around `l` says: its own defaults and, over them, what its importers bind. */
static const struct presets *read_around(struct defaults_reader *d, const struct layer *l)
{
	struct reader *rd = d->rd;
	const struct layer *end = d->top;

	for (const struct known_around *k = d->known; k; k = k->next)
		if (k->around == l->around)
			return k->presets;
	while (end->around != l->around)
		end = end->under;
	struct presets *p = new_presets(rd, entries(l->around, NULL) + entries(d->top, end));
	add_entries(rd, l->around, NULL, NULL, p);
	add_layers(d, d->top, end, p);
	presets_index(p, rd->a);
	struct known_around *known = arena_new(rd->a, struct known_around);
	*known = (struct known_around){ l->around, p, d->known };
	d->known = known;
	return p;
}

static const struct presets *read_defaults(struct reader *rd, const struct layer *top)
{
	struct presets *presets = new_presets(rd, entries(top, NULL));

	add_layers(&(struct defaults_reader){ .rd = rd, .top = top }, top, NULL, presets);
	presets_index(presets, rd->a);
	return presets;
}

static void read_when(struct reader *rd, struct node *n, const struct members *m)
{
	const json_t *value = m->at[FIELD_WHEN];
	const struct place *place = m->place[FIELD_WHEN];

	if (json_is_boolean(value)) {
		n->runs = json_is_true(value);
		return;
	}
	struct str text = utf8_trim(json_str(value));
	if (!text.len) {
		n->runs = false;
		return;
	}
	if (str_eq(text, S("true"))) {
		report_warning(&rd->g->warnings, place_where(place),
			"`when` names a flag called 'true', which skips the node unless it is "
			"given");
		report_hint(&rd->g->warnings, "write the boolean true, without quotes");
		report_slip(&rd->g->warnings);
	}
	n->when = braces_guard(rd->a, place, json_str(value), rd->d, rd->r);
	collect_types(rd, n->when);
}

static enum failure_scope failure_of(struct str word)
{
	return str_eq(word, S("root"))     ? FAILURE_ROOT
	       : str_eq(word, S("branch")) ? FAILURE_BRANCH
					   : FAILURE_CONTINUE;
}

static void read_setting(struct reader *rd, const struct members *m, enum field_id id,
	enum setting_kind kind, struct setting *ret)
{
	if (m->at[id] && setting_read(rd->a, m->place[id], node_fields[id].name, m->at[id], kind,
				 rd->d, ret, rd->r))
		collect_types(rd, ret->text);
	double ms;
	if (m->at[id] && json_is_string(m->at[id]) &&
		number_duration(utf8_trim(json_str(m->at[id])), &ms))
		report_note(&rd->g->extensions, place_where_for(&rd->g->extensions, m->place[id]),
			"`%s` with a unit is an extension of roux", node_fields[id].name);
}

static void read_recover(struct reader *rd, struct node *n, const struct members *m)
{
	const struct importer *here = rd->importer;

	rd->importer = m->importer[FIELD_RECOVER];
	struct node *recover = read_node(rd, m->at[FIELD_RECOVER], m->place[FIELD_RECOVER], NULL);
	rd->importer = here;
	if (!recover)
		return;
	/* Fail-closed: a recovery that goes wrong is one, unless its author says otherwise. */
	struct node *body = (struct node *)node_body(recover);
	if (!body->failure_stated)
		body->failure = recover->failure = FAILURE_ROOT;
	recover->owner = n;
	n->recover = recover;
}

/* The fields that only roux has. */
static void read_surroundings(struct reader *rd, struct node *n, const struct members *m)
{
	for (enum field_id id = 0; id < FIELD_COUNT; id++)
		if (m->at[id] && node_fields[id].extension)
			report_note(&rd->g->extensions,
				place_key_where_for(&rd->g->extensions, m->place[id]),
				"`%s` is an extension of roux", node_fields[id].name);
	if (m->at[FIELD_CWD])
		n->cwd = cwd_read(rd->a, m->place[FIELD_CWD], m->at[FIELD_CWD], rd->d, rd->r);
	collect_types(rd, n->cwd);
	if (m->at[FIELD_ENV])
		(void)env_read(rd->a, m->place[FIELD_ENV], m->at[FIELD_ENV], rd->d, n, rd->r);
	for (size_t i = 0; i < n->env_count; i++)
		collect_types(rd, n->env[i].text);
	if (m->at[FIELD_QUORUM])
		(void)quorum_read(m->place[FIELD_QUORUM], m->at[FIELD_QUORUM], &n->quorum, rd->r);
	machine_read(rd->a, n, m, rd->r);
}

/* A count of branches that is in the text may be smaller than the quorum. */
static void check_quorum(struct reader *rd, const struct node *n, const struct members *m)
{
	uint64_t branches = m->at[FIELD_REPEAT] ? n->count.number : n->child_count;
	uint64_t needs = quorum_needs(&n->quorum, branches);

	if (!branches || needs <= branches)
		return;
	report_warning(&rd->g->warnings, place_where(m->place[FIELD_QUORUM]),
		"`quorum` is %" PRIu64 " of %" PRIu64 " branch%s: this node will fail", needs,
		branches, branches == 1 ? "" : "es");
	report_hint(&rd->g->warnings, "for all branches write \"quorum\": \"all\"");
	report_slip(&rd->g->warnings);
}

/* Where `quorum` and `tty` cannot stand. */
static void check_around(
	struct reader *rd, const struct node *n, const struct members *m, bool parallel)
{
	if (n->quorum.kind && n->kind != NODE_PARALLEL && !(parallel && m->at[FIELD_REPEAT])) {
		report_error(rd->r, place_key_where(m->place[FIELD_QUORUM]),
			"`quorum` stands on a node that is not parallel");
		report_hint(
			rd->r, "it says how many branches must succeed: add \"parallel\": true");
	} else if (n->quorum.kind) {
		check_quorum(rd, n, m);
	}
	if (n->tty && n->kind != NODE_COMMAND) {
		report_error(rd->r, place_key_where(m->place[FIELD_TTY]),
			"`tty` stands on a node that is not one command");
		report_hint(rd->r, "put it beside the template of the command itself");
	}
	bool copies = parallel && m->at[FIELD_REPEAT];
	for (const struct node *up = n; n->tty && up; up = up->parent ? up->parent : up->owner)
		if (node_joins(up) || copies) {
			report_error(rd->r, place_key_where(m->place[FIELD_TTY]),
				"`tty` stands inside a parallel node");
			report_hint(rd->r, "a terminal can be given to one command at a time");
			return;
		}
}

/* Everything but what the node consists of. A flag with a mistake in it is left out. */
static void read_flags(struct reader *rd, struct node *n, const struct members *m)
{
	if (m->at[FIELD_LABEL])
		label_read(rd, n, m);
	if (m->args)
		read_args(rd, n, m->args);
	if (m->defaults)
		n->defaults = read_defaults(rd, m->defaults);
	if (m->at[FIELD_WHEN])
		read_when(rd, n, m);
	read_setting(rd, m, FIELD_TIMEOUT, SETTING_MS, &n->timeout_ms);
	read_setting(rd, m, FIELD_DELAY, SETTING_MS, &n->delay_ms);
	read_setting(rd, m, FIELD_RETRY, SETTING_ATTEMPTS, &n->retry);
	if (m->at[FIELD_FAILURE]) {
		n->failure = failure_of(json_str(m->at[FIELD_FAILURE]));
		n->failure_stated = true;
	}
	read_surroundings(rd, n, m);
	if (m->at[FIELD_RECOVER])
		read_recover(rd, n, m);
	if (m->at[FIELD_REPEAT])
		count_read(rd->a, m->place[FIELD_REPEAT], m->at[FIELD_REPEAT], &n->count, rd->r);
}

/* What was different before 0.13 (docs/reference.md, "The older dialect"). */
static void apply_old_dialect(struct node *n, const struct members *m)
{
	bool leaf = n->kind == NODE_COMMAND;

	if (leaf && !m->at[FIELD_TIMEOUT])
		n->timeout_ms.value = OLD_TIMEOUT_MS;
	if (leaf && json_is_true(m->at[FIELD_CRITICAL])) {
		n->failure = FAILURE_ROOT;
		n->failure_stated = true;
	}
	if (!leaf)
		n->retry = (struct setting){ .value = 1 };
}

/* -- shapes --------------------------------------------------------------------------------------
 */

static bool read_children(
	struct reader *rd, struct node *n, const json_t *array, const struct place *place)
{
	size_t count = json_array_size(array), i;
	const struct node **children = arena_array(rd->a, const struct node *, count);
	json_t *item;

	if (!count) {
		report_error(rd->r, place_where(place),
			"the array is empty, expected at least one template");
		return report_hint(rd->r, "put a command into it, or take the node away");
	}
	json_array_foreach(array, i, item)
	{
		if (report_full(rd->r))
			break;
		const struct node *child = read_node(rd, item, place_element(rd->a, place, i), n);

		/* What could be read is kept, so that `check` can tell all there is to tell. */
		if (child)
			children[n->child_count++] = child;
	}
	n->children = children;
	return n->child_count > 0;
}

static bool read_template(struct reader *rd, struct node *n, const json_t *value,
	const struct place *place, bool parallel)
{
	if (json_is_string(value))
		return read_command(rd, n, json_str(value), place);
	if (json_is_array(value)) {
		n->kind = parallel ? NODE_PARALLEL : NODE_SEQUENCE;
		return read_children(rd, n, value, place);
	}
	/* An object inside an object: the outer flags apply around the one inner node. */
	const struct node **child = arena_new(rd->a, const struct node *);
	*child = read_node(rd, value, place, n);
	n->kind = NODE_SEQUENCE;
	n->wrapper = true;
	n->children = child;
	n->child_count = 1;
	return *child != NULL;
}

static struct node *build(struct reader *rd, const struct members *m, const struct place *place,
	const struct node *parent);

/* The node that was made from the members of an import. */
static struct node *imported(struct node *n, const struct members *m)
{
	struct node *named = n && n->kind == NODE_EACH ? (struct node *)n->children[0] : n;

	if (named)
		named->import = m->import;
	return n;
}

/* Copies: the flags belong to each copy, so the body keeps them; the group has only what decides
 * whether and how often there are copies. */
static struct node *repeated(struct reader *rd, struct node *body, bool parallel)
{
	struct node *each = new_node(rd, NODE_EACH, body->place, body->parent);
	const struct node **child = arena_new(rd->a, const struct node *);

	*child = body;
	body->parent = each;
	each->children = child;
	each->child_count = 1;
	each->each_parallel = parallel;
	each->count = body->count;
	each->when = body->when;
	each->runs = body->runs;
	each->defaults = body->defaults;
	each->args = body->args;
	/* The count alone decides about the copies; `failure` is then that of all of them. */
	each->quorum = body->quorum;
	body->quorum = (struct quorum){ 0 };
	return each;
}

/* A node from its members, wherever they came from. */
static struct node *build(struct reader *rd, const struct members *m, const struct place *place,
	const struct node *parent)
{
	const struct importer *here = rd->importer;
	enum field_id from = FIELD_TEMPLATE;

	if (m->at[FIELD_PIPE] && !json_is_array(m->at[FIELD_TEMPLATE]))
		from = FIELD_PIPE;
	bool parallel = json_is_true(m->at[FIELD_PARALLEL]) ||
			(m->at[FIELD_MODE] && str_eq(json_str(m->at[FIELD_MODE]), S("parallel")));
	rd->importer = m->importer[from];
	struct node *n = new_node(rd, NODE_SEQUENCE, place, parent);
	bool ok = m->steps ? call_read(rd, n, m)
			   : read_template(rd, n, m->at[from], m->place[from], parallel);
	rd->importer = here;
	read_flags(rd, n, m);
	if (!ok)
		return NULL;
	check_around(rd, n, m, parallel);
	call_check(rd, n, parallel && m->at[FIELD_REPEAT]);
	if (rd->d == DIALECT_0_9)
		apply_old_dialect(n, m);
	if (parallel && !m->at[FIELD_REPEAT] && n->kind != NODE_PARALLEL) {
		enum field_id said = m->at[FIELD_MODE] ? FIELD_MODE : FIELD_PARALLEL;

		report_warning(&rd->g->warnings, place_where(m->place[said]),
			"`%s` has no effect here: there is only one template",
			node_fields[said].name);
		report_hint(&rd->g->warnings, "give `template` an array, or add `repeat`");
	}
	return m->at[FIELD_REPEAT] ? repeated(rd, n, parallel) : n;
}

/* -- imports -------------------------------------------------------------------------------------
 */

/* An import node becomes the recipe it names. */
static struct node *read_import(struct reader *rd, const json_t *object, const struct place *place,
	const struct node *parent)
{
	struct members m = { 0 };

	return members_of_import(rd, object, place, &m) ? imported(build(rd, &m, place, parent), &m)
							: NULL;
}

static struct node *read_object(struct reader *rd, const json_t *object, const struct place *place,
	const struct node *parent)
{
	struct members m = { 0 };

	if (members_are_imported(rd, object))
		return read_import(rd, object, place, parent);
	members_read(rd, object, place, &m);
	if (m.at[FIELD_TEMPLATE] || m.at[FIELD_PIPE])
		return build(rd, &m, place, parent);
	if (m.misspelt) {
		report_error(rd->r, place_key_where(m.misspelt), "the object has no `template`");
		report_hint(
			rd->r, "did you mean 'template' in place of '%.*s'?", STR(m.misspelt->key));
	} else if (!m.complained) {
		report_error(rd->r, place_where(place), "the object has no `template`");
		report_hint(rd->r, "add \"template\": what to run");
	}
	return NULL;
}

static struct node *read_node(struct reader *rd, const json_t *value, const struct place *place,
	const struct node *parent)
{
	if (json_is_object(value))
		return read_object(rd, value, place, parent);
	if (json_is_string(value) || json_is_array(value)) {
		struct node *n = new_node(rd, NODE_SEQUENCE, place, parent);

		if (!read_template(rd, n, value, place, false))
			return NULL;
		if (rd->d == DIALECT_0_9)
			apply_old_dialect(n, &(struct members){ 0 });
		return n;
	}
	report_error(rd->r, place_where(place), "found %s, expected a template: %s",
		json_kind(value), node_fields[FIELD_TEMPLATE].wanted);
	report_hint(rd->r, "a command is a string: \"echo hello\"");
	return NULL;
}

/* Text that begins like JSON, is none, and can run only if there is a program called `{a:`. */
static void warn_of_json(struct reader *rd, struct str json_mistake)
{
	const struct node *n = rd->g->root;
	struct str program = n->kind == NODE_COMMAND ? n->words[0].text->raw : S("");

	if (program.len < 2 || !strchr("{[", program.p[0]) ||
		str_find(program, '}', 0) < program.len)
		return;
	report_warning(&rd->g->warnings, braces_where(n->words[0].text, 0, program.len),
		"this is read as the program to run; %.*s", STR(json_mistake));
}

static bool read_output(struct reader *rd, const json_t *output, const struct place *place)
{
	if (!json_is_string(output) || str_eq(json_str(output), S("stdout")))
		return true;
	rd->g->output_raw = json_str(output);
	rd->g->output = braces_text(rd->a, place, json_str(output), rd->d, rd->r);
	collect_types(rd, rd->g->output);
	return rd->g->output != NULL;
}

/* -- documents -----------------------------------------------------------------------------------
 */

/* A graph with mistakes in it is not handed out; what else there was to say about it is. */
static struct graph *finish(struct graph *g, bool ok, struct report *r)
{
	if (g->root) {
		ok &= typed_check(g, r);
		risk_warn(g, ok);
	}
	if (ok)
		return g;
	report_move(r, &g->warnings);
	report_sort(r);
	graph_unref(g);
	return NULL;
}

struct graph *graph_read(struct str name, struct str text, enum dialect dialect, struct report *r)
{
	struct graph *g = mem_new(struct graph);
	struct reader rd = { .g = g, .r = r, .a = &g->arena, .d = dialect };
	AUTO_BUF json_mistake = BUF_INIT;
	size_t before = r->errors;

	g->references = 1;
	g->dialect = dialect;
	g->made = json_array();
	g->doc.source.name = arena_str(&g->arena, name);
	g->doc.source.text = arena_str(&g->arena, text);
	if (!document_read(&g->doc, r, &json_mistake))
		return finish(g, false, r);

	struct place *place = arena_new(&g->arena, struct place);
	place->doc = &g->doc;
	g->root = read_node(&rd, g->doc.root, place, NULL);
	const json_t *output =
		json_is_object(g->doc.root) ? json_object_get(g->doc.root, "output") : NULL;
	bool ok = g->root && read_output(&rd, output, place_member(&g->arena, place, S("output")));
	if (json_mistake.len && !ok)
		report_hint(r, "%s", buf_cstr(&json_mistake));
	else if (json_mistake.len)
		warn_of_json(&rd, buf_str(&json_mistake));
	return finish(g, ok && r->errors == before, r);
}

struct graph *graph_read_recipe(
	const struct imported *recipe, void *keep, void (*keep_free)(void *keep), struct report *r)
{
	struct graph *g = mem_new(struct graph);
	struct reader rd = { .g = g, .r = r, .a = &g->arena, .importer = recipe->importer };
	struct members m = { 0 };
	size_t before = r->errors;

	g->references = 1;
	g->keep = keep;
	g->keep_free = keep_free;
	g->made = json_array();
	g->values = json_incref(json_object_get(recipe->recipe, "values"));
	members_of_recipe(&rd, recipe, &m);
	g->args = m.at[FIELD_ARGS];
	g->args_imported = g->args && m.importer[FIELD_ARGS] != recipe->importer;
	bool runs = m.at[FIELD_TEMPLATE] || m.steps;
	g->root = runs ? imported(build(&rd, &m, recipe->place, NULL), &m) : NULL;
	bool ok = g->root && read_output(&rd, m.at[FIELD_OUTPUT], m.place[FIELD_OUTPUT]);
	return finish(g, ok && r->errors == before, r);
}
