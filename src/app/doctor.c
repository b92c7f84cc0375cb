#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/catalog/check-steps.h"
#include "app/catalog/entries.h"
#include "app/catalog/list.h"
#include "app/doctor.h"
#include "app/settings.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "data/json-out.h"
#include "graph/certain.h"

/* What needs attention in the recipes and their directories, and among the runs. */

static const char *severity(enum finding_kind kind)
{
	return kind <= FINDING_BLOCKING_DISABLED ? "error"
	       : kind <= FINDING_RISK            ? "warning"
						 : "info";
}

static void add_finding(struct examination *x, enum finding_kind kind, const struct opened *o,
	struct str message, struct str action)
{
	/* A risk that the recipe takes twice is told once. */
	for (size_t i = x->findings.len; i > 0; i--) {
		const struct finding *f = &x->findings.at[i - 1];

		if (!str_eq(f->path, o->active->path))
			break;
		if (f->kind == kind && str_eq(f->message, message))
			return;
	}
	vec_push(&x->findings, (struct finding){ kind, arena_str(&x->arena, o->entry->id),
				       arena_str(&x->arena, o->active->path),
				       arena_str(&x->arena, message), action });
}

/* Agents and other recipes that it needs. */
static void examine_steps(struct examination *x, const struct opened *o)
{
	AUTO_REPORT found = REPORT_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *collections = NULL;
	struct settings settings;
	char cwd[4096];

	(void)settings_read(&settings, &ignored, &ignored);
	collections = settings_collections(&settings);
	settings_done(&settings);
	steps_check(o->recipe->steps,
		&(struct steps_check){ .collections = collections,
			.cwd = str_of(getcwd(cwd, sizeof(cwd)) ? cwd : ".") },
		&found);
	vec_each (i, &found.issues)
		add_finding(x, FINDING_RISK, o, i->message,
			i->hint.len ? arena_str(&x->arena, i->hint)
				    : S("make sure that it is meant"));
}

static void examine(void *data, const struct opened *o)
{
	struct examination *x = data;

	x->recipes++;
	bool blocks = o->entry->candidates.len > 1;
	struct str blocked = blocks ? o->entry->candidates.at[1].path : S("");

	if (o->state == STATE_INVALID) {
		add_finding(x, blocks ? FINDING_BLOCKING_INVALID : FINDING_INVALID, o,
			entries_first_error(&o->issues),
			blocks ? arena_printf(&x->arena,
					 "mend it with `roux check %.*s`, or remove it to "
					 "use %.*s",
					 STR(o->active->path), STR(blocked))
			       : arena_printf(&x->arena, "run `roux check %.*s` and mend it",
					 STR(o->active->path)));
		return;
	}
	if (o->state == STATE_DISABLED)
		add_finding(x, blocks ? FINDING_BLOCKING_DISABLED : FINDING_DISABLED, o,
			S("it is disabled"),
			blocks ? arena_printf(&x->arena,
					 "remove \"disabled\" from it, or the file, to use %.*s",
					 STR(blocked))
			       : S("remove \"disabled\" from it when it is needed"));
	else if (blocks)
		add_finding(x, FINDING_SHADOWED, o,
			arena_printf(&x->arena, "it shadows %.*s", STR(blocked)),
			S("nothing, if that is meant"));
	/* The packaged ones have been looked at by those who packaged them. */
	if (o->active->layer == LAYER_PACKAGED)
		return;
	vec_each (i, &o->recipe->graph->warnings.issues)
		add_finding(x, FINDING_RISK, o, i->message, S("make sure that it is meant"));
	if (o->recipe->steps)
		examine_steps(x, o);
}

/* Who can write to a directory can replace the recipes in it. */
static void examine_dir(struct examination *x, struct str dir)
{
	struct stat st;

	if (stat(dir.p, &st) < 0 || !S_ISDIR(st.st_mode) || !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return;
	vec_push(
		&x->findings, (struct finding){ FINDING_WRITABLE, S(""), dir,
				      arena_printf(&x->arena, "others can write to %.*s", STR(dir)),
				      arena_printf(&x->arena, "chmod go-w %.*s", STR(dir)) });
}

static void examine_dirs(struct examination *x, const struct recipe_index *index)
{
	const struct recipe_dirs *dirs = &index->dirs;

	vec_each (e, &index->unreadable)
		vec_push(&x->findings,
			(struct finding){ FINDING_UNREADABLE, S(""), arena_str(&x->arena, e->dir),
				arena_printf(&x->arena, "cannot read the recipes in %.*s: %s",
					STR(e->dir), strerror(e->error)),
				S("make it a directory that you can read") });
	examine_dir(x, dirs->agent);
	examine_dir(x, dirs->user);
	if (!str_eq(dirs->packaged, dirs->user))
		examine_dir(x, dirs->packaged);
}

static void finding_json(const struct finding *f, struct json_out *o)
{
	json_out_object(o, NULL);
	json_out_str(o, "severity", str_of(severity(f->kind)));
	json_out_str_or_null(o, "id", f->id);
	json_out_str_or_null(o, "path", f->path);
	json_out_str(o, "message", f->message);
	json_out_str(o, "action", f->action);
	json_out_object_end(o);
}

/* The worst first; those of one kind stay in order. */
static void sort_findings(struct examination *x)
{
	for (size_t i = 1; i < x->findings.len; i++) {
		struct finding f = x->findings.at[i];
		size_t at = i;

		for (; at > 0 && x->findings.at[at - 1].kind > f.kind; at--)
			x->findings.at[at] = x->findings.at[at - 1];
		x->findings.at[at] = f;
	}
}

static void doctor_json(const struct examination *x, size_t count, struct buf *b)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_bool(&o, "ok", count == 0);
	json_out_array(&o, "findings");
	vec_each (f, &x->findings)
		finding_json(f, &o);
	json_out_array_end(&o);
	json_out_array(&o, "checked");
	vec_each (what, &x->checked)
		json_out_str(&o, NULL, *what);
	json_out_array_end(&o);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

static void doctor_text(const struct examination *x, size_t count, struct buf *b)
{
	if (count) {
		buf_adds(b, "Next: ");
		text_plain(b, x->findings.at[0].action);
		buf_addc(b, '\n');
	} else {
		buf_adds(b, "Nothing to do.\n");
	}
	vec_each (f, &x->findings) {
		AUTO_BUF text = BUF_INIT;

		buf_adds(b, f == x->findings.at ? "\n" : "");
		buf_printf(&text, "%s: %.*s%s%.*s", severity(f->kind), STR(f->id),
			f->id.len ? ": " : "", STR(f->message));
		text_plain(b, buf_str(&text));
		if (f->id.len) {
			buf_adds(b, "\n    ");
			text_plain(b, f->path);
		}
		buf_adds(b, "\n    to do: ");
		text_plain(b, f->action);
		buf_addc(b, '\n');
	}
	buf_adds(b, "\nChecked:\n");
	vec_each (what, &x->checked) {
		buf_adds(b, "  ");
		text_plain(b, *what);
		buf_addc(b, '\n');
	}
}

size_t recipes_doctor(const struct recipe_dirs *dirs, bool json, struct buf *b)
{
	struct recipe_index *index = recipe_index_new(dirs);
	struct examination x = { 0 };
	size_t count = 0;

	entries_each(index, examine, &x);
	examine_dirs(&x, index);
	vec_push(&x.checked,
		arena_printf(&x.arena, "%zu recipe%s", x.recipes, x.recipes == 1 ? "" : "s"));
	doctor_config(&x);
	doctor_runs(&x);
	vec_push(&x.checked, S("the ledger and the runs"));
	sort_findings(&x);
	vec_each (f, &x.findings)
		count += f->kind <= FINDING_RISK;
	if (json)
		doctor_json(&x, count, b);
	else
		doctor_text(&x, count, b);
	vec_done(&x.findings);
	vec_done(&x.checked);
	arena_done(&x.arena);
	recipe_index_free(index);
	return count;
}

struct every_check {
	const struct steps_check *steps;
	struct report *r;
};

static void check_one(void *data, const struct opened *o)
{
	const struct every_check *c = data;

	if (!o->recipe) {
		report_move(c->r, (struct report *)&o->issues);
		return;
	}
	/* Whoever packaged a recipe has weighed what it warns of, and that nobody here has an agent
	 * is no fault of it. Named, it is looked at like any other. */
	if (o->active->layer == LAYER_PACKAGED)
		return;
	report_move(c->r, &o->recipe->graph->warnings);
	certain_check(o->recipe->graph, c->r);
	if (o->recipe->steps)
		steps_check(o->recipe->steps, c->steps, c->r);
}

void recipes_check(
	const struct recipe_dirs *dirs, const struct steps_check *steps, struct report *r)
{
	struct recipe_index *index = recipe_index_new(dirs);
	struct every_check c = { steps, r };

	entries_each(index, check_one, &c);
	recipe_index_report(index, r);
	recipe_index_free(index);
}
