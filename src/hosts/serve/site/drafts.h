#pragma once

#include "hosts/serve/site/site.h"

/* Forms that were checked and wait for "Start": values and secrets stay here and do not travel back
 * to the browser. Ten minutes, at most 32 of a session. */
struct draft {
	char id[33];
	struct buf session, recipe, as;
	json_t *values, *secrets;
	uint64_t until_ms;
};

/* Takes the values. */
struct draft *drafts_add(struct drafts *d, struct str session, struct str recipe, json_t *values,
	json_t *secrets, struct str as);
/* NULL: there is none, or it is too old, or another session's. */
struct draft *drafts_find(struct drafts *d, struct str session, struct str id);
