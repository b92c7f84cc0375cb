#pragma once

/* An ended run of a template, made by hand: its directory is below the root. */
#include "app/launch/redo.h"
#include "runs/dir/leaf-line.h"
#include "runs/root.h"

struct ended {
	struct launch launch;
	struct called called;
	struct redo redo;
	struct leaves *leaves;
	struct buf lines;
};

static struct ended run;

/* Templates are written with ' for ". */
static inline void ended_template(const char *text)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF json = BUF_INIT;

	for (const char *c = text; *c; c++)
		buf_addc(&json, *c == '\'' ? '"' : *c);
	run = (struct ended){ 0 };
	run.launch.subject.graph = graph_read(S("t"), buf_str(&json), DIALECT_NOW, &r);
	assert_non_null(run.launch.subject.graph);
	called_init(&run.called, &run.launch, str_of(at("old")));
	redo_init(&run.redo, &run.called);
}

/* The execution `number` of a command, which has printed `out`. */
static inline void ended_command(
	const char *path, uint64_t number, struct leaf_record end, const char *out)
{
	end.number = number;
	end.out_bytes = strlen(out);
	leaf_exit_line(&run.lines, str_of(path), &end, NULL, 1);
	put("old/" LEAVES_FILE, buf_cstr(&run.lines));
	if (*out)
		put(arena_printf(&arena, number > 1 ? "old/out/%s.a%d.out" : "old/out/%s.out", path,
			    (int)number)
				.p,
			out);
}

static inline const struct leaves *ended_leaves(void)
{
	AUTO_REPORT r = REPORT_INIT;

	leaves_free(run.leaves);
	run.leaves = leaves_read(at("old/" LEAVES_FILE), &r);
	assert_non_null(run.leaves);
	return run.leaves;
}

/* What failed is to run again; `result` is the file, or NULL. */
static inline void ended_failed(const char *result)
{
	AUTO_JSON *document = result ? json_loads(result, 0, NULL) : NULL;
	const struct run_look look = { .dir = str_of(at("old")), .result = document };

	redo_add_failed(&run.redo, &look, ended_leaves());
}

static inline int ended_done(void **state)
{
	redo_done(&run.redo);
	called_done(&run.called);
	graph_unref(run.launch.subject.graph);
	arena_done(&run.launch.arena);
	leaves_free(run.leaves);
	buf_done(&run.lines);
	return end(state);
}

#define E(name) cmocka_unit_test_setup_teardown(name, begin, ended_done)
