#pragma once

#include "render/picture/state.h"

struct graph;
struct mask;

/* What a graph does, as a picture. Drawn from the graph as read: nothing is resolved or started. */
enum picture_format { PICTURE_SVG, PICTURE_DOT, PICTURE_MERMAID };

struct picture_options {
	struct str title; /* what the picture is of; may be empty */

	/* Of a run: what became of the node at `path`, in which `*` stands for the index of every
	 * copy. False: nothing is known of it. NULL: no run. */
	bool (*state)(const void *data, struct str path, struct picture_state *ret);
	const void *state_data;

	struct mask *mask; /* texts that it may not show; NULL: there are none */
};

/* Appends the whole picture to `ret`. Cannot fail: whatever the graph holds, the result is a valid
 * file of bounded size that says where something was left out. */
void picture_write(const struct graph *g, enum picture_format format,
	const struct picture_options *options, struct buf *ret);
