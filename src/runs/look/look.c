#include "runs/look/look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "data/big.h"
#include "runs/dir/begun.h"
#include "runs/dir/events.h"
#include "runs/dir/generations.h"
#include "runs/dir/identity.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/partial-files.h"
#include "runs/dir/run-dir.h"
#include "runs/look/counts.h"
#include "runs/look/kept.h"

/* How long a row without a pid may stay `starting` before it counts as dead. */
enum { STARTING_MS = 5000 };
/* A file is written in less: a writer that began longer ago was killed. */
enum { PARTIAL_MS = 10000 };
/* How long a live process may take to write what it has begun with. */
enum { BEGINNING_MS = 100 };
/* How long a process that has given its lock back may take to be gone. */
enum { ENDING_MS = 100 };

/* -- reading -------------------------------------------------------------------------------------
 */

uint64_t look_time(const json_t *text)
{
	return json_is_string(text) ? clock_read_rfc3339(json_str(text)) : 0;
}

static void cannot_read(struct run_look *look, const char *name, int error, struct report *r)
{
	if (!run_is_foreign(error))
		look->unread = -error;
	report_warning(r, (struct where){ 0 }, "cannot read %s: %s",
		run_file(&look->arena, look->dir, name), strerror(-error));
}

/* A JSON object of a run directory. What cannot be read is reported and does no harm. */
static json_t *read_object(struct run_look *look, const char *name, struct report *r)
{
	const char *file = run_file(&look->arena, look->dir, name);
	AUTO_BUF text = BUF_INIT;
	AUTO_REPORT broken = REPORT_INIT;

	int e = run_read(look->dir.p, name, RUN_FILE_MAX, &text);
	if (e == -ENOENT || e == -ENOTDIR)
		return NULL;
	if (e < 0) {
		look->unusable = name;
		cannot_read(look, name, e, r);
		return NULL;
	}
	const struct source source = { str_of(file), buf_str(&text) };
	/* Values and results are shown with the digits that the run had. */
	json_t *value = json_read_big(&source, &broken);
	if (json_is_object(value))
		return value;
	look->unusable = name;
	report_warning(r, (struct where){ 0 }, "%s is damaged and left out: %.*s", file,
		STR(broken.issues.len ? broken.issues.at[0].message : S("it is not an object")));
	json_decref(value);
	return NULL;
}

/* The one file that grows with the run. */
static json_t *read_result(struct run_look *look, struct report *r)
{
	struct file_mark mark;

	if (!look->kept || !look_kept_mark(look->dir.p, "result.json", &mark))
		return read_object(look, "result.json", r);
	json_t *known = look_kept_find(look->kept, &mark);
	if (known)
		return known;
	json_t *result = read_object(look, "result.json", r);
	if (result)
		look_kept_add(look->kept, &mark, result);
	return result;
}

static void drop(json_t **object)
{
	json_decref(*object);
	*object = NULL;
}

/* When something last happened in the directory of a run that did not say when it ended. */
static uint64_t last_sign(const char *dir)
{
	static const char *const files[] = { EVENTS_FILE, LEAVES_FILE, "stdout.log", "stderr.log",
		"run.json" };
	uint64_t last = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_BUF path = BUF_INIT;
		struct stat st;

		buf_printf(&path, "%s/%s", dir, files[i]);
		if (stat(buf_cstr(&path), &st) < 0)
			continue;
		uint64_t ms =
			(uint64_t)st.st_mtim.tv_sec * 1000 + (uint64_t)st.st_mtim.tv_nsec / 1000000;
		last = MAX(last, ms);
	}
	return last;
}

/* -- is it alive? --------------------------------------------------------------------------------
 */

int look_supervisor(const struct run_row *row)
{
	struct identity who = { .pid = row->pid, .start = row->pid_start };

	if (row->boot_id.len)
		memcpy(who.boot, row->boot_id.p, MIN(row->boot_id.len, sizeof(who.boot) - 1));
	return row->pid > 0 && row->pid_start ? identity_open(&who) : -ESRCH;
}

/* Also when that cannot be found out. */
static bool same_process(const struct run_row *row)
{
	AUTO_CLOSE int fd = look_supervisor(row);

	return fd != -ESRCH && fd != -EPERM;
}

/* What cannot be found out is taken for alive, and *error says why. */
static bool is_live(const char *dir, const struct run_row *row, int *error)
{
	AUTO_BUF lock = BUF_INIT;
	int state = run_lock_state(dir);

	*error = MIN(state, 0);
	if (state)
		return true;
	/* A run that is being started may not have its lock yet, and the file of the lock may have
	 * been deleted under a living supervisor. */
	buf_printf(&lock, "%s/.alive", dir);
	bool starting = str_eq(row->status, S(STATUS_STARTING));
	if (starting && !row->pid)
		return clock_real_ms() < row->created + STARTING_MS;
	bool deleted = access(buf_cstr(&lock), F_OK) < 0 && errno == ENOENT;
	return (starting || deleted) && same_process(row);
}

/* -- from files ----------------------------------------------------------------------------------
 */

/* False with an issue: it cannot be found out. */
static bool is_directory(const char *dir, struct report *r)
{
	struct stat st;

	if (lstat(dir, &st) == 0)
		return S_ISDIR(st.st_mode);
	return errno == ENOENT || errno == ENOTDIR
		       ? false
		       : report_errno(r, errno, "cannot look at %s", dir);
}

/* The row of the ledger. One that cannot be read is reported, and the directory speaks alone. */
static bool find_row(struct ledger **l, struct run_look *look, struct report *r)
{
	AUTO_REPORT broken = REPORT_INIT;

	if (*l && ledger_find(*l, look->id, &look->arena, &look->row, &broken))
		return true;
	vec_each (i, &broken.issues) {
		report_warning(r, (struct where){ 0 }, "%.*s", STR(i->message));
		report_advise(r, i);
	}
	if (broken.errors)
		*l = NULL;
	return false;
}

static bool json_flag(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

static uint64_t json_count(const json_t *object, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(object, name));

	return n > 0 ? (uint64_t)n : 0;
}

static void row_of_process(const json_t *start, struct run_row *row)
{
	row->pid = (int64_t)json_count(start, "pid");
	row->pid_start = json_count(start, "pid_start");
	row->boot_id = json_text_of(start, "boot_id");
}

static void row_of_start(const json_t *start, struct run_row *row)
{
	row->generation = json_text_of(start, "generation");
	row->owner = json_text_of(start, "owner");
	row->recipe = json_text_of(start, "recipe");
	row->recipe_path = json_text_of(start, "recipe_path");
	row->tool = json_text_of(start, "tool");
	row->launch = json_text_of(start, "launch");
	row->cwd = json_text_of(start, "cwd");
	row->started = row->created = look_time(json_object_get(start, "started"));
	row->detached = json_flag(start, "detached");
	row_of_process(start, row);
}

/* The lock may be in a file that another one has replaced, from a backup for example. A process
 * that has ended and that its parent has not waited for can be read from. */
static bool supervises(const json_t *start)
{
	struct run_row row = { 0 };

	/* A host's own process lives on. */
	if (!start || json_flag(start, "embedded"))
		return false;
	row_of_process(start, &row);
	AUTO_CLOSE int fd = look_supervisor(&row);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&p, 1, ENDING_MS) == 0;
}

bool look_is_supervised(const struct run_look *look)
{
	return !look->back && !look->result && supervises(look->start);
}

bool look_supervises(const char *dir)
{
	AUTO_BUF result = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	buf_printf(&result, "%s/result.json", dir);
	if (access(buf_cstr(&result), F_OK) == 0 ||
		run_read(dir, "run.json", RUN_FILE_MAX, &text) < 0)
		return false;
	AUTO_JSON *start = json_loadb(buf_cstr(&text), text.len, 0, NULL);
	return json_is_object(start) && supervises(start);
}

/* Without run.json: what start.json, which is older, and the result have of it. Texts that the row
 * borrows are copied. */
static void row_of_remains(struct run_look *look)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *frozen = read_object(look, "start.json", &ignored);
	struct run_row *row = &look->row;
	struct str generation = json_text_of(frozen, "generation");

	if (!generation.len)
		generation = json_text_of(look->result, "generation");
	/* The ledger has none without. */
	row->generation = generation.len ? arena_str(&look->arena, generation) : S("unknown");
	row->owner = arena_str(&look->arena, json_text_of(frozen, "owner"));
	row->launch = arena_str(&look->arena, json_text_of(frozen, "launch"));
	row->started = row->created = json_count(frozen, "created");
	row->detached = json_flag(frozen, "detached");
}

static void row_of_result(const json_t *result, struct run_row *row)
{
	row->status = json_text_of(result, "status");
	row->code = (int)json_integer_value(json_object_get(result, "code"));
	row->ended = look_time(json_object_get(result, "ended"));
	if (!row->ended && row->started)
		row->ended = row->started + json_count(result, "ms");
	counts_of_result(result, row);
}

static void row_of_live(const json_t *progress, struct run_row *row)
{
	row->status = status_str(ROUX_RUNNING);
	counts_of_progress(progress, row);
}

/* The end of a run that has no result: asked for, or not. -errno. */
static int row_of_ruin(const char *dir, struct run_row *row)
{
	enum stop_kind stop;
	int e = events_stop(dir, &stop);

	row->status = status_str(stop == STOP_CANCEL ? ROUX_CANCELLED
				 : stop == STOP_KILL ? ROUX_KILLED
						     : ROUX_EXITED);
	row->ended = MAX(last_sign(dir), row->started);
	int counted = counts_of_events(dir, row);
	return e < 0 ? e : counted;
}

/* -- ends that were not written down -------------------------------------------------------------
 */

static void set_count(json_t *object, const char *name, uint64_t count)
{
	json_object_set_new(object, name, json_integer((json_int_t)count));
}

/* What progress.json says of a run that was killed, or that could not write it, is older than its
 * events. */
static void correct_progress(struct run_look *look, struct report *r)
{
	bool there = look->progress != NULL;
	uint64_t ended;
	AUTO_BUF text = BUF_INIT;

	if (look->denied || str_eq(json_text_of(look->progress, "phase"), look->status))
		return;
	int known = counts_ended(look->dir.p, &ended);
	if (known < 0 && !run_is_foreign(known)) {
		cannot_read(look, EVENTS_FILE, known, r);
		return;
	}
	AUTO_BUF now = BUF_INIT;
	clock_rfc3339(&now, clock_real_ms());
	if (!there)
		look->progress = json_object();
	json_object_set_new(look->progress, "phase", json_from_str(look->status));
	set_count(look->progress, "active", 0);
	if (known > 0)
		set_count(look->progress, "completed", ended);
	set_count(look->progress, "failed", look->row.failed + look->row.tolerated);
	set_count(look->progress, "tolerated", look->row.tolerated);
	json_object_set_new(look->progress, "updated", json_from_str(buf_str(&now)));
	json_write(&text, look->progress, 0);
	buf_addc(&text, '\n');
	/* A service to readers of the file; in a directory that cannot be written it is left out.
	 */
	if (there && !look->result && !run_locked(look->dir.p))
		(void)atomic_write(
			run_file(&look->arena, look->dir, "progress.json"), buf_str(&text), NULL);
}

static void correct(
	struct run_look *look, struct ledger *l, const struct run_row *seen, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;

	correct_progress(look, r);
	if (!look->result)
		partial_files_remove(look->dir.p, PARTIAL_MS);
	bool news = !status_is_end(seen->status) ||
		    (look->denied && status_is(seen->status, ROUX_PAUSED));
	if (look->in_ledger && news && str_eq(seen->generation, look->generation))
		(void)ledger_correct(l, seen, &look->row, &ignored);
	else if (!look->in_ledger && l)
		(void)ledger_put(l, &look->row, &ignored);
	else if (look->in_ledger && !seen->counted)
		(void)ledger_set_counts(l, &look->row, &ignored);
}

/* -- the look ------------------------------------------------------------------------------------
 */

/* What a killed process could not write is written for it; a live one does so in a moment. */
static bool mend_beginning(const char *dir)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	bool waited = false;

	for (int i = 0; i < BEGINNING_MS; i++) {
		int r = begun_mend(dir);

		if (r != -EAGAIN)
			return r > 0 || waited;
		waited = true;
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

static void read_files(struct run_look *look, struct report *r)
{
	look->progress = read_object(look, "progress.json", r);
	look->unusable = NULL; /* the others do without it */
	look->start = read_object(look, "run.json", r);
	if (!look->start && mend_beginning(look->dir.p))
		look->start = read_object(look, "run.json", r);
	look->result = read_result(look, r);
	if (look->result && !status_is_end(json_text_of(look->result, "status"))) {
		report_warning(r, (struct where){ 0 },
			"%.*s/result.json names no status that a run ends with and is left out",
			STR(look->dir));
		look->unusable = "result.json";
		drop(&look->result);
	}
	/* A result says whose it is when it can; that of an earlier generation does not count. */
	struct str of = json_text_of(look->result, "generation");
	struct str now = json_text_of(look->start, "generation");
	if (of.len && now.len && !str_eq(of, now))
		drop(&look->result);
}

/* What a start that was killed has left in the way of the run before, with its row, is taken back.
 */
static void mend(struct run_look *look, struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	int unknown;

	if (!generation_mend(look->dir.p) || !look->in_ledger ||
		is_live(look->dir.p, &look->row, &unknown))
		return;
	AUTO_JSON *start = read_object(look, "run.json", &ignored);
	if (str_eq(json_text_of(start, "generation"), look->row.generation))
		return;
	ledger_unclaim(l, &look->row);
	look->row = (struct run_row){ .id = look->id };
	look->in_ledger = find_row(&l, look, &ignored);
}

/* gates.json is the only truth about gates, and about nothing else. False with an issue: whether it
 * was denied cannot be found out. */
static bool look_at_gates(struct run_look *look, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;
	const char *unusable = look->unusable;
	bool paused = status_is(look->row.status, ROUX_PAUSED);
	int others = look->unread;
	const char *path;
	json_t *g;

	if (!paused && !status_is(look->row.status, ROUX_DENIED))
		return true;
	look->unread = 0;
	look->gates = read_object(look, "gates.json", &found);
	if (look->unread)
		return report_errno(r, look->unread, "cannot read %.*s/gates.json", STR(look->dir));
	look->unread = others;
	look->unusable = unusable;
	report_move(r, &found);
	json_object_foreach(look->gates, path, g)
	{
		struct str why = json_text_of(g, "message");

		if (!paused || !look->result || look->denied ||
			!str_eq(json_text_of(g, "answer"), S("denied")))
			continue;
		look->denied = true;
		look->denial = arena_printf(&look->arena, "stage '%.*s' was denied%s%.*s",
			STR(json_text_of(g, "stage")), why.len ? ": " : "", STR(why));
		look->status = look->row.status = status_str(ROUX_DENIED);
		look->row.exit = status_exit(ROUX_DENIED);
	}
	return true;
}

/* Decides between the row of the ledger and the files, which may be of different generations.
 * -errno: whether it is alive cannot be found out. */
static int settle(struct run_look *look, struct report *r)
{
	struct run_row seen = look->row;
	struct str generation = json_text_of(look->start, "generation");
	int unknown = 0, e = 0;

	look->begun = look->in_ledger && status_is(seen.status, ROUX_RUNNING);
	/* The ledger does not tell whether one that is not detached is a part of a host. */
	look->named = look->begun && seen.detached;
	/* Testing the lock is in the way of those who want it at that moment: not without need. */
	look->live = !(look->result && look->in_ledger && status_is_end(seen.status)) &&
		     (is_live(look->dir.p, &look->row, &unknown) || look_is_supervised(look));
	if (look->in_ledger && look->live && generation.len &&
		!str_eq(generation, look->row.generation)) {
		/* It is being started again; these are the files of the one before. */
		drop(&look->start);
		drop(&look->result);
		drop(&look->progress);
	} else if (look->start) {
		row_of_start(look->start, &look->row);
		look->row.seq = seen.seq;
		look->row.created = seen.created ? seen.created : look->row.created;
		look->row.recipe_sha256 = seen.recipe_sha256;
		look->row.handled = seen.handled;
		look->row.announced = seen.announced;
		if (!look->row.generation.len)
			look->row.generation = seen.generation;
	} else if (!look->in_ledger) {
		row_of_remains(look);
	}
	look->begun |= look->start != NULL;
	look->named |= look->start != NULL;
	look->row.dir = look->dir;
	if (look->result)
		row_of_result(look->result, &look->row);
	else if (look->live)
		row_of_live(look->progress, &look->row);
	else if (!look->in_ledger || !status_is_end(seen.status) ||
		 !str_eq(seen.generation, look->row.generation))
		e = row_of_ruin(look->dir.p, &look->row);
	else if (!look->row.counted)
		e = counts_of_events(look->dir.p, &look->row);
	if (e < 0)
		cannot_read(look, EVENTS_FILE, e, r);
	look->status = look->row.status;
	look->generation = look->row.generation;
	return unknown;
}

static bool has_some(const char *dir, const char *name)
{
	AUTO_CLOSE int fd = run_open(dir, name, O_RDONLY);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
}

/* A directory without run.json is that of a run when a command of it has begun, or when its start
 * was one that the ledger knew of. Others were killed before, and are taken back (gap.c). */
bool look_is_run(const char *dir)
{
	return has_some(dir, LEAVES_FILE) || has_some(dir, "result.json") ||
	       (has_some(dir, "start.json") && !run_is_unlisted(dir));
}

bool look_at(
	struct str root, struct ledger *l, struct str id, struct run_look *ret, struct report *r)
{
	return look_with(root, l, NULL, id, ret, r);
}

bool look_with(struct str root, struct ledger *l, struct look_kept *kept, struct str id,
	struct run_look *ret, struct report *r)
{
	*ret = (struct run_look){ .kept = kept };
	struct arena *a = &ret->arena;
	size_t errors = r->errors;
	int unknown = 0;

	ret->id = ret->run = ret->row.id = str_of(arena_cstr(a, id));
	ret->in_ledger = find_row(&l, ret, r);
	/* A directory has one place; what the ledger says is not followed elsewhere. */
	ret->dir = str_of(arena_cstr(a, run_directory(a, root, id)));
	bool there = is_directory(ret->dir.p, r);
	if (r->errors > errors)
		return false;
	if (!there && !(ret->in_ledger && !status_is_end(ret->row.status) &&
			      is_live(ret->dir.p, &ret->row, &unknown))) {
		/* A start that had no room had none to take its row back either. */
		if (ret->in_ledger && str_eq(ret->row.status, S(STATUS_STARTING)))
			ledger_unclaim(l, &ret->row);
		return false;
	}
	if (there)
		mend(ret, l);
	struct run_row seen = ret->row;
	AUTO_REPORT said = REPORT_INIT;
	read_files(ret, &said);
	if (!ret->start && !ret->in_ledger && !run_locked(ret->dir.p) && !look_is_run(ret->dir.p)) {
		report_move(r, &said);
		if (ret->unread)
			report_errno(r, ret->unread, "cannot look at run '%.*s'", STR(id));
		return false; /* a directory of something else */
	}
	unknown = settle(ret, &said);
	/* The files were read before the lock was tested: it may have ended in between. What is
	 * there now is its last word. */
	if (!unknown && !ret->live && !ret->result) {
		report_reset(&said);
		drop(&ret->start);
		drop(&ret->progress);
		ret->row = seen;
		ret->unread = 0;
		read_files(ret, &said);
		unknown = settle(ret, &said);
	}
	report_move(r, &said);
	if (unknown)
		return report_errno(r, -unknown, "cannot test the lock of run '%.*s'", STR(id));
	if (!look_at_gates(ret, r))
		return false;
	/* What cannot be read is not known to be wrong: nothing is written for it. */
	if (!ret->live && !ret->unread)
		correct(ret, l, &seen, r);
	else if (!ret->live && !ret->progress)
		correct_progress(ret, r);
	return true;
}

bool look_back(
	struct str root, struct str id, uint64_t back, struct run_look *ret, struct report *r)
{
	*ret = (struct run_look){ .back = back };
	struct arena *a = &ret->arena;
	AUTO_BUF dir = BUF_INIT;
	const char *run = arena_cstr(a, run_directory(a, root, id));
	uint64_t number;
	int e = generation_number(run, back, &number);

	if (e < 0)
		return report_errno(r, -e, "cannot read %s/" GENERATIONS_DIR, run);
	if (!number)
		return false;
	ret->run = str_of(arena_cstr(a, id));
	ret->id = ret->row.id = arena_printf(a, "%.*s~%" PRIu64, STR(id), back);
	generation_directory(&dir, run, number);
	ret->dir = str_of(arena_cstr(a, buf_str(&dir)));
	read_files(ret, r);
	(void)settle(ret, r);
	if (!look_at_gates(ret, r))
		return false;
	if (!ret->live && !ret->progress)
		correct_progress(ret, r);
	return true;
}

void look_done(struct run_look *look)
{
	drop(&look->start);
	drop(&look->progress);
	drop(&look->result);
	drop(&look->gates);
	arena_done(&look->arena);
	*look = (struct run_look){ 0 };
}

/* -- directories ---------------------------------------------------------------------------------
 */

bool look_row(struct str root, struct str id, uint64_t back, struct arena *a, struct run_row *ret,
	struct report *r)
{
	AUTO_LOOK look = { 0 };

	if (!(back ? look_back(root, id, back, &look, r) : look_at(root, NULL, id, &look, r)) ||
		(!look.start && look.live))
		return false;
	*ret = look.row;
	ret->id = look.run;
	ret->back = back;
	struct str *const texts[] = { &ret->id, &ret->generation, &ret->owner, &ret->recipe,
		&ret->recipe_path, &ret->tool, &ret->launch, &ret->cwd, &ret->dir, &ret->status,
		&ret->boot_id };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = arena_str(a, *texts[i]);
	return true;
}

bool look_rows(struct str root, struct str id, struct arena *a, look_row_fn *see, void *data,
	struct report *r)
{
	struct run_row row;
	bool any = false;

	/* What is wrong with the current one is not the fault of those before. */
	for (uint64_t back = 0;; back++) {
		bool found = look_row(root, id, back, a, &row, r);

		if (found)
			see(data, &row);
		else if (back)
			return any;
		any |= found;
	}
}

int look_each_directory(struct str root, bool (*see)(void *data, struct str id), void *data)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/runs", STR(root));
	DIR *d = opendir(buf_cstr(&path));
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	bool more = true;
	errno = 0;
	for (const struct dirent *e; more && (e = readdir(d)); errno = 0) {
		AUTO_REPORT ignored = REPORT_INIT;
		struct stat st;

		if (e->d_name[0] == '.' || !run_id_check(str_of(e->d_name), &ignored))
			continue;
		if (e->d_type == DT_UNKNOWN &&
			fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			!S_ISDIR(st.st_mode))
			continue;
		if (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)
			more = see(data, str_of(e->d_name));
	}
	int error = more ? -errno : 0;
	(void)closedir(d);
	return error;
}
