#pragma once

#include "base/report.h"
#include "data/json.h"
#include "graph/step.h"

/* gates.json of a run's directory: path of a gate, from its second attempt on with #NUMBER →
 * {"stage","prompt","since_ms","timeout","default"} and, once it has one, its {"answer","message",
 * "answered","by","digest"}, and "untold" as long as the process that has the run is to tell of it.
 * Every process that changes it holds the lock. */
#define GATES_FILE "gates.json"

/* The descriptor that holds the lock, or -1 with an issue added. */
int gates_lock(struct str dir, struct report *r);
/* The same for an answer: once no process is about to pause that would not hear it, or one has been
 * for too long. */
int gates_lock_to_answer(struct str dir, struct report *r);
/* Says, under the lock, that this process has found no answer and will pause. The descriptor stands
 * for that until gates_paused(); -1: it cannot be said. */
int gates_pausing(struct str dir);
void gates_paused(int *fd);
/* Whether a process has said so. */
bool gates_pause_now(struct str dir);
/* A new reference to the gates, each an object: what else is in the file is damage and left out.
 * NULL: there is no file, or it cannot be read (with an issue). */
json_t *gates_read(struct str dir, struct report *r);
bool gates_write(struct str dir, const json_t *gates, bool durable, struct report *r);

/* A lock that is held by the process that asks a question of this run in person: the descriptor, or
 * -errno; -EWOULDBLOCK: another has it. */
int gates_asking(struct str dir);

enum gate_answer gate_answer_of(const json_t *gate);
/* The answer that the run has not heard yet, or that ended it: {"stage","decision","by","message",
 * "answered"} and "digest" where there is one; the message without the secrets of the run;
 * a new reference; NULL: there is none, or a gate has no answer yet. */
json_t *gates_answered(struct str dir, struct report *r);
/* The gate that has no answer yet, as status documents show it: {"stage","prompt","since",
 * "timeout","default"} and "path"; a new reference; NULL: there is none. */
json_t *gates_pending(struct str dir, struct report *r);
/* Both of what was read of the file before; `gates` may be NULL. */
json_t *gates_answered_in(const json_t *gates, struct str dir);
json_t *gates_pending_in(const json_t *gates);
