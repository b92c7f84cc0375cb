#include "hosts/telegram/text/jsonl.h"

static void take_line(struct jsonl_stream *s, struct str line)
{
	AUTO_JSON *value = NULL;

	line = str_trim(line);
	if (!line.len || line.p[0] != '{')
		return;
	value = json_loadb(line.p, line.len, JSON_ALLOW_NUL, NULL);
	struct str type = json_text_of(value, "type");
	if (type.len)
		buf_reset(&s->tool);
	if (str_eq(type, S("tool"))) {
		buf_add(&s->tool, json_text_of(value, "name"));
	} else if (str_eq(type, S("text"))) {
		buf_add(&s->text, json_text_of(value, "text"));
	} else if (str_eq(type, S("result"))) {
		buf_reset(&s->result);
		buf_add(&s->result, json_text_of(value, "text"));
		s->has_result = true;
	} else if (str_eq(type, S("usage"))) {
		json_decref(s->usage);
		s->usage = json_incref(value);
	}
}

void jsonl_feed(struct jsonl_stream *s, struct str bytes)
{
	while (bytes.len) {
		size_t end = str_find(bytes, '\n', 0);

		if (!s->skipping)
			buf_add(&s->line, str_sub(bytes, 0, end));
		if (s->line.len > JSONL_LINE_BYTES) {
			buf_reset(&s->line);
			s->skipping = true;
		}
		if (end == bytes.len)
			return;
		take_line(s, buf_str(&s->line));
		buf_reset(&s->line);
		s->skipping = false;
		bytes = str_from(bytes, end + 1);
	}
}

struct str jsonl_text(const struct jsonl_stream *s)
{
	return buf_str(s->has_result ? &s->result : &s->text);
}

struct str jsonl_final(struct jsonl_stream *s)
{
	take_line(s, buf_str(&s->line));
	buf_reset(&s->line);
	return jsonl_text(s);
}

void jsonl_done(struct jsonl_stream *s)
{
	buf_done(&s->line);
	buf_done(&s->text);
	buf_done(&s->result);
	buf_done(&s->tool);
	json_decref(s->usage);
	*s = (struct jsonl_stream){ 0 };
}
