#pragma once

#include "engine/content.h"
#include "loop/loop.h"

/* One output of a running command, read from a pipe as it comes: kept whole, first in memory, past
 * CONTENT_MEMORY_MAX in a file that the kernel moves it to; or only its two ends, for diagnostics.
 */
enum capture_mode {
	CAPTURE_ALL,
	CAPTURE_ENDS, /* the first and the last CAPTURE_END bytes */
};

enum { CAPTURE_END = 4096 };

enum { CAPTURE_CHUNK = 64 * 1024 };

/* What bytes pass through on their way, shared by all captures of an owner; made when first needed.
 */
struct capture_room {
	char *chunk; /* of one read */
	int pipe[2]; /* of one move */
	bool piped;  /* there is one */
};

void capture_room_done(struct capture_room *room);

struct capture {
	struct watch watch;
	int fd; /* our end of the pipe; -1: ended */
	enum capture_mode mode;
	uint64_t bytes; /* came in all */
	uint64_t limit; /* CAPTURE_ALL: keeps no more than that; 0: everything */
	bool cut;       /* there was more */
	bool nonblocking;
	struct buf head;
	struct buf tail; /* CAPTURE_ENDS: a ring of the last bytes once `head` is full */
	size_t tail_at;
	int file;   /* where the bytes go; -1: only to memory */
	bool temp;  /* it is the store's */
	bool moved; /* CAPTURE_ALL: they are in the file and no longer in memory */
	int error;  /* errno of a failure to keep them */
	struct store *store;
	struct capture_room *room;
	/* Set by the owner. `came` gets what was read, empty when it went past unseen; `ended` is
	 * called once, when the pipe has ended. Both from the loop or from capture_drain(). */
	void (*came)(struct capture *c, struct str data);
	/* Opens the file that keeps all bytes under a name, when the first comes; NULL: none does.
	 * -errno. */
	int (*open)(struct capture *c);
	uint64_t open_from; /* … when more than that has come */
	void (*ended)(struct capture *c);
};

/* Makes the pipe; *child_end is the caller's to close. -errno. */
int capture_open(struct capture *c, enum capture_mode mode, int *child_end);
/* Reads it from now on, as it comes. What cannot be watched has a failure to keep. */
void capture_watch(struct loop *l, struct capture *c);
/* Reads what is there now, without waiting. */
void capture_drain(struct capture *c);
/* Stops listening; what came is kept. `ended` is not called. */
void capture_close(struct capture *c);
void capture_done(struct capture *c);

/* What came, handed over: CAPTURE_ALL. */
struct content *capture_take(struct capture *c);
/* CAPTURE_ENDS: the beginning (at most CAPTURE_END bytes), and the end. */
struct str capture_head(const struct capture *c);
void capture_tail(const struct capture *c, struct buf *ret);
