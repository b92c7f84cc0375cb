#pragma once

/* The signs of a picture and their colours, once for SVG, DOT, Mermaid and the legend. What became
 * of a node has its colours in state.h. */
enum item_kind {
	ITEM_START,
	ITEM_END,
	ITEM_BOX,       /* a command */
	ITEM_MORE,      /* stands for what was left out */
	ITEM_FORK,      /* the bar that branches leave from */
	ITEM_JOIN,      /* the bar where they meet */
	ITEM_CONDITION, /* of a step: a diamond before it */
	ITEM_GATE,      /* a diamond behind its stage */
	ITEM_SEQUENCE,
	ITEM_PARALLEL,
};

/* What an item of a step recipe is; of a template always LOOK_PLAIN. */
enum item_look {
	LOOK_PLAIN,
	LOOK_BASH,
	LOOK_AGENT,
	LOOK_RECIPE,
	LOOK_WAIT,
	LOOK_CONDITION,
	LOOK_GATE,
	LOOK_COUNT,
};

struct look_colours {
	const char *fill, *line;
};

struct look {
	const char *name; /* also for style sheets */
	struct look_colours light, dark;
};
extern const struct look item_looks[LOOK_COUNT];

/* What the legend explains. */
enum legend {
	LEGEND_BASH,
	LEGEND_AGENT,
	LEGEND_RECIPE,
	LEGEND_WAIT,
	LEGEND_CONDITION,
	LEGEND_SKIP,
	LEGEND_EACH,
	LEGEND_PARALLEL,
	LEGEND_WHILE,
	LEGEND_GATE,
	LEGEND_COUNT,
};

/* The words for it, and how the formats draw it. */
struct legend_entry {
	const char *words;
	enum item_kind kind; /* ITEM_BOX, ITEM_CONDITION, ITEM_GATE; ITEM_MORE: an arrow */
	enum item_look look;
};
extern const struct legend_entry legend_entries[LEGEND_COUNT];
