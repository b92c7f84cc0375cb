#include "app/record/gates-file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "app/record/freeze.h"
#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "runs/dir/open.h"

enum { LOCK_MS = 10000, PAUSING_POLL_MS = 5, PAUSING_TRIES = 20 };

int gates_lock(struct str dir, struct report *r)
{
	AUTO_BUF file = BUF_INIT;
	int fd = -1;

	buf_printf(&file, "%.*s/" GATES_FILE, STR(dir));
	int n = file_lock(buf_cstr(&file), LOCK_MS, &fd);
	if (n < 0)
		report_errno(r, -n, "cannot lock %s", buf_cstr(&file));
	return n < 0 ? -1 : fd;
}

/* Every change is another file, made under the lock: while a process has locked this one, nothing
 * is answered, so that it stays the one. */
int gates_pausing(struct str dir)
{
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, dir);
	AUTO_CLOSE int fd = run_open(buf_cstr(&path), GATES_FILE, O_RDONLY);
	/* One that looks whether it is locked has it locked for that moment. */
	for (int i = 0; fd >= 0 && i < PAUSING_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return take_fd(&fd);
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return -1;
}

void gates_paused(int *fd)
{
	/* A child that has executed nothing yet has it too: closing is not enough. */
	if (*fd >= 0)
		(void)flock(*fd, LOCK_UN);
	close_fd(fd);
}

bool gates_pause_now(struct str dir)
{
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, dir);
	AUTO_CLOSE int fd = run_open(buf_cstr(&path), GATES_FILE, O_RDONLY);
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int gates_lock_to_answer(struct str dir, struct report *r)
{
	uint64_t until = clock_mono_ms() + LOCK_MS;

	for (;;) {
		AUTO_CLOSE int lock = gates_lock(dir, r);

		if (lock < 0 || !gates_pause_now(dir) || clock_mono_ms() >= until)
			return take_fd(&lock);
		close_fd(&lock);
		(void)nanosleep(&(struct timespec){ .tv_nsec = PAUSING_POLL_MS * 1000000 }, NULL);
	}
}

json_t *gates_read(struct str dir, struct report *r)
{
	AUTO_JSON *all = freeze_json(dir, GATES_FILE, true, r);
	json_t *gates = all ? json_object() : NULL, *g;
	const char *path;

	json_object_foreach(all, path, g)
	{
		if (json_is_object(g))
			json_object_set(gates, path, g);
	}
	return gates;
}

bool gates_write(struct str dir, const json_t *gates, bool durable, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, gates, 2);
	buf_addc(&text, '\n');
	return freeze_file(dir, GATES_FILE, buf_str(&text), durable, r);
}

int gates_asking(struct str dir)
{
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%.*s/.asking", STR(dir));
	int fd = open(buf_cstr(&file), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	int e = errno;
	(void)close(fd);
	return -e;
}

enum gate_answer gate_answer_of(const json_t *gate)
{
	struct str answer = json_str(json_object_get(gate, "answer"));

	return str_eq(answer, S("approved")) ? GATE_APPROVED
	       : str_eq(answer, S("denied")) ? GATE_DENIED
					     : GATE_PENDING;
}

json_t *gates_pending(struct str dir, struct report *r)
{
	AUTO_JSON *gates = gates_read(dir, r);

	return gates_pending_in(gates);
}

json_t *gates_pending_in(const json_t *gates)
{
	const char *path;
	json_t *g;

	json_object_foreach((json_t *)gates, path, g)
	{
		AUTO_BUF since = BUF_INIT;
		json_t *ret;

		if (!json_is_object(g) || gate_answer_of(g) != GATE_PENDING)
			continue;
		clock_rfc3339(&since, (uint64_t)json_integer_value(json_object_get(g, "since_ms")));
		ret = json_object();
		json_object_set(ret, "stage", json_object_get(g, "stage"));
		json_object_set(ret, "prompt", json_object_get(g, "prompt"));
		json_object_set_new(ret, "since", json_from_str(buf_str(&since)));
		json_object_set(ret, "timeout", json_object_get(g, "timeout"));
		json_object_set(ret, "default", json_object_get(g, "default"));
		json_object_set_new(ret, "path", json_from_str(str_of(path)));
		return ret;
	}
	return NULL;
}

/* The last one, by the time of its answer. */
static json_t *last_answered(const json_t *gates)
{
	json_t *last = NULL, *g;
	const char *path;

	json_object_foreach((json_t *)gates, path, g)
	{
		if (!json_is_object(g))
			continue;
		if (gate_answer_of(g) == GATE_PENDING)
			return NULL;
		if (!last ||
			str_cmp(json_text_of(g, "answered"), json_text_of(last, "answered")) >= 0)
			last = g;
	}
	return last;
}

json_t *gates_answered(struct str dir, struct report *r)
{
	AUTO_JSON *gates = gates_read(dir, r);

	return gates_answered_in(gates, dir);
}

json_t *gates_answered_in(const json_t *gates, struct str dir)
{
	const json_t *g = last_answered(gates);
	bool ignored;

	if (!g)
		return NULL;
	/* The file has it as it was written: later steps read it. */
	const json_t *said = json_object_get(g, "message");
	struct mask *mask = json_str(said).len ? freeze_mask(dir, &ignored) : NULL;
	json_t *ret = json_object();
	json_object_set(ret, "stage", json_object_get(g, "stage"));
	json_object_set(ret, "decision", json_object_get(g, "answer"));
	json_object_set_new(ret, "by",
		json_text_of(g, "by").len ? json_from_str(json_text_of(g, "by")) : json_null());
	json_object_set_new(
		ret, "message", json_is_string(said) ? mask_json(mask, said) : json_string(""));
	mask_free(mask);
	json_object_set(ret, "answered", json_object_get(g, "answered"));
	json_object_set(ret, "digest", json_object_get(g, "digest"));
	return ret;
}
