#include "runs/dir/story.h"

#include "base/arena.h"
#include "data/json.h"

static const char *const kinds[] = {
	[STORY_OUT] = "out", [STORY_ERR] = "err", [STORY_END] = "end"
};

void story_write(struct buf *b, const struct story_line *line)
{
	buf_add(b, S("{\"p\":"));
	json_write_str(b, line->path);
	buf_add(b, S(",\"a\":"));
	buf_add_number(b, line->number, 1);
	buf_add(b, S(",\"s\":\""));
	buf_adds(b, kinds[line->kind]);
	buf_addc(b, '"');
	if (line->kind != STORY_END) {
		buf_add(b, S(",\"n\":"));
		buf_add_number(b, line->bytes, 1);
	}
	if (line->label.len) {
		buf_add(b, S(",\"l\":"));
		json_write_str(b, line->label);
	}
	if (line->item.len) {
		buf_add(b, S(",\"i\":"));
		json_write_str(b, line->item);
	}
	buf_add(b, S("}\n"));
}

bool story_read(struct str text, struct arena *arena, struct story_line *ret)
{
	AUTO_JSON *o = json_loadb(text.p, text.len, 0, NULL);
	struct str kind = json_text_of(o, "s");
	json_int_t number = json_number_of(o, "a"), bytes = json_number_of(o, "n");

	for (enum story_kind k = STORY_OUT; k <= STORY_END; k++) {
		if (!str_eq(kind, str_of(kinds[k])) || number < 1 || bytes < 0)
			continue;
		*ret = (struct story_line){ .kind = k,
			.path = arena_str(arena, json_text_of(o, "p")),
			.number = (uint64_t)number,
			.bytes = (uint64_t)bytes,
			.label = arena_str(arena, json_text_of(o, "l")),
			.item = arena_str(arena, json_text_of(o, "i")) };
		return ret->path.len > 0;
	}
	return false;
}
