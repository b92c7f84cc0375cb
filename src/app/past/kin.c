#include "app/past/kin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/past/find.h"
#include "base/process.h"
#include "loop/tree.h"
#include "runs/dir/identity.h"
#include "runs/dir/leaves.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/run-dir.h"

enum { ANCESTORS_MAX = 1000 };

/* A process as far as it matters here. */
struct one {
	struct identity who;
	int64_t parent, group, session;
};

/* This process and those above it, the nearest first. */
struct line {
	VEC(struct one) at;
	bool found;
	int error; /* -errno: there may be more above */
};

/* 0, or -errno. */
static int read_one(int64_t pid, struct one *ret)
{
	struct process_stat p;
	int e = process_read(pid, &p);

	if (e == 0) {
		errno = 0;
		e = identity_of(pid, &ret->who) ? 0 : errno ? -errno : -ESRCH;
	}
	ret->parent = p.parent;
	ret->group = p.group;
	ret->session = p.session;
	return e;
}

/* One that has ended, or that may not be seen, has nothing above it. */
static bool hides_more(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -EIO;
}

static void read_line(struct line *l)
{
	int64_t pid = process_self();
	int e = pid > 0 ? 0 : pid < 0 ? (int)pid : -ESRCH;
	struct one one;

	/* The first of all processes is of no run, unless it is this one. */
	for (; pid > (l->at.len ? 1 : 0) && l->at.len < ANCESTORS_MAX; pid = one.parent) {
		e = read_one(pid, &one);
		if (e < 0)
			break;
		vec_push(&l->at, one);
	}
	/* Without /proc there may be anything above this one. */
	if (e < 0 && (!l->at.len || hides_more(e)))
		l->error = e;
}

/* Marks of the commands of a run begin with the pid of its supervisor. */
static bool marked(pid_t pid, const struct run_look *look)
{
	AUTO_BUF mark = BUF_INIT;

	buf_printf(&mark, "/%lld-", (long long)look->row.pid);
	return look->row.pid > 0 && tree_marked(pid, buf_str(&mark));
}

/* The number of a process that has ended may belong to another one by now, but not while a group or
 * a session of that number has members. */
static bool leads(int64_t leader, const struct leaf_record *leaf)
{
	struct identity now;

	return leader == leaf->pid && (!identity_of(leader, &now) || now.start == leaf->pid_start);
}

static bool see_leaf(void *data, const struct leaf_line *line)
{
	struct line *l = data;
	const struct leaf_record *leaf = &line->record;

	if (line->kind != LEAF_START || leaf->pid <= 0)
		return true;
	vec_each (one, &l->at) {
		l->found |= one->who.pid == leaf->pid && one->who.start == leaf->pid_start;
		l->found |= leads(one->group, leaf) || leads(one->session, leaf);
	}
	return !l->found;
}

int run_started_this(const struct run_look *look)
{
	struct line l = { 0 };
	AUTO_BUF leaves = BUF_INIT;
	const char *run = getenv("ROUX_RUN");

	if (run && str_eq(str_of(run), look->run))
		return 1;
	read_line(&l);
	/* Numbers of an earlier boot say nothing. */
	bool comparable = l.at.len && str_eq(look->row.boot_id, str_of(l.at.at[0].who.boot));
	/* A host has children of its own as well; the run's are told by their marks and leaves. */
	bool supervised = comparable && !look_embedded(look);
	l.found = l.at.len && marked((pid_t)l.at.at[0].who.pid, look);
	for (size_t i = 1; i < l.at.len && !l.found; i++) {
		const struct identity *who = &l.at.at[i].who;

		l.found = process_carries((pid_t)who->pid, look->run, S("")) ||
			  marked((pid_t)who->pid, look) ||
			  (supervised && who->pid == look->row.pid &&
				  who->start == look->row.pid_start);
	}
	if (!l.found && comparable) {
		buf_printf(&leaves, "%.*s/" LEAVES_FILE, STR(look->dir));
		int e = leaf_lines_each(buf_cstr(&leaves), see_leaf, &l);
		l.error = e < 0 ? e : l.error;
	}
	vec_done(&l.at);
	return l.found ? 1 : l.error;
}
