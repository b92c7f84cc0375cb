#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/report.h"
#include "base/vec.h"

struct graph;

/* What the nodes of a run are called, and which of them a person means: the one place that decides
 * this, for those that show a node and those that run it again. */

struct past_name {
	struct str label, item; /* empty: none */
};

struct past_names {
	struct arena arena;
	struct map commands; /* path → struct past_name, of those that were started or reused */
	struct buf dir;
	struct graph *graph; /* as the run froze it; NULL: not read yet, or it cannot be */
	bool graph_known;
	int error;          /* -errno: there may be more commands … */
	const char *unread; /* … of which this file tells */
};

/* Reads what the run's directory tells. What has been read before is forgotten, except for the
 * graph, which does not change. */
void past_names_read(struct past_names *n, const char *dir);
void past_names_done(struct past_names *n);

/* The paths of the nodes that are called `word`, outermost first found: a label, the id of a step,
 * the name of a stage, the recipe that a node stands for, or the label of a copy with its item
 * ("lint b.sh"). A node around others that are called the same stands for all of them: of a fan-out
 * the whole. The paths live as long as `n` and `word`. */
typedef VEC(struct str) past_paths;
void past_names_find(struct past_names *n, struct str word, past_paths *ret);
/* Whether the frozen graph has a node at that path. */
bool past_names_has_path(struct past_names *n, struct str path);

/* The one path of those that were found. False with a refusal when there is none, or more than one;
 * `id` is the run's. */
bool past_names_choose(
	const past_paths *found, struct str id, struct str word, struct str *ret, struct report *r);
