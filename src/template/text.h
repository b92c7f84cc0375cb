#pragma once

#include "base/report.h"
#include "data/doc.h"
#include "template/scope.h"

/* A text of a node, compiled when it was read and resolved when the node starts. Each dialect of
 * placeholders has its own operations; the engine knows only these. */
struct text {
	const struct text_ops *ops;
	struct str raw;            /* as the author wrote it */
	const struct place *place; /* where it stands */
};

struct text_ops {
	/* Appends the resolved text. False with one issue added. */
	bool (*resolve)(
		const struct text *t, const struct scope *s, struct buf *ret, struct report *r);
	/* Decides a guard. */
	bool (*decide)(const struct text *t, const struct scope *s, bool *ret, struct report *r);
	/* The value itself when the text is nothing but one placeholder, else its resolved text: a
	 * new reference. NULL with one issue added. Only dialects with typed values have it. */
	json_t *(*value)(const struct text *t, const struct scope *s, struct report *r);
	/* Calls `see` with every placeholder. */
	void (*walk)(const struct text *t, void (*see)(void *data, const struct placeholder *p),
		void *data);
};

static inline bool text_resolve(
	const struct text *t, const struct scope *s, struct buf *ret, struct report *r)
{
	return t->ops->resolve(t, s, ret, r);
}

static inline bool text_decide(
	const struct text *t, const struct scope *s, bool *ret, struct report *r)
{
	return t->ops->decide(t, s, ret, r);
}
