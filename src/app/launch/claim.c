/* Taking the name of a run: directory, lock and ledger row. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/past/find.h"
#include "app/record/beginning.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/path.h"
#include "base/run-status.h"
#include "runs/dir/begun.h"
#include "runs/dir/generations.h"
#include "runs/dir/identity.h"
#include "runs/dir/leaves.h"
#include "runs/dir/refusal.h"
#include "runs/dir/run-dir.h"
#include "runs/look/gap.h"
#include "runs/look/look.h"

/* The run that the ledger has under the name. */
struct former {
	bool known; /* there is one */
	int state;  /* 1 when it lives, -errno when that cannot be found out */
};

static bool is_absent(struct str dir, const char *name)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/%s", STR(dir), name);
	return access(buf_cstr(&path), F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

static bool has_ended(void *data, const struct run_row *current)
{
	AUTO_BUF dir = BUF_INIT;
	struct former *former = data;

	buf_add(&dir, current->dir);
	former->known = true;
	former->state = run_lock_state(buf_cstr(&dir));
	if (former->state == 0 && look_supervises(buf_cstr(&dir)))
		former->state = 1;
	if (former->state != 0 || !status_rests(current->status, STATUS_AT_GATE))
		return former->state == 0;
	/* A new generation would put it where it cannot be answered. One whose files are gone waits
	 * for nothing. */
	return is_absent(current->dir, "result.json") && is_absent(current->dir, "gates.json");
}

static void make_generation(struct launch *l)
{
	unsigned char bytes[8] = { 0 };
	char text[2 * sizeof(bytes) + 1];

	(void)!getrandom(bytes, sizeof(bytes), GRND_NONBLOCK);
	hex_write(bytes, sizeof(bytes), text);
	l->claim.generation = arena_str(&l->arena, str_of(text));
}

static bool refuse_taken(struct launch *l, struct report *r)
{
	refuse_running(l->asked.id, r);
	return report_action(r, ACTION_NAME_IT, l->asked.id);
}

/* What the ledger would say of a run that it has lost: false, with an issue, when that waits at a
 * gate, or may. */
static bool may_replace(const struct launch *l, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;
	AUTO_LOOK look = { 0 };
	bool seen = look_at(l->claim.root, NULL, l->asked.id, &look, &found);

	if (report_has_system(&found)) {
		report_move(r, &found);
		return false;
	}
	if (seen && look.unread)
		return report_errno(r, look.unread, "cannot look at run '%.*s'", STR(l->asked.id));
	if (!seen || !status_rests(look.status, STATUS_AT_GATE))
		return true;
	refuse_waiting(l->asked.id, r);
	return report_action(r, ACTION_NAME_IT, l->asked.id);
}

/* The lock is the truth, or the process where its file was replaced; the ledger only lets one after
 * the other try. */
static bool take_directory(struct launch *l, bool known, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct stat st;
	bool there = lstat(l->claim.dir.p, &st) == 0;

	if (there && !S_ISDIR(st.st_mode))
		return report_error(r, (struct where){ 0 }, "%.*s is there and is not a directory",
			STR(l->claim.dir));
	if (there && !known && !may_replace(l, r))
		return false;
	int made = dir_make(l->claim.dir.p);
	if (made < 0)
		return report_fault(
			r, -made, "cannot make the run's directory %.*s", STR(l->claim.dir));
	(void)begun_mend(l->claim.dir.p);
	int locked = run_lock(l->claim.dir.p, &l->claim.lock);
	if (locked == 0 && there && look_supervises(l->claim.dir.p))
		locked = -EWOULDBLOCK;
	if (locked == -EWOULDBLOCK)
		return refuse_taken(l, r);
	if (locked < 0)
		return report_errno(r, -locked, "cannot lock %.*s", STR(l->claim.dir));
	if (!generation_put_away(l->claim.dir.p, &l->claim.away, r))
		return false;
	if (there && !l->claim.away)
		look_gap_unsure(l->claim.ledger);
	/* The name hides from now on that the ledger lacks the one that was put away. */
	else if (l->claim.away && !known)
		(void)ledger_set_gap(l->claim.ledger, true, &ignored);
	return true;
}

static bool sync_directory(const char *path, bool foreign, struct report *r)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && foreign)
		return true;
	return (fd >= 0 && fsync(fd) == 0) || report_errno(r, errno, "cannot flush %s", path);
}

/* Whether this user may have made the directory, so that its name may not be on the disk yet: a
 * mount point and what another user owns were there before. */
static bool may_be_new(const char *path, const char *above)
{
	struct stat st, up;

	return stat(path, &st) == 0 && stat(above, &up) == 0 && st.st_uid == geteuid() &&
	       st.st_dev == up.st_dev;
}

bool launch_sync_names(struct launch *l, struct report *r)
{
	const char *dir = l->claim.dir.p;
	AUTO_BUF away = BUF_INIT;
	bool ok = true;

	if (!l->asked.durable)
		return true;
	if (l->claim.away) {
		generation_directory(&away, dir, l->claim.away);
		ok = sync_directory(buf_cstr(&away), false, r) &&
		     sync_directory(arena_cstr(&l->arena, path_dir(buf_str(&away))), false, r);
	}
	/* The run, runs/, the state root, and as far up as a start may have made them: this one, or
	 * one before it that was not durable. What is above that need not be readable. */
	for (int up = 0; ok; up++) {
		const char *above = arena_cstr(&l->arena, path_dir(str_of(dir)));

		ok = sync_directory(dir, up > 2, r);
		if (str_eq(str_of(above), str_of(dir)) || (up > 1 && !may_be_new(dir, above)))
			break;
		dir = above;
	}
	return ok;
}

/* -- the ledger ----------------------------------------------------------------------------------
 */

static bool open_ledger(struct launch *l, unsigned wait_ms, struct report *r)
{
	l->claim.ledger = ledger_open(l->claim.root,
		(struct ledger_manner){ .durable = l->asked.durable, .wait_ms = wait_ms }, r);
	if (!l->claim.ledger)
		return false;
	(void)look_gap(l->claim.root, l->claim.ledger); /* before `latest` names this run */
	return true;
}

/* A name that was made for this run is not another's, so that there is nothing to decide: making
 * its directory takes it. The ledger hears of it when the first command runs (launch_enter()), and
 * until then the directory says so; opening it would take longer than all else before that. Not
 * where it has to be on stable storage, or where the caller hears the name and leaves; nor where
 * this process has the ledger open, as for a rerun: ledger_is_ready() would take its locks away. */
static bool begins_unlisted(const struct launch *l)
{
	return l->asked.made && !l->asked.detached && !l->asked.durable && !l->asked.notify &&
	       l->app->manners.own_process && !l->app->ledger && ledger_is_ready(l->claim.root);
}

/* *tried: false when the name has to be claimed after all. */
static bool begin_unlisted(struct launch *l, bool *tried, struct report *r)
{
	*tried = begins_unlisted(l) && mkdir(l->claim.dir.p, 0700) == 0;
	if (!*tried)
		return false;
	int e = run_lock_new(l->claim.dir.p, &l->claim.own, &l->claim.lock);
	l->claim.unlisted = e == 0;
	l->claim.waits = l->claim.unlisted && beginning_can_wait(l);
	if (e == 0)
		return true;
	(void)rmdir(l->claim.dir.p);
	return report_errno(r, -e, "cannot lock %.*s", STR(l->claim.dir));
}

/* A run that begins before the ledger knows of it gets its link when its command runs; one that
 * does so this long after its start was stopped in between. */
enum { LATE_MS = 50 };

/* Whether `latest` names a run that began after this one. */
static bool is_overtaken(const struct launch *l)
{
	AUTO_BUF path = BUF_INIT;
	struct stat st;

	if (!l->claim.unlisted || clock_real_ms() < l->claim.row.started + LATE_MS)
		return false;
	buf_add(&path, path_dir(l->claim.dir));
	buf_adds(&path, "/latest/run.json");
	return stat(buf_cstr(&path), &st) == 0 &&
	       (uint64_t)st.st_mtim.tv_sec * 1000 + (uint64_t)st.st_mtim.tv_nsec / 1000000 >
		       l->claim.row.started;
}

void launch_link_latest(struct launch *l)
{
	struct str runs = path_dir(l->claim.dir);
	struct str temp = arena_printf(&l->arena, "%.*s/.latest-%d", STR(runs), (int)getpid());

	l->claim.linked = true;
	if (is_overtaken(l))
		return;
	bool made = symlink(l->asked.id.p, temp.p) == 0;
	/* One that was killed here had the same number. */
	if (!made && errno == EEXIST)
		made = unlink(temp.p) == 0 && symlink(l->asked.id.p, temp.p) == 0;
	if (made && rename(temp.p, arena_printf(&l->arena, "%.*s/latest", STR(runs)).p) < 0)
		(void)unlink(temp.p);
}

bool launch_enter(struct launch *l, unsigned wait_ms, struct report *r)
{
	if (!l->claim.unlisted)
		return true;
	if (l->claim.ledger)
		(void)ledger_set_wait(l->claim.ledger, wait_ms);
	else if (!open_ledger(l, wait_ms, r))
		return false;
	if (!ledger_enter(l->claim.ledger, &l->claim.row, r))
		return false;
	(void)ledger_set_wait(l->claim.ledger, l->app->ledger_wait_ms);
	if (!l->claim.linked)
		launch_link_latest(l);
	run_set_listed(l->claim.lock);
	l->claim.unlisted = false;
	return true;
}

bool launch_can_tell(const struct launch *l)
{
	const struct settings *s = &l->app->settings;
	const struct recipe *recipe = l->subject.recipe;

	return l->claim.unlisted && !l->asked.owner.len && !s->max_age_given &&
	       !s->max_runs_given && (!l->counts || !recipe || recipe->layer == LAYER_ADHOC);
}

bool launch_tell(struct launch *l)
{
	if (!launch_can_tell(l) || ledger_tell(l->claim.root, &l->claim.row) < 0)
		return false;
	if (!l->claim.linked) /* it had no command */
		launch_link_latest(l);
	l->claim.unlisted = false;
	return true;
}

static bool has(struct launch *l, const char *name)
{
	return access(run_file(&l->arena, l->claim.dir, name), F_OK) == 0;
}

/* The directory as it was before; the lock is that of a run that is still in it. */
static void give_back(struct launch *l)
{
	if (l->claim.away)
		(void)generation_bring_back(l->claim.dir.p, l->claim.away);
	else if (l->claim.lock >= 0 && !has(l, "start.json") && !has(l, "run.json"))
		(void)unlink(run_file(&l->arena, l->claim.dir, ".alive"));
	(void)rmdir(l->claim.dir.p); /* others keep it when it has anything else */
}

bool launch_claim(struct launch *l, struct report *r)
{
	struct identity self;
	AUTO_REPORT refused = REPORT_INIT;
	struct former former = { 0 };
	bool taken = false, tried = false;

	if (!app_may_record(l->app, r))
		return false;
	l->claim.anew = true;
	make_generation(l);
	if (!launch_fill_row(l, r))
		return false;
	l->claim.row.status = S(STATUS_STARTING);
	l->claim.row.created = l->claim.row.started = l->asked.created = clock_real_ms();
	bool begun = begin_unlisted(l, &tried, r);
	if (tried)
		return begun;
	launch_identify(l, &self);
	find_tell_missing(l->app, r); /* it is made now, and then it only lacks them */
	if (!open_ledger(l, l->app->ledger_wait_ms, r))
		return false;
	/* Not between the claim and the lock, where another start would take the run for one that
	 * has ended. What goes wrong is met again when its directory is made. */
	(void)runs_make(l->claim.root);
	if (!ledger_claim(l->claim.ledger, &l->claim.row, has_ended, &former, &taken, &refused)) {
		/* The ledger takes what cannot be found out for a run that lives. */
		if (taken && former.state < 0)
			return report_errno(r, -former.state,
				"cannot see whether run '%.*s' is running", STR(l->asked.id));
		report_move(r, &refused);
		return taken && !r->errors ? refuse_taken(l, r) : false;
	}
	report_move(r, &refused);
	if (take_directory(l, former.known, r) && launch_sync_names(l, r))
		return true;
	give_back(l);
	ledger_unclaim(l->claim.ledger, &l->claim.row);
	return false;
}

void launch_abandon(struct launch *l)
{
	struct stat st;

	if (l->claim.lock < 0)
		return;
	/* A supervisor that was killed after its first command has begun leaves a run that died. */
	if (stat(run_file(&l->arena, l->claim.dir, LEAVES_FILE), &st) == 0 &&
		st.st_size > l->claim.taken)
		return;
	close_fd(&l->claim.own); /* to delete takes descriptors, and perhaps there are no others */
	generation_delete_files(l->claim.dir.p);
	give_back(l);
	if (l->claim.ledger)
		ledger_unclaim(l->claim.ledger, &l->claim.row);
}
