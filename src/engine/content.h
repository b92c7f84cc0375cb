#pragma once

#include <sys/types.h>

#include "base/buf.h"

/* Bytes that one command printed and another may read: in memory while small, in a file when large,
 * never copied without need. Immutable and shared by reference; NULL is empty content. */
struct content;

/* Where the contents of one run are kept. What has to be kept for long (the branches of a join)
 * stays in memory only up to a budget and then goes to one shared file, so that memory does not
 * grow with data and descriptors not with the number of commands. */
struct store {
	size_t memory_bytes; /* kept in memory for long */
	size_t file_count;   /* kept in files of their own for long */
	int spool;           /* the shared file; -1: none yet */
	off_t spool_bytes;
	int spare; /* a temporary file that is not needed any more; -1: none */
	int null;  /* /dev/null, opened once; -1: not yet */
	int error; /* errno of the first failure to keep something; 0: none */
};

#define STORE_INIT ((struct store){ .spool = -1, .spare = -1, .null = -1 })

void store_done(struct store *s);
/* A file for what is too large for memory: the spare one, to be written over, or a new one. To have
 * pages and to give them back is a good part of what a large output costs. -errno. */
int store_file(struct store *s);

enum {
	CONTENT_MEMORY_MAX = 256 * 1024,    /* one content in memory; past that it is a file */
	CONTENT_PIPE_MAX = 64 * 1024,       /* handed on in a pipe; past that as a file */
	STORE_MEMORY_MAX = 2 * 1024 * 1024, /* the budget for all that is kept for long */
	STORE_FILES_MAX = 32,
	CONTENT_OVERHEAD = 160, /* what a content costs beside its bytes */
};

struct content *content_ref(struct content *c);
void content_unref(struct content *c);

/* Takes the bytes out of the buffer. NULL when there are none. */
struct content *content_from_buf(struct buf *b);
/* Takes the descriptor, a regular file; the bytes from `offset` on. */
struct content *content_from_fd(int fd, off_t offset, uint64_t size);
/* The same of a file that store_file() gave; the bytes past `size` are cut off. */
struct content *content_from_temp(int fd, uint64_t size, struct store *s);
/* What is known to have been there and is there no more: reading it is -ESTALE. */
struct content *content_gone(uint64_t size);
/* Made of pieces that are written one after the other by `write` whenever it is read, and
 * only then. `done` ends `data`. */
struct content_out;
struct content_pieces {
	uint64_t size;
	/* Writes everything through content_put*(); -errno. */
	int (*write)(void *data, struct content_out *out);
	void (*done)(void *data);
	void *data;
};
struct content *content_from_pieces(const struct content_pieces *pieces);

/* A place to write to: a descriptor, or a buffer. */
struct content_out {
	int fd; /* -1: into `buf` */
	struct buf *buf;
};
int content_put_str(struct content_out *out, struct str s);
int content_put(struct content_out *out, struct content *c);

uint64_t content_size(const struct content *c);
/* All of it, blocking. -errno. */
int content_write(struct content *c, int fd);
/* The same without the first `from` bytes, of what one command printed. */
int content_write_from(struct content *c, uint64_t from, int fd);
/* At most `max` bytes behind the first `from`, from the beginning, or from the end. */
int content_part(struct content *c, uint64_t from, size_t max, struct buf *ret);
int content_head(struct content *c, size_t max, struct buf *ret);
int content_tail(struct content *c, size_t max, struct buf *ret);

/* A descriptor from which a command reads it from the beginning, however many others read it.
 * *owned: the caller closes it. -errno. */
int content_reader(struct content *c, struct store *s, bool *owned);

/* Where its bytes are, for a message: the path of its file, or nothing. */
void content_place(const struct content *c, struct buf *ret);

/* Makes it cheap to keep for long: see struct store. Takes a reference and gives one back. */
struct content *content_keep(struct content *c, struct store *s);
