#pragma once

#include "graph/step.h"

/* What only this dialect knows about its steps. */
extern const struct step_ops step_ops;

/* bash.c */
enum step_made bash_make(const struct node *n, const struct scope *s, const struct step_call *call,
	const struct step_host *host, struct step_command *ret, struct arena *a, struct report *r);
/* The directory of a step, checked. NULL with *made set; a mistake has an issue added. */
const char *step_directory(const struct node *n, const struct scope *s,
	const struct step_host *host, struct step_command *ret, struct arena *a,
	enum step_made *made, struct report *r);

/* call.c */
enum step_made call_open(const struct node *n, const struct scope *s, const struct step_call *up,
	const struct step_host *host, struct step_call *ret, struct report *r);
bool call_import(const struct node *n, const struct scope *s, const struct step_call *up,
	const struct step_host *host, json_t *session, struct step_call *ret, struct report *r);
json_t *call_returned(const struct step_call *call);
