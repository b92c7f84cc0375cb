/* Whole documents: read, planned, walked and drawn. Input: the template, 0x1e, values. */
#include "app/answers.h"
#include "app/catalog/plan.h"
#include "base/utf8.h"
#include "data/json-out.h"
#include "graph/plan.h"
#include "graph/walk.h"
#include "render/picture/picture.h"

#include "fuzz.h"

enum { VISITS = 2000, COPIES = 500 };

static void shown(const struct report *r)
{
	AUTO_BUF b = BUF_INIT;
	AUTO_BUF json = BUF_INIT;
	AUTO_REPORT none = REPORT_INIT;

	report_text(r, REPORT_ALL, &b);
	HOLDS(utf8_valid(buf_str(&b)));
	issues_json(r, REPORT_ALL, &json);
	struct source text = { S("issues"), buf_str(&json) };
	AUTO_JSON *value = json_read(&text, &none);
	HOLDS(json_is_array(value));
	vec_each (i, &r->issues) {
		HOLDS(i->message.len);
		HOLDS(!i->file.len || (i->line && i->column));
		HOLDS(i->mark + i->mark_len <= i->excerpt.len);
	}
}

/* How many commands there can be at most, literal counts only; a lot means too slow to look at. */
static uint64_t copies(const struct node *n, uint64_t times)
{
	uint64_t all = times;

	if (times > COPIES)
		return times;
	if (n->kind == NODE_EACH)
		times *= n->count.number > COPIES ? COPIES + 1
			 : n->count.number        ? n->count.number
						  : 8;
	for (size_t i = 0; i < n->child_count && all <= COPIES; i++)
		all += copies(n->children[i], times);
	return all;
}

static bool visit(void *data, const struct walk_leaf *leaf)
{
	size_t *left = data;

	HOLDS(leaf->argc > 0 && leaf->argv[0][0] && !leaf->argv[leaf->argc]);
	for (size_t i = 0; i < leaf->argc; i++)
		HOLDS(leaf->argv[i]);
	HOLDS(leaf->path.len && leaf->node->kind == NODE_COMMAND);
	return --*left > 0;
}

static void draw(const struct graph *g)
{
	for (enum picture_format f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = BUF_INIT;

		picture_write(g, f, &(struct picture_options){ S("fuzz") }, &b);
		HOLDS(b.len && utf8_valid(buf_str(&b)));
		HOLDS(str_find(buf_str(&b), '\0', 0) == b.len);
	}
}

static void plan(struct graph *g, const json_t *values)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_REPORT none = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	size_t left = VISITS;
	struct plan *p = plan_new(g, values, &r);

	shown(&r);
	HOLDS(!p == (r.errors > 0));
	if (!p)
		return;
	/* A plan has been checked: walking it finds no mistake. */
	(void)plan_walk(p, visit, &left, &none);
	HOLDS(!none.errors);
	(void)planned_json(p, &(struct planned_host){ .cwd = "/" }, NULL, NULL,
		&(struct json_out){ .b = &b }, NULL);
	struct source text = { S("planned"), buf_str(&b) };
	AUTO_JSON *value = json_read(&text, &none);
	HOLDS(json_is_object(value));
	HOLDS(json_array_size(json_object_get(value, "argv")) ==
		json_array_size(json_object_get(value, "leaves")));
	plan_unref(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = fuzz_str(data, size);
	struct str text = fuzz_first(&rest);
	struct source given = { S("values"), rest };

	for (enum dialect d = DIALECT_NOW; d <= DIALECT_0_9; d++) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_REPORT ignored = REPORT_INIT;
		AUTO_JSON *values = rest.len ? json_read(&given, &ignored) : NULL;
		struct graph *g = graph_read(S("fuzz"), text, d, &r);

		shown(&r);
		HOLDS(!g == (r.errors > 0));
		if (!g)
			continue;
		shown(&g->warnings);
		draw(g);
		if (copies(g->root, 1) <= COPIES)
			plan(g, json_is_object(values) ? values : NULL);
		graph_unref(g);
	}
	return 0;
}
