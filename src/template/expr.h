#pragma once

#include "base/str.h"

/* Repeat arithmetic: whole numbers, the four repeat names, parentheses, + - * / %. */

enum expr_status {
	EXPR_OK,
	EXPR_SYNTAX,   /* not arithmetic at all */
	EXPR_VARIABLE, /* a variable without a whole number as its value */
	EXPR_ZERO,     /* division by zero */
	EXPR_OVERFLOW, /* beyond 64 bits */
};

/* Whether it reads as arithmetic; nothing is looked up. A bare number does not. */
bool expr_fits(struct str text);

/* `variable` answers for index, prev, next and repeat. With EXPR_VARIABLE *name is the one. */
typedef bool expr_variable_fn(void *data, struct str name, int64_t *ret);
enum expr_status expr_eval(
	struct str text, expr_variable_fn *fn, void *data, int64_t *ret, struct str *name);

/* "_(…)": the expression inside and how many underscores there are; false when it is not that. */
bool expr_padded(struct str text, struct str *inside, size_t *underscores);
