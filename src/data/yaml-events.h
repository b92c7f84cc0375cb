#pragma once

#include <yaml.h>

#include "base/str.h"

/* libyaml's events over one text, and where they stand in it. libyaml counts characters; everything
 * else here counts bytes. */
struct yaml_events {
	yaml_parser_t parser;
	struct str text;
	size_t begin;        /* behind a byte order mark */
	size_t chars, bytes; /* the last place that was asked for */
};

void yaml_events_init(struct yaml_events *e, struct str text);
void yaml_events_done(struct yaml_events *e);

/* False at a mistake, which is in the parser; the caller deletes the event. */
bool yaml_events_next(struct yaml_events *e, yaml_event_t *ret);
/* The offset of a mark in the text: quick when it is near the last one that was asked for. */
size_t yaml_events_offset(struct yaml_events *e, const yaml_mark_t *mark);
