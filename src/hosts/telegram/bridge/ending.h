#pragma once

#include "app/runs.h"
#include "data/mask.h"

struct bridge;

/* What a run that has ended says to the chat, as a delivery (deliver.h). */

enum ended_by {
	ENDED_BY_ITSELF,
	ENDED_BY_PERSON,
	ENDED_BY_LIMIT, /* agent.timeout */
};

/* NULL: nothing is said. A new reference. */
json_t *ending_delivery(struct bridge *b, struct run_handle *h, const json_t *turn, uint64_t item,
	enum ended_by by);
/* Of a turn whose run was refused before it began. */
json_t *ending_refused(struct bridge *b, const json_t *turn, struct str why);

/* Whether the process that started the run died before its supervisor began: the name was taken,
 * but no command was executed. It can be started again; what there is of it is deleted. */
bool ending_unbegun(struct run_handle *h);

/* The output of a run that has ended; of a turn of the agent read as agent.stream says. At most
 * `max` bytes. `ret_usage` (may be NULL) gets the last usage that the agent has told, a new
 * reference, or NULL. */
void ending_output(struct bridge *b, struct run_handle *h, bool turn, size_t max, struct buf *ret,
	json_t **ret_usage);
/* Replaces the secrets of a run in what is sent of it. `cut` is of mask_part(). */
void ending_hide(struct mask *mask, unsigned cut, struct buf *text);
/* The text of a delivery: its own, or, of one that is too large for the ledger, what its run has
 * written, which is put into `room`. */
struct str ending_text(struct bridge *b, const json_t *delivery, struct buf *room);
