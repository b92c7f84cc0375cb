#include "app/record/beginning.h"

#include <unistd.h>

#include "app/context/run-values.h"
#include "app/record/freeze.h"
#include "app/record/secrets.h"
#include "base/clock.h"
#include "runs/dir/identity.h"
#include "runs/dir/manifest.h"

static void add_text(json_t *object, const char *name, struct str value)
{
	if (value.len)
		json_object_set_new(object, name, json_from_str(value));
}

static void add_start(json_t *run, const struct launch *l)
{
	AUTO_BUF when = BUF_INIT;

	clock_rfc3339(&when, l->claim.row.started);
	add_text(run, "started", buf_str(&when));
}

/* Without the process that has it. */
static json_t *run_json(struct launch *l)
{
	json_t *run = json_object();
	struct mask *mask = mask_of(l);
	char host[256] = "";

	add_text(run, "run", l->asked.id);
	add_text(run, "generation", l->claim.generation);
	add_start(run, l);
	add_text(run, "cwd", l->claim.row.cwd);
	json_object_set_new(run, "argv", shown_argv(l, mask));
	json_object_set_new(run, "detached", json_boolean(l->asked.detached));
	if (l->asked.durable)
		json_object_set_new(run, "durable", json_true());
	add_text(run, "on", l->asked.on);
	if (l->asked.executor)
		json_object_set(run, "executor", l->asked.executor);
	add_text(run, "left_on", l->asked.left_on);
	if (l->asked.left_executor)
		json_object_set(run, "left_executor", l->asked.left_executor);
	add_text(run, "host", str_of(gethostname(host, sizeof(host) - 1) == 0 ? host : ""));
	if (l->claim.embedded)
		json_object_set_new(run, "embedded", json_true());
	add_text(run, "dir", l->claim.dir);
	add_text(run, "recipe", l->claim.row.recipe);
	add_text(run, "recipe_path", l->claim.row.recipe_path);
	add_text(run, "tool", l->asked.tool);
	add_text(run, "task", l->asked.task);
	add_text(run, "launch", l->asked.how);
	add_text(run, "owner", l->asked.owner);
	add_text(run, "rerun_of", l->asked.rerun_of);
	if (l->subject.artifacts && json_object_size(l->subject.artifacts)) {
		AUTO_JSON *said = launch_declared(l);

		json_object_set_new(run, "artifacts", shown_artifacts(l));
		if (said)
			json_object_set_new(run, "manifest", mask_json(mask, said));
	}
	if (l->subject.recipe) {
		json_t *mailbox = recipe_mailbox(l->subject.recipe);
		const json_t *retire =
			json_object_get(l->subject.recipe->file->object, "retire_when");
		const json_t *control = launch_control(l);

		if (mailbox)
			json_object_set_new(run, "mailbox", mailbox);
		if (json_is_string(retire) && str_eq(json_str(retire), S("children_terminal")))
			json_object_set(run, "retire_when", (json_t *)retire);
		if (control)
			json_object_set(run, "control", (json_t *)control);
	}
	if (l->subject.bundle)
		json_object_set_new(run, "context_records",
			json_integer((json_int_t)bundle_count(l->subject.bundle)));
	json_object_set_new(run, "values", shown_values(l, mask));
	mask_free(mask);
	return run;
}

/* Which process has it, and since when: what is kept was made before it began. */
static void add_process(json_t *run, const struct launch *l, const struct identity *self)
{
	add_start(run, l);
	json_object_set_new(run, "pid", json_integer(self->pid));
	json_object_set_new(run, "pid_start", json_integer((json_int_t)self->start));
	add_text(run, "boot_id", str_of(self->boot));
}

static json_t *communication_json(struct launch *l)
{
	json_t *file = json_object();

	json_object_set_new(
		file, "self", json_from_str(arena_printf(&l->arena, "run:%.*s", STR(l->asked.id))));
	add_text(file, "owner", l->asked.owner);
	json_object_set_new(file, "default_room",
		json_from_str(arena_printf(&l->arena, "room:%.*s", STR(l->asked.id))));
	return file;
}

/* File name → what it says. */
static json_t *documents(struct launch *l)
{
	json_t *files = json_object();

	if (l->claim.waits)
		json_object_set_new(files, "graph.json", freeze_graph_json(&l->subject));
	json_object_set_new(files, "communication.json", communication_json(l));
	json_object_set_new(files, "run.json", run_json(l));
	return files;
}

/* -- what can wait -------------------------------------------------------------------------------
 */

/* What is kept twice is small. */
enum { WAITS_MAX = 16 * 1024 };

static bool can_wait(struct str text, size_t *room)
{
	if (text.len > *room || run_values_in(text))
		return false;
	*room -= text.len;
	return true;
}

bool beginning_can_wait(const struct launch *l)
{
	const struct recipe *recipe = l->subject.recipe;
	size_t room = WAITS_MAX, i;
	const json_t *word;

	if (l->subject.bundle || l->asked.on.len)
		return false;
	json_array_foreach(
		l->asked.argv, i, word) if (!can_wait(json_str(word), &room)) return false;
	if (!recipe)
		return can_wait(l->subject.graph->doc.source.text, &room);
	vec_each (f, &recipe->set->files)
		if (!can_wait((*f)->doc.source.text, &room))
			return false;
	return true;
}

const json_t *beginning_kept(struct launch *l)
{
	if (!l->claim.kept)
		l->claim.kept = documents(l);
	return l->claim.kept;
}

/* -- writing -------------------------------------------------------------------------------------
 */

static struct freeze_text text_of(const json_t *files, const char *name, struct buf *text)
{
	json_write_typed(text, json_object_get(files, name), 2); /* steps tell 2.0 from 2 */
	buf_addc(text, '\n');
	return (struct freeze_text){ name, buf_str(text), true };
}

bool beginning_write(struct launch *l, struct report *r)
{
	AUTO_JSON *files = json_incref((json_t *)beginning_kept(l));
	AUTO_BUF graph = BUF_INIT;
	AUTO_BUF communication = BUF_INIT;
	AUTO_BUF bundle = BUF_INIT;
	AUTO_BUF run = BUF_INIT;
	struct freeze_text texts[4];
	struct identity self;
	size_t count = 0;

	launch_identify(l, &self);
	add_process(json_object_get(files, "run.json"), l, &self);
	if (l->claim.waits)
		texts[count++] = text_of(files, "graph.json", &graph);
	texts[count++] = text_of(files, "communication.json", &communication);
	if (l->subject.bundle) {
		bundle_write(l->subject.bundle, &bundle);
		texts[count++] = (struct freeze_text){ "context.jsonl", buf_str(&bundle), true };
	}
	texts[count] = text_of(files, "run.json", &run);
	texts[count++].first = false;
	if (!freeze_files(l, texts, count, r))
		return false;
	l->claim.waits = false;
	json_decref(l->claim.kept);
	l->claim.kept = NULL;
	return true;
}
