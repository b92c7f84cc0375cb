#include "render/picture/looks.h"

#define PLAIN_LIGHT                  \
	{                            \
		"#ffffff", "#8592a6" \
	}
#define PLAIN_DARK                   \
	{                            \
		"#222933", "#8793a7" \
	}

const struct look item_looks[LOOK_COUNT] = {
	[LOOK_PLAIN] = { "plain", PLAIN_LIGHT, PLAIN_DARK },
	[LOOK_BASH] = { "bash", { "#e3eefc", "#3467b5" }, { "#1a2b45", "#7fabf0" } },
	[LOOK_AGENT] = { "agent", { "#e1f4e4", "#2f7d3d" }, { "#17331d", "#74c283" } },
	[LOOK_RECIPE] = { "recipe", { "#eceef1", "#6b7585" }, { "#2b3038", "#a3adbc" } },
	[LOOK_WAIT] = { "wait", PLAIN_LIGHT, PLAIN_DARK },
	[LOOK_CONDITION] = { "condition", { "#fff6cc", "#a07c00" }, { "#3a3110", "#e0bd4a" } },
	[LOOK_GATE] = { "gate", { "#ffe4c9", "#b85c00" }, { "#43290f", "#f0a35a" } },
};

const struct legend_entry legend_entries[LEGEND_COUNT] = {
	[LEGEND_BASH] = { "bash step", ITEM_BOX, LOOK_BASH },
	[LEGEND_AGENT] = { "agent step", ITEM_BOX, LOOK_AGENT },
	[LEGEND_RECIPE] = { "another recipe", ITEM_BOX, LOOK_RECIPE },
	[LEGEND_WAIT] = { "wait", ITEM_BOX, LOOK_WAIT },
	[LEGEND_CONDITION] = { "condition", ITEM_CONDITION, LOOK_CONDITION },
	[LEGEND_SKIP] = { "the step is skipped", ITEM_MORE, LOOK_PLAIN },
	[LEGEND_EACH] = { "foreach: the next item", ITEM_MORE, LOOK_PLAIN },
	[LEGEND_PARALLEL] = { "foreach: items at once", ITEM_BOX, LOOK_PLAIN },
	[LEGEND_WHILE] = { "while: the next round", ITEM_MORE, LOOK_PLAIN },
	[LEGEND_GATE] = { "approval", ITEM_GATE, LOOK_GATE },
};
