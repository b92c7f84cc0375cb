#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "http/http.h"

/* Readers of what clients send. None of them knows a connection; each may be given any bytes. */

enum { HTTP_FIELDS_MAX = 256, HTTP_SEGMENTS_MAX = 32 };

typedef VEC(struct http_field) http_field_vec;

/* One segment of a path, or a name or value of a query: escapes are decoded once. False: a bad
 * escape, NUL, a control, bytes that are not UTF-8; of a segment also a slash, "." and "..". */
enum decode_place { DECODE_SEGMENT, DECODE_QUERY, DECODE_FORM };
bool decode_text(struct arena *a, struct str text, enum decode_place place, struct str *ret);

/* The segments of a path that begins with a slash; "/" has one that is empty. */
bool decode_path(
	struct arena *a, struct str path, struct str ret[HTTP_SEGMENTS_MAX], size_t *count);

/* name=value&…: of a query, or of a form, in which `+` is a space and line ends are allowed. NULL,
 * or what is wrong with it. */
const char *decode_fields(
	struct arena *a, struct str text, enum decode_place place, http_field_vec *ret);

/* The value of a cookie. False: there is none, or there are two. */
bool decode_cookie(struct str header, struct str name, struct str *ret);

/* `Range` of something with `size` bytes. */
enum range_kind { RANGE_NONE, RANGE_PART, RANGE_BEYOND };
enum range_kind decode_range(struct str header, uint64_t size, uint64_t *from, uint64_t *to);

/* Whether a list of entity tags (If-None-Match) has this one, "W/" before it or not. */
bool decode_etags(struct str header, struct str etag);

/* Whether a header's list, parameters apart, has this word: Accept, Connection. */
bool decode_lists(struct str header, struct str word);
/* The part before the parameters of a content type, trimmed. */
struct str decode_media_type(struct str header);

/* What a name of a header or method may be made of. */
bool decode_is_token(struct str s);
/* Neither controls nor DEL; tabs may be. */
bool decode_is_visible(struct str s);
