#pragma once

#include "base/buf.h"

struct bridge;

/* What was said in the chat, for an agent that remembers nothing itself: with agent.history.mode
 * `transcript` the last turns are put before each prompt. It is kept in the ledger, as many turns
 * and bytes as agent.history says. */

bool transcript_on(const struct bridge *b);
/* Puts it before the prompt; nothing when it is empty or not wanted. */
void transcript_lead(struct bridge *b, struct buf *prompt);
/* One more turn. False: the ledger could not be written. */
bool transcript_add(struct bridge *b, struct str prompt, struct str answer);
/* /compact: leaves one line of it. Returns how many turns that line stands for; 0: there was
 * nothing to shorten. */
size_t transcript_shorten(struct bridge *b);
/* Another person is paired. */
void transcript_forget(struct bridge *b);
