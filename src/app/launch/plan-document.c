/* What would run, as a document with a digest. */
#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "app/past/find.h"
#include "app/plans.h"
#include "app/record/freeze.h"
#include "app/record/gates-file.h"
#include "base/file.h"
#include "base/line-diff.h"
#include "base/sha256.h"
#include "data/canonical.h"
#include "recipe/usage.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"

enum { LISTED_MAX = 10000, DIFFERENCES_MAX = 2000 };

struct document {
	json_t *will_run, *reused, *undecided;
	json_t *leaves; /* for the digest */
	json_t *until;
	bool truncated;
};

static struct document document_new(void)
{
	return (struct document){ .will_run = json_array(),
		.reused = json_array(),
		.undecided = json_array(),
		.leaves = json_array() };
}

static json_t *text_or_null(struct str s)
{
	return s.len ? json_from_str(s) : json_null();
}

/* One of them, from either source. */
struct listed {
	struct str path, label, note, cwd;
	const char *const *argv;
	size_t argc;
	bool gate, agent;
	bool answers; /* of a gate: its answer is what is asked for now */
};

/* False: what follows waits for a person. */
static bool add_gate(struct document *d, const struct listed *x)
{
	if (x->answers)
		return true;
	d->until = json_from_str(x->label.len ? x->label : x->path);
	return false;
}

/* A word that hangs on something that is not known yet stands as it is written. */
static bool is_open(const struct listed *x)
{
	for (size_t i = 0; x->argv && i < x->argc; i++)
		if (str_contains(str_of(x->argv[i]), S("{{")))
			return true;
	return false;
}

static bool add(struct document *d, const struct listed *x)
{
	json_t *leaf, *shown;

	if (x->gate)
		return add_gate(d, x);
	if (json_array_size(d->will_run) == LISTED_MAX) {
		d->truncated = true;
		return false;
	}
	leaf = json_object();
	json_object_set_new(leaf, "path", json_from_str(x->path));
	json_object_set_new(leaf, "cwd", text_or_null(x->cwd));
	if (x->argv) {
		json_t *argv = json_array();

		for (size_t i = 0; i < x->argc; i++)
			json_array_append_new(argv, json_from_str(str_of(x->argv[i])));
		json_object_set_new(leaf, "argv", argv);
	} else {
		json_object_set_new(leaf, "text", json_from_str(x->note));
	}
	json_array_append(d->leaves, leaf);
	shown = json_copy(leaf);
	json_object_set_new(shown, "label", text_or_null(x->label));
	json_object_set_new(shown, "agent", json_boolean(x->agent));
	json_array_append_new(d->will_run, shown);
	if (x->note.len || is_open(x))
		json_array_append_new(d->undecided,
			json_pack("{s:o, s:o}", "path", json_from_str(x->path), "text",
				x->note.len ? json_from_str(x->note)
					    : json_string("a value that is not known yet")));
	json_decref(leaf);
	return true;
}

static void make_digest(struct document *d, const char *what, struct str generation,
	struct str stage, struct str graph, json_t *ret)
{
	AUTO_BUF text = BUF_INIT;
	char sum[SHA256_HEX];
	json_t *facts = json_object();

	json_object_set_new(facts, "do", json_string(what));
	json_object_set_new(facts, "generation", text_or_null(generation));
	json_object_set_new(facts, "stage", text_or_null(stage));
	json_object_set_new(facts, "graph", text_or_null(graph));
	json_object_set_new(facts, "leaves", d->leaves);
	json_canonical(&text, facts);
	sha256_hex(buf_str(&text), sum);
	json_object_set_new(ret, "digest", json_string(sum));
	json_decref(facts);
}

/* Takes the lists. */
static json_t *finish(struct document *d, struct str run, struct str generation, const char *what,
	json_t *changed)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "run", text_or_null(run));
	json_object_set_new(doc, "generation", text_or_null(generation));
	json_object_set_new(doc, "do", json_string(what));
	json_object_set_new(doc, "until", d->until ? d->until : json_null());
	json_object_set_new(doc, "will_run", d->will_run);
	json_object_set_new(doc, "reused", d->reused);
	json_object_set_new(doc, "undecided", d->undecided);
	json_object_set_new(doc, "changed", changed);
	if (d->truncated)
		json_object_set_new(doc, "truncated", json_true());
	return doc;
}

static void drop(struct document *d)
{
	json_decref(d->will_run);
	json_decref(d->reused);
	json_decref(d->undecided);
	json_decref(d->leaves);
	json_decref(d->until);
}

/* -- a run ---------------------------------------------------------------------------------------
 */

static bool see_again(void *data, const struct planned_again *what)
{
	struct document *d = data;

	if (what->fate == PLANNED_REUSED) {
		if (!what->gate && json_array_size(d->reused) < LISTED_MAX)
			json_array_append_new(d->reused,
				json_pack("{s:o, s:o, s:o}", "path", json_from_str(what->path),
					"label", text_or_null(what->label), "why",
					json_from_str(what->why)));
		return true;
	}
	if (d->until || d->truncated)
		return true; /* what is reused is still to come */
	(void)add(d, &(struct listed){ .path = what->path,
			     .label = what->label,
			     .note = what->note,
			     .cwd = what->cwd,
			     .argv = what->argv,
			     .argc = what->argc,
			     .gate = what->gate,
			     .agent = what->agent,
			     .answers = what->asked });
	return true;
}

/* The names of values that differ from those the run has. */
static json_t *changed_values(const struct run_look *look, json_t *values)
{
	json_t *names = json_array(), *value;
	const json_t *old = json_object_get(look->start, "values");
	const char *name;

	json_object_foreach(values, name, value)
	{
		if (!json_equal(value, json_object_get(old, name)))
			json_array_append_new(names, json_string(name));
	}
	return names;
}

/* Whether the file that it was started from is another now. */
static bool recipe_changed(const struct run_look *look, const json_t *graph)
{
	const json_t *source = json_array_get(json_object_get(graph, "sources"), 0);
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!look->row.recipe_path.len || !json_is_string(json_object_get(source, "text")))
		return false;
	buf_add(&path, look->row.recipe_path);
	if (file_read_regular(buf_cstr(&path), RUN_FILE_MAX, &text) < 0)
		return true;
	return !usage_same_version(json_text_of(source, "text"), buf_str(&text));
}

/* graph.json of a start. */
static void freeze_ref(const struct recipe_ref *ref, struct buf *b)
{
	struct subject s = { .recipe = ref->recipe, .graph = ref->graph };

	if (ref->recipe)
		s.dirs = *app_dirs(ref->app);
	freeze_graph_text(&s, b);
}

struct difference {
	json_t *lines;
	bool cut;
	struct mask *before, *after; /* the secrets of each file */
};

static void add_difference(void *data, enum line_mark mark, struct str line)
{
	struct difference *d = data;
	const char name[] = { (char)mark, '\0' };

	if (str_eq(str_trim(line), S("\"usage\": {},")))
		return; /* its author has not written it */
	d->cut = json_array_size(d->lines) == DIFFERENCES_MAX;
	if (d->cut)
		return;
	struct arena a = ARENA_INIT;
	struct str shown = mask_text(d->after, mask_text(d->before, line, &a), &a);
	json_array_append_new(d->lines, json_pack("[s, o]", name, json_from_str(shown)));
	arena_done(&a);
}

static const json_t *source_at(const json_t *graph, struct str path)
{
	const json_t *all = json_object_get(graph, "sources"), *one;
	size_t i;

	json_array_foreach(all, i, one) if (str_eq(json_text_of(one, "path"), path)) return one;
	return NULL;
}

/* The files of the recipe that are others now, line by line. They are found as a start finds them:
 * what a run's directory names is not opened, because a command may have written it. */
static json_t *changed_sources(struct app *a, const struct run_look *look, const json_t *frozen)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF id = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	json_t *ret = json_array();
	const json_t *one;
	bool known;
	size_t i;

	buf_add(&id, look->row.recipe);
	if (!id.len || str_contains(buf_str(&id), S("/")))
		return ret;
	struct recipe_ref *ref = recipes_open(a, buf_cstr(&id),
		&(struct recipe_open){ .as = OPERAND_RECIPE, .values = json_null() }, &ignored);
	if (!ref)
		return ret;
	freeze_ref(ref, &text);
	/* What came from the environment of the run is in no file. */
	struct mask *hides_before = freeze_mask(look->dir, &known);
	struct mask *hides_now = recipe_mask(ref->recipe, ref->graph, NULL);
	recipe_ref_free(ref);
	AUTO_JSON *now = json_loadb(buf_cstr(&text), text.len, 0, NULL);
	json_array_foreach(json_object_get(now, "sources"), i, one)
	{
		struct str path = json_text_of(one, "path");
		const json_t *was = source_at(frozen, path);
		struct difference d = { json_array(), false, hides_before, hides_now };
		AUTO_BUF before = BUF_INIT;
		AUTO_BUF after = BUF_INIT;

		usage_forget(json_text_of(was, "text"), &before);
		usage_forget(json_text_of(one, "text"), &after);
		if (was &&
			!usage_same_version(json_text_of(was, "text"), json_text_of(one, "text")))
			line_diff(buf_str(&before), buf_str(&after), 3, add_difference, &d);
		if (json_array_size(d.lines))
			json_array_append_new(
				ret, json_pack("{s:o, s:O, s:b}", "path", json_from_str(path),
					     "lines", d.lines, "cut", d.cut));
		json_decref(d.lines);
	}
	mask_free(hides_before);
	mask_free(hides_now);
	return ret;
}

json_t *run_plan_document(struct app *a, const char *run, const struct rerun_request *q,
	bool resume, struct report *r)
{
	AUTO_LOOK look = { 0 };
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF graph = BUF_INIT;
	AUTO_BUF dir = BUF_INIT;
	struct document d = document_new();
	char sum[SHA256_HEX] = "";
	const char *what = resume ? "resume" : "again";

	if (!find_run(a, run, &look, r)) {
		drop(&d);
		return NULL;
	}
	AUTO_JSON *pending = gates_pending(look.dir, &ignored);
	if (!runs_plan_again(a, run, q, resume, see_again, &d, r)) {
		drop(&d);
		return NULL;
	}
	buf_add(&dir, look.dir);
	if (run_read(buf_cstr(&dir), "graph.json", RUN_FILE_MAX, &graph) == 0)
		sha256_hex(buf_str(&graph), sum);
	AUTO_JSON *frozen = json_loadb(buf_cstr(&graph), graph.len, 0, NULL);
	AUTO_JSON *sources = changed_sources(a, &look, frozen);
	json_t *changed = json_pack("{s:o, s:b, s:O}", "values", changed_values(&look, q->values),
		"recipe", json_array_size(sources) || recipe_changed(&look, frozen), "sources",
		sources);
	json_t *doc = finish(&d, look.id, look.generation, what, changed);
	make_digest(&d, what, look.generation, json_text_of(pending, "stage"), str_of(sum), doc);
	return doc;
}

/* -- a start -------------------------------------------------------------------------------------
 */

static bool see_command(void *data, const struct planned_command *c)
{
	struct document *d = data;

	return add(d, &(struct listed){ .path = c->path,
			      .label = c->label,
			      .note = c->note,
			      .cwd = c->cwd,
			      .argv = c->argv,
			      .argc = c->argc,
			      .gate = c->gate,
			      .agent = c->agent });
}

json_t *recipe_plan_document(
	struct recipe_ref *ref, const struct recipe_surroundings *with, struct report *r)
{
	struct document d = document_new();
	AUTO_BUF graph = BUF_INIT;
	char sum[SHA256_HEX];

	if (!recipes_plan_each(ref, with, see_command, &d, r)) {
		drop(&d);
		return NULL;
	}
	freeze_ref(ref, &graph);
	sha256_hex(buf_str(&graph), sum);
	json_t *doc = finish(&d, S(""), S(""), "start",
		json_pack("{s:[], s:b, s:[]}", "values", "recipe", 0, "sources"));
	json_object_set_new(doc, "recipe", text_or_null(recipe_ref_id(ref)));
	make_digest(&d, "start", S(""), S(""), str_of(sum), doc);
	return doc;
}
