#pragma once

#include "base/report.h"
#include "data/json.h"

/*
 * The directory that the driver of a run and its workers share. Every file has one writer and is
 * made before its reader looks for it, so no side waits for a new name. Nothing in it is opened
 * through a symbolic link, and all of it is the user's alone.
 *
 *   run.json env.json   the run, and the environment of its commands
 *   workers.json        what the workers do, for those who look at the run
 *   ended               no worker lives: what a dead driver had left was ended
 *   driver/<epoch>      one for each driver, which beats in it
 *   in/<n>              inputs
 *   w/<id>/…            script job fence claim orders.<epoch> records <n>.out <n>.err log, and
 *                       heard: how much of records was handed on
 */

/* run.json. Texts are in the arena of its reader. */
struct exchange_info {
	struct str run, generation, probe, cwd;
	uint64_t umask, grace_ms, cwd_ino, uid;
	uint64_t idle_s, orphan_s;
	bool network;  /* the file system: files are opened anew for every look */
	bool durable;  /* `began` is on the disk before the command begins, `end` before it is
			* reported
			*/
	bool careful;  /* … is written before it begins */
	bool node_env; /* commands have the environment of their node */
	double scale;  /* of a test: all times are divided by that; 0: none */
};

struct exchange {
	char *path; /* absolute */
	int fd;
	bool network;
};

#define EXCHANGE_NONE ((struct exchange){ .fd = -1 })

/* Whether exchanges can be made in a directory, and others could not put something else into their
 * place. */
bool exchange_root_check(const char *dir, struct report *r);
/* Whether others could put something else into the place of a directory, or of one that it is in.
 */
bool exchange_parents_check(const char *dir, struct report *r);
/* Whether nothing more can be written to it. */
bool exchange_is_full(const struct exchange *x);

/* Opens it. `make`: with the directories in it, when it is not there. It must be the user's and no
 * one else's: -EPERM. -errno. */
int exchange_open(struct exchange *x, const char *path, bool make);
void exchange_close(struct exchange *x);
/* Removes it, except the `log` that is not empty, `job` and `claim` of workers for which `keeps` is
 * true (NULL: of none). */
void exchange_remove(struct exchange *x, bool (*keeps)(void *data, uint64_t id), void *data);

void exchange_info_write(struct buf *b, const struct exchange_info *i);
/* False: it is not such a file, or one of another protocol. */
bool exchange_info_read(struct str text, struct arena *a, struct exchange_info *ret);
/* An environment as JSON, and back: each entry in the arena. False: it is not that. */
void exchange_env_write(struct buf *b, const char *const *env);
bool exchange_env_read(struct str text, struct arena *a, const char *const **ret);

/* Whether a variable is the node's own where it has it: the run's does not reach its commands. */
bool environ_is_nodes(const char *entry);

/* -- files ----------------------------------------------------------------------------------------
 */

/* `name` may lead through directories of the exchange. -errno. */
int exchange_write(const struct exchange *x, const char *name, struct str bytes);
int exchange_read(const struct exchange *x, const char *name, size_t max, struct buf *ret);

/* A file that one side appends to or follows. It stays open unless the file system is shared by
 * machines or there are too many. */
struct exchange_file {
	char *name;
	int fd; /* -1: not open */
	bool writes;
	bool brief; /* it is closed after every use */
};

void exchange_file_init(struct exchange_file *f, const struct exchange *x, const char *name,
	bool writes, bool brief);
void exchange_file_done(struct exchange_file *f);
/* All of it or nothing; what a full disk took of it is taken back. `sync`: it is on the disk then.
 * -errno. */
int exchange_file_append(
	const struct exchange *x, struct exchange_file *f, struct str bytes, bool sync);
/* What stands behind `offset`, at most `max` bytes, is added to `ret`. -errno. */
int exchange_file_follow(const struct exchange *x, struct exchange_file *f, uint64_t offset,
	size_t max, struct buf *ret);

/* The highest number of an input; 0: there is none. */
uint64_t exchange_last_input(const struct exchange *x);

/* -- drivers --------------------------------------------------------------------------------------
 */

/* The highest epoch and how large its file is; 0: there is none. -errno. */
int exchange_epoch(const struct exchange *x, uint64_t *ret_epoch, uint64_t *ret_size);
/* Makes the next epoch this process's. -errno. */
int exchange_epoch_take(const struct exchange *x, struct str who, uint64_t *ret_epoch);

/* -- workers --------------------------------------------------------------------------------------
 */

/* Makes w/<id> with the files that its worker finds: script, job, fence, orders.<epoch>, records,
 * log. -errno; -EEXIST is not one: then only what is missing is made. */
int exchange_worker_make(const struct exchange *x, uint64_t id, uint64_t epoch, struct str script);
/* Calls `see` with every w/<id>, in order. -errno. */
int exchange_workers(const struct exchange *x, void (*see)(void *data, uint64_t id), void *data);
/* The first to come has it; -EEXIST: it has been claimed before. The text is on the disk then. */
int exchange_claim(const struct exchange *x, uint64_t id, struct str text);

/* How many times faster the clocks of leases and beats are than people's; 1 except in tests. Set
 * once, before anything is started. */
extern double remote_scale;
/* Whether this program honours a scale: a build for tests. */
extern bool remote_may_scale;
/* Milliseconds of a lease or beat, scaled. */
uint64_t remote_ms(uint64_t ms);
