/* The part of a trial that asks for nothing. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file-system.h"
#include "base/file.h"
#include "base/program.h"
#include "loop/loop.h"
#include "remote/batch.h"
#include "remote/exchange.h"
#include "remote/program.h"
#include "remote/submission.h"
#include "remote/trial-own.h"

struct looking {
	const struct trial_options *o;
	trial_fn *tell;
	void *data;
	struct arena arena;
	bool ok;
};

static void say(struct looking *l, const char *hop, bool ok, struct str text)
{
	l->ok &= ok;
	l->tell(l->data, hop, ok, text);
}

/* -- programs ------------------------------------------------------------------------------------
 */

static const char *const *words_of(struct looking *l, enum table_words which, struct report *r)
{
	const struct table *t = l->o->table;

	if (which == WORDS_SUBMIT)
		return submission_example(t, &t->shape, S("<roux>"), &l->arena, r);
	return table_words(t, which,
		&(struct table_values){ .name = "roux-doctor",
			.comment = "",
			.log = "",
			.script = "",
			.host = "",
			.roux = "<roux>",
			.dir = "<dir>",
			.jobs = (const char *const[]){ "0", NULL } },
		&l->arena, r);
}

static void look_at_programs(struct looking *l)
{
	static const char *const names[] = { "submit", "status", "cancel" };
	AUTO_BUF found = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_REPORT r = REPORT_INIT;
		const char *const *argv = words_of(l, (enum table_words)i, &r);

		if (argv && !argv[0] && i == WORDS_STATUS)
			continue; /* such a system cannot be asked: beats tell who lives */
		if (!argv || !argv[0]) {
			say(l, "programs", false,
				arena_printf(&l->arena, "`%s` has no words", names[i]));
			return;
		}
		const char *path =
			program_find(&l->arena, str_of(argv[0]), l->o->cwd, program_search(), NULL);
		if (!path) {
			say(l, "programs", false,
				arena_printf(&l->arena, "'%s' of `%s` is not in PATH", argv[0],
					names[i]));
			return;
		}
		buf_printf(&found, "%s%s", found.len ? ", " : "", path);
	}
	say(l, "programs", true, arena_str(&l->arena, buf_str(&found)));
}

/* -- places --------------------------------------------------------------------------------------
 */

static const char *kind_of(const char *path)
{
	return access(path, F_OK) < 0         ? "missing"
	       : file_system_is_network(path) ? "a network file system"
					      : "local";
}

/* Where driver and workers meet: it must be ours alone. */
static void look_at_directory(struct looking *l)
{
	const struct table *t = l->o->table;
	const char *dir = arena_cstr(&l->arena, t->dir.len ? t->dir : l->o->state_dir);
	AUTO_REPORT r = REPORT_INIT;

	if (!t->dir.len)
		(void)dir_make(dir);
	if (exchange_root_check(dir, &r))
		say(l, "directory", true, arena_printf(&l->arena, "%s is %s", dir, kind_of(dir)));
	else
		say(l, "directory", false, arena_str(&l->arena, r.issues.at[0].message));
	say(l, "runs", true,
		arena_printf(&l->arena, "runs and their ledger in %.*s are %s",
			STR(l->o->state_dir), kind_of(arena_cstr(&l->arena, l->o->state_dir))));
}

/* A program that needs an interpreter needs its libraries on every node too. */
static bool is_static(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + (uint64_t)i * head.e_phentsize);

		if (pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part) ||
			part.p_type == PT_INTERP)
			return false;
	}
	return true;
}

static void look_at_program(struct looking *l)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str copy;

	if (!program_copy(l->o->state_dir, &l->arena, &copy, &r)) {
		say(l, "binary", false,
			r.issues.len ? arena_str(&l->arena, r.issues.at[0].message) : S(""));
		return;
	}
	say(l, "binary", true,
		arena_printf(&l->arena, "%.*s, %s", STR(copy),
			is_static(copy.p) ? "static" : "its libraries must be on the nodes"));
}

/* systemd ends what a login session started when it ends, a detached run too. */
static void look_at_session(struct looking *l)
{
	AUTO_BUF text = BUF_INIT;

	if (file_read("/etc/systemd/logind.conf", 1 << 20, &text) < 0)
		return;
	struct str all = buf_str(&text);
	for (size_t at = 0; at < all.len;) {
		size_t end = str_find(all, '\n', at);
		struct str line = str_trim(str_sub(all, at, end - at));

		at = end + 1;
		if (str_eq(line, S("KillUserProcesses=yes")))
			say(l, "session", true,
				S("this machine ends your processes when you log out: start the "
				  "driver itself in a job"));
	}
}

/* -- status --------------------------------------------------------------------------------------
 */

struct asking {
	struct looking *l;
	bool done;
};

static void on_status(void *data, const struct batch_answer *a)
{
	struct asking *ask = data;
	struct looking *l = ask->l;
	struct str err = str_trim(a->err);

	ask->done = true;
	if (a->ok)
		say(l, "status", true, S("answers"));
	else if (a->late)
		say(l, "status", false, S("no answer in 30 s"));
	else
		say(l, "status", false,
			err.len ? arena_str(&l->arena, err)
				: arena_printf(&l->arena, "exit status %d", a->code));
}

static void ask_status(struct looking *l)
{
	AUTO_REPORT r = REPORT_INIT;
	struct asking ask = { l, false };
	const char *const *argv = words_of(l, WORDS_STATUS, &r);

	if (!argv || !argv[0]) {
		say(l, "status", true,
			S("cannot be asked: heartbeats show which workers are alive"));
		return;
	}
	struct batch *b = batch_new(l->o->loop, l->o->table, NULL);
	batch_run(b, argv, on_status, &ask);
	while (!ask.done)
		(void)loop_turn(l->o->loop, -1);
	batch_free(b);
}

bool trial_look(const struct trial_options *o, trial_fn *tell, void *data)
{
	struct looking l = { .o = o, .tell = tell, .data = data, .ok = true };

	look_at_programs(&l);
	look_at_directory(&l);
	look_at_program(&l);
	look_at_session(&l);
	if (l.ok)
		ask_status(&l);
	arena_done(&l.arena);
	return l.ok;
}
