#pragma once

#include "base/list.h"
#include "base/map.h"
#include "hosts/serve/site/site.h"
#include "render/web/ansi.h"

/* What the files of live updates share: feed.c says when, feed-send.c what is sent, feed-topics.c
 * what a page asks for. */

enum {
	TOPICS = 8,
	BATCH_MS = 100,
	BATCH_BYTES = 32 << 10,
	LOG_MS = 200,
	LOOK_MS = 1000,
	BEHIND_MAX = 10000, /* events; a page that is further behind begins anew */
	LOG_BEHIND = 1 << 20,
};

/* Each item of a list in turn; of the second the current one may go. */
#define EACH(T, item, head)                                                      \
	for (T *item = list_entry((head)->next, T, link); &item->link != (head); \
		item = list_entry(item->link.next, T, link))
#define EACH_SAFE(T, item, head)                                    \
	for (T *item = list_entry((head)->next, T, link),           \
	       *item##_next = list_entry(item->link.next, T, link); \
		&item->link != (head);                              \
		item = item##_next, item##_next = list_entry(item->link.next, T, link))

struct nodes_topic {
	struct str path;
	uint64_t from;
};

struct stream {
	struct list link;
	struct feeds *feeds;
	struct http_stream *out; /* NULL: it has ended */
	struct arena arena;
	/* What it is about. */
	struct str run; /* empty: none */
	bool wants_run, wants_runs, wants_log;
	struct run_filter filter;
	struct nodes_topic nodes[TOPICS];
	size_t node_count;
	struct log_at log;
	/* How far it has come. */
	struct str generation;
	uint64_t seq;
	bool fresh; /* nothing was sent yet */
	uint64_t offset;
	bool from_end; /* the log is wanted from its end */
	struct ansi_style style;
	uint64_t failures;
	struct buf status, gate; /* as they were sent last */
	bool held;               /* something waits until there is room */
	uint64_t pass;           /* of the updates that it was in */
	bool listed;             /* the list was sent once, empty or not */
	struct map rows;         /* id → hash of the row that was sent last */
	struct arena row_arena;
	uint64_t version; /* of the list */
};

/* Many pages look at one run and have come equally far. What one of them hears is kept with where
 * it stood before, and the others get the same bytes. */
struct shared {
	const struct stream *like; /* NULL: nothing is kept */
	bool fresh;
	uint64_t seq, failures;
	struct str generation;
	struct buf status, gate;
	struct buf bytes;
};

/* A live run that pages look at. */
struct run_feed {
	struct list link;
	struct feeds *feeds;
	struct run_handle *run;
	struct message_follower *messages;
	bool ended;
};

struct feeds {
	struct dashboard *site;
	struct list streams, runs;
	struct timer batch, look;
	bool dirty;
	uint64_t version, pass;
	struct recipes_watch *recipes; /* NULL: no stream is about lists, or it cannot be done */
	struct shared shared;
	bool keeping; /* what is sent now, for others */
};

/* -- feed-send.c ---------------------------------------------------------------------------------
 */

bool stream_has_room(const struct stream *s);
void stream_event(struct stream *s, const char *event, struct str data);
/* Its log begins where that ends now. */
void stream_find_end(struct stream *s, struct run_model *m);
/* `seq`: of the last event of its run. */
void stream_hello(struct stream *s, uint64_t seq);
/* feed.c: everything is looked at again, soon; `data` are the feeds. */
void feeds_again(void *data);
/* What is new about its run, to all streams of the feeds or to one; and about the list. */
void streams_update_runs(struct feeds *f);
void stream_update_run(struct stream *s);
void stream_update_runs(struct stream *s);

/* Messages from the run that are new, to all streams of it. */
void run_feed_messages(struct run_feed *r);

/* -- feed-topics.c -------------------------------------------------------------------------------
 */

/* Reads one topic into the stream. False: it is not one, or of another run. */
bool stream_topic(struct stream *s, struct http_request *q, struct str topic);
/* Where the page left off: its id is that of now, or the page begins anew. */
void stream_begin_run(struct stream *s, struct http_request *q);
