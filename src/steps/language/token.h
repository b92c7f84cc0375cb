#pragma once

#include "steps/language/reference.h"

/* The words of a condition. */
enum token_kind {
	TOKEN_END,
	TOKEN_OPEN, /* ( */
	TOKEN_CLOSE,
	TOKEN_COMPARE, /* == != < <= > >= */
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_QUOTED, /* 'text' or "text" */
	TOKEN_WORD,   /* a bare word or a number, also one with a sign */
	TOKEN_REFERENCE,
	TOKEN_UNCLOSED, /* a quote without its end, up to the end of the condition */
	TOKEN_STRANGE,  /* what begins none of these */
};

struct token {
	enum token_kind kind;
	size_t offset, length;
	struct reference reference; /* of TOKEN_REFERENCE */
};

/* The token at or after `at`. */
struct token token_next(struct str text, size_t at);

/* The number that a text reads as: white space around it, a sign, digits with _ between them, a
 * fraction, an exponent, inf, nan; no other base. */
bool token_number(struct str text, double *ret);
