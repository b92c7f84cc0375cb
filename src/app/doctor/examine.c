#include <string.h>
#include <sys/stat.h>

#include "app/catalog/check-steps.h"
#include "app/catalog/entries.h"
#include "app/catalog/secrets.h"
#include "app/catalog/trust.h"
#include "app/context/context.h"
#include "app/doctor.h"
#include "app/doctor/findings.h"
#include "data/json.h"

/* What needs attention in the recipes and their directories, and among the runs. */

/* Recipes that a broken one breaks: more are counted. */
enum { BROKEN_NAMES = 10 };

static const char *severity(enum finding_kind kind)
{
	return kind <= FINDING_BLOCKING_DISABLED ? "error"
	       : kind <= FINDING_RISK            ? "warning"
						 : "info";
}

void checked(struct examination *x, struct str what, enum action next)
{
	vec_push(&x->checked, (struct checked){ what, { { next, S("") } } });
}

void finding_advise(
	struct examination *x, struct finding *f, const struct issue *i, struct str otherwise)
{
	f->advice = i->hint.len || i->actions[0].what ? arena_str(&x->arena, i->hint) : otherwise;
	for (size_t n = 0; n < ISSUE_ACTIONS; n++)
		f->actions[n] = (struct issue_action){ i->actions[n].what,
			arena_str(&x->arena, i->actions[n].about) };
}

/* The finding, to add to; NULL: it is known. */
static struct finding *add_finding(struct examination *x, enum finding_kind kind,
	const struct opened *o, struct str message, struct str advice)
{
	/* A risk that the recipe takes twice is reported once. */
	for (size_t i = x->findings.len; i > 0; i--) {
		const struct finding *f = &x->findings.at[i - 1];

		if (!str_eq(f->path, o->active->path))
			break;
		if (f->kind == kind && str_eq(f->message, message))
			return NULL;
	}
	vec_push(&x->findings, (struct finding){ .kind = kind,
				       .id = arena_str(&x->arena, o->entry->id),
				       .path = arena_str(&x->arena, o->active->path),
				       .message = arena_str(&x->arena, message),
				       .advice = advice });
	return &x->findings.at[x->findings.len - 1];
}

/* Agents and other recipes that it needs. */
static void examine_steps(struct examination *x, const struct opened *o)
{
	AUTO_REPORT found = REPORT_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct str cwd = app_cwd(x->app);

	(void)app_settings(x->app, &ignored);
	AUTO_JSON *collections = app_collections(x->app);
	steps_check(o->recipe->steps,
		&(struct steps_check){ .collections = collections,
			.cwd = cwd.len ? cwd : S("."),
			.dirs = app_dirs(x->app) },
		&found);
	vec_each (i, &found.issues) {
		struct finding *f = add_finding(x, FINDING_RISK, o, i->message, S(""));

		if (f)
			finding_advise(x, f, i, S("make sure that it is meant"));
	}
}

/* The finding about a mistake: it is one, however many recipes import the file. */
static struct finding *fault_finding(
	struct examination *x, const struct issue *fault, struct str path)
{
	struct arena *a = &x->arena;
	struct str file = arena_str(a, fault->file.len ? fault->file : path);
	struct str at = fault->file.len ? arena_printf(a, "%.*s:%zu:%zu", STR(file), fault->line,
						  fault->column)
					: file;

	vec_each (f, &x->findings)
		if (str_eq(f->path, at) && str_eq(f->message, fault->message))
			return f;
	vec_push(&x->findings, (struct finding){ .kind = FINDING_INVALID,
				       .id = recipe_id_of(file),
				       .path = at,
				       .message = arena_str(a, fault->message),
				       .advice = S("fix it"),
				       .actions = { { ACTION_CHECK, file } } });
	return &x->findings.at[x->findings.len - 1];
}

static void examine_invalid(struct examination *x, const struct opened *o, struct str blocked)
{
	struct finding *f = fault_finding(x, entry_fault(o), o->active->path);

	if (entry_fault_elsewhere(o)) {
		if (f->broken_count++ < BROKEN_NAMES)
			f->broken = arena_printf(&x->arena, "%.*s%s%.*s", STR(f->broken),
				f->broken.len ? ", " : "", STR(o->entry->id));
	} else if (blocked.len) {
		f->kind = FINDING_BLOCKING_INVALID;
		f->advice =
			arena_printf(&x->arena, "fix it, or remove it to use %.*s", STR(blocked));
	}
}

static void examine(void *data, const struct opened *o)
{
	struct examination *x = data;

	x->recipes++;
	bool blocks = o->entry->candidates.len > 1;
	struct str blocked = blocks ? o->entry->candidates.at[1].path : S("");

	if (o->state == RECIPE_INVALID) {
		examine_invalid(x, o, blocked);
		return;
	}
	if (o->state == RECIPE_DISABLED)
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
	enum trust trust = trust_of(x->trusted, o->recipe);
	if (trust == TRUST_NONE || trust == TRUST_CHANGED) {
		struct finding *f = add_finding(x, FINDING_UNTRUSTED, o,
			trust == TRUST_CHANGED ? S("it has changed since it was trusted")
					       : S("it is the project's and not trusted"),
			S("agents and chats cannot use it"));

		if (f)
			f->actions[0] = (struct issue_action){ ACTION_TRUST, f->id };
	}
	struct mask *mask = recipe_mask(o->recipe, o->recipe->graph, NULL);
	vec_each (i, &o->recipe->graph->warnings.issues)
		add_finding(x, FINDING_RISK, o, mask_text(mask, i->message, &x->arena),
			S("make sure that it is meant"));
	mask_free(mask);
	if (o->recipe->steps)
		examine_steps(x, o);
}

/* Who can write to a directory can replace the recipes in it. */
static void examine_dir(struct examination *x, struct str dir)
{
	struct stat st;

	if (stat(dir.p, &st) < 0 || !S_ISDIR(st.st_mode) || !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return;
	vec_push(&x->findings,
		(struct finding){ .kind = FINDING_WRITABLE,
			.id = S(""),
			.path = dir,
			.message = arena_printf(&x->arena, "others can write to %.*s", STR(dir)),
			.advice = arena_printf(&x->arena, "chmod go-w %.*s", STR(dir)) });
}

static void examine_dirs(struct examination *x, const struct recipe_index *index)
{
	const struct recipe_dirs *dirs = &index->dirs;

	vec_each (e, &index->unreadable)
		vec_push(&x->findings,
			(struct finding){ .kind = FINDING_UNREADABLE,
				.id = S(""),
				.path = arena_str(&x->arena, e->dir),
				.message = arena_printf(&x->arena,
					"cannot read the recipes in %.*s: %s", STR(e->dir),
					strerror(e->error)),
				.advice = S("make it a directory that you can read") });
	examine_dir(x, dirs->agent);
	examine_dir(x, dirs->user);
	if (!str_eq(dirs->packaged, dirs->user))
		examine_dir(x, dirs->packaged);
	if (dirs->project.unused.len)
		vec_push(&x->findings, (struct finding){ .kind = FINDING_WRITABLE,
					       .id = S(""),
					       .path = S(""),
					       .message = dirs->project.unused,
					       .advice = S("make it writable only by you") });
}

static json_t *text_or_null(struct str text)
{
	return text.len ? json_from_str(text) : json_null();
}

static json_t *finding_json(const struct finding *f, const action_words words)
{
	AUTO_BUF action = BUF_INIT;
	AUTO_BUF message = BUF_INIT;

	buf_add(&message, f->message);
	if (f->broken_count)
		buf_printf(&message, "; also breaks %.*s", STR(f->broken));
	if (f->broken_count > BROKEN_NAMES)
		buf_printf(&message, " and %zu more", f->broken_count - BROKEN_NAMES);
	buf_add(&action, f->advice);
	actions_word(&action, f->actions, words);
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "severity", severity(f->kind), "id",
		text_or_null(f->id), "path", text_or_null(f->path), "message",
		json_from_str(buf_str(&message)), "action", json_from_str(buf_str(&action)));
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

static json_t *document(const struct examination *x, const action_words words)
{
	json_t *findings = json_array(), *lines = json_array();
	bool ok = true;

	vec_each (f, &x->findings) {
		ok &= f->kind > FINDING_RISK;
		json_array_append_new(findings, finding_json(f, words));
	}
	vec_each (c, &x->checked) {
		AUTO_BUF line = BUF_INIT;

		buf_add(&line, c->what);
		actions_word(&line, c->actions, words);
		json_array_append_new(lines, json_from_str(buf_str(&line)));
	}
	return json_pack("{s:b, s:o, s:o}", "ok", ok, "findings", findings, "checked", lines);
}

json_t *doctor_document(struct app *a, const action_words words)
{
	struct recipe_index *index = recipe_index_new(app_dirs(a));
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *trusted = trust_read(a, &ignored);
	struct examination x = { .app = a, .trusted = trusted };

	entries_each(index, examine, &x);
	examine_dirs(&x, index);
	checked(&x, arena_printf(&x.arena, "%zu recipe%s", x.recipes, x.recipes == 1 ? "" : "s"),
		ACTION_NONE);
	doctor_config(&x);
	doctor_runs(&x);
	checked(&x, S("the ledger and the runs"), ACTION_NONE);
	sort_findings(&x);
	json_t *all = document(&x, words);
	vec_done(&x.findings);
	vec_done(&x.checked);
	arena_done(&x.arena);
	recipe_index_free(index);
	return all;
}
