#pragma once

#include "base/vec.h"
#include "engine/content.h"
#include "graph/node.h"

/* The branches of one parallel node, in array order: what each came to, and the text they join to
 * (docs/reference.md, "Joins"). A few bytes for each branch; the text is written only when it is
 * read. Shared by reference: the report of the run needs it after the text is gone. */
enum branch_status { BRANCH_PENDING, BRANCH_DONE, BRANCH_FAILED, BRANCH_TIMEOUT };

struct branch {
	struct content
		*body; /* standard output, or of a failed one the beginning of standard error */
	struct join_list *nested;
	char *label; /* resolved; NULL: as its node has it, or it has none */
	uint64_t stdout_bytes;
	uint32_t ms;
	int code;
	uint8_t status;
	bool resolved; /* the label has values in it */
};

/* Reports of joins in the order of the result document. */
struct join_list {
	struct join **at;
	size_t len, cap;
};

struct join {
	unsigned references;
	bool copies;             /* of one node; else each branch is a child */
	const struct node *node; /* NULL: it is gone */
	struct str path;         /* owned */
	VEC(struct branch) branches;
};

struct join *join_new(const struct node *node, struct str path);
void join_unref(struct join *j);

/* The branch at `index`, made when new. Valid until the next call. */
struct branch *join_branch(struct join *j, size_t index);
/* The label's text: the child's own, or "branch N". */
void join_label(const struct join *j, size_t index, struct buf *b);
const char *branch_status_name(enum branch_status status);

/* The joined text, made once, when the branches are complete. When it ends, so does what the
 * branches printed; what is known about them stays. */
struct content *join_content(struct join *j);

void join_list_add(struct join_list *list, struct join *j); /* takes the reference */
/* Moves all of `from` behind what `list` has. */
void join_list_move(struct join_list *list, struct join_list *from);
/* Before the graph that its nodes are in goes: what reports need of them is kept. */
void join_list_outlive(struct join_list *list);
void join_list_done(struct join_list *list);
