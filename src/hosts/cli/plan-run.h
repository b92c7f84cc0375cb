#pragma once

#include "hosts/cli/cli.h"

struct template_opts;

/* `roux plan run:RUN`: what a rerun or a resume of a run would do. */
struct plan_run_opts {
	const char *from;
	bool failed, all, resume;
};
extern const struct opt plan_run_opts[4];

/* Whether an option of these was given. */
bool plan_run_asked(const struct plan_run_opts *o);
/* Appends the plan as text or as a document. `words` are RUN and values; `lists` are those of
 * --values. False with issues. */
bool plan_run(struct cli *cli, const struct plan_run_opts *o, const struct common_opts *common,
	const struct template_opts *given, size_t count, const char *const *words, struct buf *b);
