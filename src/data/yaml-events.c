#include "data/yaml-events.h"

#include "base/lang.h"

void yaml_events_init(struct yaml_events *e, struct str text)
{
	*e = (struct yaml_events){ .text = text };
	if (str_starts(text, S("\xEF\xBB\xBF")))
		e->begin = 3;
	e->bytes = e->begin;
	/* Fails only without memory, and then so does the first event. */
	if (!yaml_parser_initialize(&e->parser))
		return;
	yaml_parser_set_encoding(&e->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&e->parser, (const unsigned char *)text.p + e->begin, text.len - e->begin);
}

void yaml_events_done(struct yaml_events *e)
{
	yaml_parser_delete(&e->parser);
}

bool yaml_events_next(struct yaml_events *e, yaml_event_t *ret)
{
	return yaml_parser_parse(&e->parser, ret);
}

static bool continues(struct str text, size_t at)
{
	return at < text.len && ((unsigned char)text.p[at] & 0xC0) == 0x80;
}

/* From the last place, in either direction: marks come in order, or nearly. The text is valid
 * UTF-8, so a character begins at every byte that continues none. */
size_t yaml_events_offset(struct yaml_events *e, const yaml_mark_t *mark)
{
	for (; e->chars > mark->index; e->chars--)
		do
			e->bytes--;
		while (continues(e->text, e->bytes));
	for (; e->chars < mark->index && e->bytes < e->text.len; e->chars++)
		do
			e->bytes++;
		while (continues(e->text, e->bytes));
	return e->bytes;
}
