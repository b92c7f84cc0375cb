#pragma once

#include <stdatomic.h>

#include "app/runs.h"
#include "base/node-view.h"

/* A recorded run with every node of it, kept up to date: it remembers how far the events were read
 * and folds in only what is new, so that asking again costs what has happened since. */
struct run_model;
struct past_node; /* one node of it: opaque */

/* The models that were asked for last, at most 16 of them. */
struct run_models;
struct run_models *run_models_new(struct app *a);
void run_models_free(struct run_models *m);

/* The run of that very id (or ID~N), as it is now. It lives until the next call of this function;
 * its nodes until then too. What cannot be read of a damaged run is reported by run_model_issues()
 * and left out. NULL with an issue: there is no such run. */
struct run_model *run_models_get(struct run_models *m, struct str id, struct report *r);

/* The events of a large run that is not among the models take long to read. A host that must not
 * wait asks first, and reads them on another thread.
 *
 * NULL: run_models_get() will be quick, or say what is wrong. */
struct model_load;
struct model_load *run_models_load(struct run_models *m, struct str id);
/* On any thread: it looks at nothing but files. Ends early when `stop` is set. */
void model_load_read(struct model_load *l, const atomic_bool *stop);
/* Takes it, and keeps it among the models unless it was stopped; `m` NULL: it is not needed. */
void model_load_end(struct model_load *l, struct run_models *m);

/* The run as it was looked at: its documents, its logs. Borrowed; do not close it. */
struct run_handle *run_model_run(const struct run_model *m);
struct str run_model_generation(const struct run_model *m);
/* The number of the last event; 0: there is none. */
uint64_t run_model_seq(const struct run_model *m);
bool run_model_live(const struct run_model *m);
/* Milliseconds since 1970 of the first event, and how long after it now is: the end of a run that
 * has one. */
uint64_t run_model_began_ms(const struct run_model *m);
uint64_t run_model_now_ms(const struct run_model *m);
/* Warnings about files that are damaged; borrowed. */
const struct report *run_model_issues(const struct run_model *m);

/* NULL: nothing is known of its nodes; there is no such node. "root" names the root too. */
const struct past_node *run_model_root(const struct run_model *m);
const struct past_node *run_model_find(const struct run_model *m, struct str path);
size_t past_node_children(const struct past_node *n);
const struct past_node *past_node_child(const struct past_node *n, size_t index);
const struct past_node *past_node_up(const struct past_node *n);
/* The number of the last event that touched it or something in it. */
uint64_t past_node_changed(const struct past_node *n);
/* Borrowed until the next run_models_get(). */
void run_model_view(struct run_model *m, const struct past_node *n, struct node_view *ret);

/* The commands that run on this machine: path → the number of its process. A new reference. Reads
 * leaves.jsonl. */
json_t *run_model_processes(struct run_model *m);
/* What each execution of a command has used, in their order: false ends it. Reads the same. */
struct node_usage {
	uint64_t user_us, system_us, memory_kib;
};
void run_model_usage(struct run_model *m, struct str path,
	void (*see)(void *data, uint64_t attempt, const struct node_usage *used), void *data);

/* Adds what tells one state of its files from another: for ETags. */
void run_model_stamp(const struct run_model *m, struct buf *b);

/* The words that its last execution was started with, masked: a new reference, an array; NULL:
 * they are not recorded. Reads that one event. */
json_t *run_model_argv(struct run_model *m, struct str path);
