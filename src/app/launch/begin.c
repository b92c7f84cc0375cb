/* What a run writes about itself when it begins. */
#include <stdlib.h>
#include <unistd.h>

#include "app/launch/notice.h"
#include "app/record/freeze.h"
#include "app/record/launch.h"
#include "app/record/secrets.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/run-status.h"
#include "base/sha256.h"
#include "recipe/usage.h"
#include "runs/dir/identity.h"
#include "runs/dir/manifest.h"
#include "runs/dir/run-dir.h"

bool launch_thaw(struct launch *l, struct str dir, struct report *r)
{
	l->claim.dir = path_absolute(&l->arena, dir);
	if (!freeze_read(l, r))
		return false;
	launch_fill_row(l);
	return true;
}

static void add_text(json_t *object, const char *name, struct str value)
{
	if (value.len)
		json_object_set_new(object, name, json_from_str(value));
}

static json_t *run_json(struct launch *l, const struct identity *self)
{
	json_t *run = json_object();
	struct mask *mask = mask_of(l);
	AUTO_BUF when = BUF_INIT;
	char host[256] = "";

	clock_rfc3339(&when, l->claim.row.started);
	add_text(run, "run", l->asked.id);
	add_text(run, "generation", l->claim.generation);
	add_text(run, "started", buf_str(&when));
	add_text(run, "cwd", l->claim.row.cwd);
	json_object_set_new(run, "pid", json_integer(self->pid));
	json_object_set_new(run, "pid_start", json_integer((json_int_t)self->start));
	add_text(run, "boot_id", str_of(self->boot));
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
		json_t *said = launch_declared(l);

		json_object_set_new(run, "artifacts", shown_artifacts(l));
		if (said)
			json_object_set_new(run, "manifest", said);
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

static void communication_text(struct launch *l, struct buf *text)
{
	AUTO_JSON *file = json_object();

	json_object_set_new(
		file, "self", json_from_str(arena_printf(&l->arena, "run:%.*s", STR(l->asked.id))));
	add_text(file, "owner", l->asked.owner);
	json_object_set_new(file, "default_room",
		json_from_str(arena_printf(&l->arena, "room:%.*s", STR(l->asked.id))));
	json_write(text, file, 2);
	buf_addc(text, '\n');
}

static void run_text(struct launch *l, const struct identity *self, struct buf *text)
{
	AUTO_JSON *run = run_json(l, self);

	json_write(text, run, 2);
	buf_addc(text, '\n');
}

/* run.json comes last: with it the run has begun. */
static bool write_beginning(struct launch *l, const struct identity *self, struct report *r)
{
	AUTO_BUF communication = BUF_INIT;
	AUTO_BUF bundle = BUF_INIT;
	AUTO_BUF run = BUF_INIT;
	struct freeze_text files[3];
	size_t count = 0;

	communication_text(l, &communication);
	files[count++] =
		(struct freeze_text){ "communication.json", buf_str(&communication), true };
	if (l->subject.bundle) {
		bundle_write(l->subject.bundle, &bundle);
		files[count++] = (struct freeze_text){ "context.jsonl", buf_str(&bundle), true };
	}
	run_text(l, self, &run);
	files[count++] = (struct freeze_text){ "run.json", buf_str(&run), false };
	return freeze_files(l, files, count, r);
}

bool launch_begin(struct launch *l, struct report *r)
{
	struct identity self;

	if (!l->claim.ledger && !l->claim.unlisted) {
		l->claim.ledger = ledger_open(
			l->claim.root, (struct ledger_manner){ .durable = l->asked.durable }, r);
		if (!l->claim.ledger)
			return false;
	}
	launch_identify(l, &self);
	l->claim.row.started = clock_real_ms();
	l->claim.row.ended = 0;
	l->claim.row.counted = false;
	l->claim.row.status = status_str(ROUX_RUNNING);
	if (!l->claim.unlisted)
		launch_link_latest(l);
	if (l->asked.notify && !notice_begin(l->claim.ledger, l->asked.id, r))
		return false;
	if (!write_beginning(l, &self, r))
		return false;
	if (l->claim.unlisted)
		return true;
	/* The one before may have been killed before it had a row. */
	run_set_listed(l->claim.lock);
	return ledger_update(l->claim.ledger, &l->claim.row, false, r);
}

void launch_count(const struct launch *l)
{
	const struct recipe *recipe = l->subject.recipe;
	AUTO_REPORT ignored = REPORT_INIT;
	char fingerprint[SHA256_HEX];

	if (!l->counts || !recipe || recipe->layer == LAYER_ADHOC)
		return;
	if (l->claim.ledger) {
		usage_fingerprint(recipe->file->object, fingerprint);
		(void)ledger_count(l->claim.ledger, recipe->file->path, str_of(fingerprint),
			clock_real_ms(), &ignored);
	}
	if (l->app->settings.usage == SETTINGS_USAGE_FILE && recipe->layer == LAYER_USER &&
		recipe->file->format == RECIPE_JSON)
		(void)usage_count(recipe->file->path.p, "direct");
}
