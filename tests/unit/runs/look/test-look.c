#include "runs/look/look.h"

#include <inttypes.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "runs/dir/identity.h"
#include "runs/look/kept.h"
#include "runs/look/rebuild.h"
#include "runs/state.h"

/* What is found; the status alone when nothing else matters. */
static struct str seen(struct ledger *l, const char *id, size_t warnings)
{
	AUTO_LOOK look = { 0 };
	AUTO_REPORT r = REPORT_INIT;

	if (!look_at(str_of(root), l, str_of(id), &look, &r)) {
		assert_int_equal(r.errors, 0);
		return S("(none)");
	}
	assert_int_equal(r.warnings, warnings);
	assert_int_equal(r.errors, 0);
	return arena_str(&arena, look.status);
}

static void no_directory_is_no_run(void **state UNUSED)
{
	assert_str(seen(NULL, "a", 0), "(none)");
	put("runs/a/something", "else");
	assert_str(seen(NULL, "a", 0), "(none)");
}

static void a_link_is_no_run(void **state UNUSED)
{
	put_run("real");
	assert_int_equal(symlink("real", at("runs/link")), 0);
	assert_str(seen(NULL, "real", 0), "exited");
	assert_str(seen(NULL, "link", 0), "(none)");
}

static void put_long_result(const char *id, const char *status, int spaces)
{
	put(arena_printf(&arena, "runs/%s/result.json", id).p,
		arena_printf(&arena, "{\"status\":\"%s\",%*s\"code\":0}", status, spaces, "").p);
}

static json_t *result_seen(struct look_kept *kept, const char *id)
{
	AUTO_LOOK look = { 0 };
	AUTO_REPORT r = REPORT_INIT;

	assert_true(look_with(str_of(root), NULL, kept, str_of(id), &look, &r));
	return json_incref(look.result);
}

static void a_long_result_is_parsed_once(void **state UNUSED)
{
	struct look_kept *kept = look_kept_new();

	put_run("a");
	put_long_result("a", "done", 100000);
	AUTO_JSON *first = result_seen(kept, "a");
	AUTO_JSON *again = result_seen(kept, "a");
	AUTO_JSON *without = result_seen(NULL, "a");
	assert_ptr_equal(first, again);
	assert_ptr_not_equal(first, without);
	/* Written since. */
	put_long_result("a", "failed", 100000);
	AUTO_JSON *written = result_seen(kept, "a");
	assert_str(json_text_of(written, "status"), "failed");
	/* The one that was asked for longest ago leaves when there are too many bytes. */
	put_run("b");
	put_long_result("b", "done", 5000000);
	AUTO_JSON *large = result_seen(kept, "b");
	AUTO_JSON *large_again = result_seen(kept, "b");
	AUTO_JSON *read_again = result_seen(kept, "a");
	assert_ptr_equal(large, large_again);
	assert_ptr_not_equal(read_again, written);
	look_kept_free(kept);
}

static void a_held_lock_is_a_running_run(void **state UNUSED)
{
	AUTO_CLOSE int lock = -1;

	put_run("a");
	assert_int_equal(run_lock(at("runs/a"), &lock), 0);
	assert_str(seen(NULL, "a", 0), "running");
	close_fd(&lock);
	assert_str(seen(NULL, "a", 0), "exited");
}

static void put_process(const char *id, const struct identity *who, const char *more)
{
	put(arena_printf(&arena, "runs/%s/run.json", id).p,
		arena_printf(&arena,
			"{\"run\":\"%s\",\"generation\":\"g1\",\"started\":"
			"\"2026-01-02T03:04:05.006Z\",\"cwd\":\"/\",\"pid\":%" PRId64
			",\"pid_start\":%" PRIu64 ",\"boot_id\":\"%s\"%s}",
			id, who->pid, who->start, who->boot, more)
			.p);
}

static void a_process_without_its_lock_is_a_running_run(void **state UNUSED)
{
	struct identity self, other;
	int pipes[2];

	assert_true(identity_self(&self));
	put("runs/a/.alive", "");
	put_process("a", &self, "");
	assert_str(seen(NULL, "a", 0), "running");
	assert_true(look_supervises(at("runs/a")));
	put_process("a", &self, ",\"embedded\":true");
	assert_str(seen(NULL, "a", 0), "exited");
	assert_false(look_supervises(at("runs/a")));
	/* Another one has the number. */
	other = self;
	other.start++;
	put_process("a", &other, "");
	assert_str(seen(NULL, "a", 0), "exited");
	/* One that has ended and was not waited for. */
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		char c;

		(void)close(pipes[1]);
		_exit(read(pipes[0], &c, 1) != 0);
	}
	assert_true(identity_of(child, &other));
	put_process("a", &other, "");
	assert_str(seen(NULL, "a", 0), "running");
	(void)close(pipes[1]);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_str(seen(NULL, "a", 0), "exited");
	assert_int_equal(waitpid(child, NULL, 0), child);
	(void)close(pipes[0]);
	put_process("a", &self, "");
	put_result("a", "failed");
	assert_str(seen(NULL, "a", 0), "failed");
	assert_false(look_supervises(at("runs/a")));
}

/* Somebody tests the lock at the very moment that another wants it. */
static void who_looks_keeps_the_lock_from_nobody(void **state UNUSED)
{
	AUTO_CLOSE int lock = -1;
	int held[2];

	put("runs/a/.alive", "");
	assert_int_equal(pipe2(held, O_CLOEXEC), 0);
	pid_t looker = fork();
	if (looker == 0) {
		int fd = open(at("runs/a/.alive"), O_RDONLY | O_CLOEXEC);

		(void)flock(fd, LOCK_SH);
		(void)close(held[1]);
		(void)usleep(20000);
		_exit(0);
	}
	(void)close(held[1]);
	char c;
	assert_int_equal(read(held[0], &c, 1), 0);
	(void)close(held[0]);
	assert_int_equal(run_lock(at("runs/a"), &lock), 0);
	assert_int_equal(waitpid(looker, NULL, 0), looker);
	int second = -1;
	assert_int_equal(run_lock(at("runs/a"), &second), -EAGAIN);
}

/* Its result is written before its lock is free, and both may happen between the two looks at them.
 */
static void a_run_that_ends_meanwhile_has_its_result(void **state UNUSED)
{
	for (int i = 0; i < 300; i++) {
		struct str status = S("running");
		int ready[2];
		char c;

		put_run("a");
		assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
		pid_t supervisor = fork();
		if (supervisor == 0) {
			int lock = -1;

			(void)run_lock(at("runs/a"), &lock);
			(void)close(ready[1]);
			put("runs/a/result.new", "{\"status\":\"done\"}");
			(void)rename(at("runs/a/result.new"), at("runs/a/result.json"));
			_exit(0);
		}
		(void)close(ready[1]);
		assert_int_equal(read(ready[0], &c, 1), 0);
		(void)close(ready[0]);
		while (str_eq(status, S("running")))
			status = seen(NULL, "a", 0);
		assert_str(status, "done");
		assert_int_equal(waitpid(supervisor, NULL, 0), supervisor);
		assert_int_equal(unlink(at("runs/a/result.json")), 0);
	}
}

static void a_result_wins_over_everything(void **state UNUSED)
{
	AUTO_CLOSE int lock = -1;

	put_run("a");
	put("runs/a/events.jsonl", "{\"type\":\"run.kill\"}\n");
	put_result("a", "done");
	assert_str(seen(NULL, "a", 0), "done");
	assert_int_equal(run_lock(at("runs/a"), &lock), 0);
	assert_str(seen(NULL, "a", 0), "done");
}

static void the_last_word_about_stopping_counts(void **state UNUSED)
{
	put_run("a");
	put("runs/a/events.jsonl", "{\"type\":\"run.start\"}\n{\"type\":\"run.cancel\"}\n"
				   "{\"type\":\"command.done\",\"label\":\"run.kill\"}\n");
	assert_str(seen(NULL, "a", 0), "cancelled");
	put("runs/a/events.jsonl",
		"{\"type\":\"run.cancel\"}\n{\"type\":\"run.kill\"}\n{\"type\":");
	assert_str(seen(NULL, "a", 0), "killed");
	put("runs/a/events.jsonl", "{\"type\":\"run.kill\"}\n{\"type\":\"run.start\"}\n");
	assert_str(seen(NULL, "a", 0), "exited");
}

static void damaged_files_are_told_and_left_out(void **state UNUSED)
{
	put_run("a");
	put("runs/a/result.json", "{\"status\":\"done\"");
	put("runs/a/progress.json", "[]");
	assert_str(seen(NULL, "a", 2), "exited");
	put_result("a", "splendid");
	assert_str(seen(NULL, "a", 2), "exited");
	put("runs/a/run.json", "\xff\xfe");
	assert_str(seen(NULL, "a", 3), "exited");
}

static void a_death_is_written_down(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = { .id = S("a"),
		.generation = S("g1"),
		.status = S("running"),
		.pid = 1,
		.pid_start = 1,
		.boot_id = S("x") };

	put_run("a");
	put("runs/a/progress.json", "{\"phase\":\"running\",\"active\":3,\"completed\":2}");
	assert_true(ledger_put(l, &row, &r));
	assert_str(seen(l, "a", 0), "exited");
	assert_true(ledger_find(l, S("a"), &arena, &row, &r));
	assert_str(row.status, "exited");
	assert_true(row.ended > 0);
	struct str progress = text_of("runs/a/progress.json");
	assert_true(str_contains(progress, S("\"phase\":\"exited\",\"active\":0,\"completed\":2")));
	ledger_close(l);
}

static void an_end_that_the_ledger_missed_is_written_down(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = {
		.id = S("a"), .generation = S("g1"), .status = S("running"), .pid_start = 1
	};

	put_run("a");
	put_result("a", "failed");
	assert_true(ledger_put(l, &row, &r));
	assert_str(seen(l, "a", 0), "failed");
	assert_true(ledger_find(l, S("a"), &arena, &row, &r));
	assert_str(row.status, "failed");
	assert_int_equal(row.code, 4);
	assert_int_equal(row.ended - 1767323046007, 0);
	ledger_close(l);
}

static void a_foreign_run_is_found_and_learnt(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row;

	put_run("a");
	put_result("a", "done");
	assert_str(seen(l, "a", 0), "done");
	assert_true(ledger_find(l, S("a"), &arena, &row, &r));
	assert_str(row.owner, "me");
	assert_true(row.detached);
	ledger_close(l);
}

/* A claim has been made, and the files are those of the generation before it. */
static void a_start_in_progress_does_not_show_old_files(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_CLOSE int lock = -1;
	struct run_row row = { .id = S("a"), .generation = S("g2"), .status = S("starting") };

	put_run("a");
	put_result("a", "done");
	assert_true(ledger_put(l, &row, &r));
	assert_int_equal(run_lock(at("runs/a"), &lock), 0);
	assert_str(seen(l, "a", 0), "running");
	close_fd(&lock);
	/* It came to nothing: what is there counts again. */
	assert_str(seen(l, "a", 0), "done");
	ledger_close(l);
}

static void a_stranger_with_the_same_number_is_not_it(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	/* This very process, but with another start. */
	struct run_row row = { .id = S("a"),
		.generation = S("g1"),
		.status = S("starting"),
		.pid = getpid(),
		.pid_start = 1 };

	put_run("a");
	assert_true(ledger_put(l, &row, &r));
	assert_str(seen(l, "a", 0), "exited");
	ledger_close(l);
}

static void times_are_read_back(void **state UNUSED)
{
	AUTO_JSON *good = json_string("2026-01-02T03:04:05.006Z");
	AUTO_JSON *bad = json_string("2026-01-02 03:04");
	AUTO_JSON *worse = json_string("2026-01-02T03:04:05.Z");

	assert_int_equal(look_time(good) - 1767323045006, 0);
	assert_int_equal(look_time(bad), 0);
	assert_int_equal(look_time(worse), 0);
	assert_int_equal(look_time(NULL), 0);
}

static bool note(void *data, const struct run_row *row)
{
	buf_printf(data, "%.*s:%.*s ", STR(row->id), STR(row->status));
	return true;
}

static bool is_said(const struct report *r, struct str words)
{
	vec_each (i, &r->issues)
		if (str_contains(i->message, words))
			return true;
	return false;
}

static void a_ledger_is_made_anew_from_directories(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF list = BUF_INIT;
	struct rebuilt made;

	put("ledger.db", "this is no ledger at all, it is a letter");
	put_run("a");
	put_result("a", "failed");
	put_run("b");
	put("runs/b/events.jsonl", "{\"type\":\"run.cancel\"}\n");
	put("runs/c/run.json", "broken");
	assert_int_equal(symlink("a", at("runs/latest")), 0);
	assert_true(ledger_rebuild(str_of(root), &made, &r));
	assert_int_equal(made.runs, 2);
	assert_int_equal(made.skipped, 1);
	assert_true(is_said(&r, S("runs/c is not the directory of a run")));
	assert_true(is_there("ledger.db.old"));
	struct ledger *l = opened();
	assert_true(ledger_list(l, NULL, note, &list, &r));
	assert_str(buf_str(&list), "b:cancelled a:failed ");
	ledger_close(l);
}

/* What is there of it tells that it was one. */
static void a_run_without_run_json_is_found(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF list = BUF_INIT;
	AUTO_LOOK look = { 0 };
	struct rebuilt made;

	put("runs/a/start.json", "{\"run\":\"a\",\"generation\":\"g7\",\"created\":5000}");
	put("runs/b/run.json", "");
	put_result("b", "failed");
	put("runs/c/leaves.jsonl", "{}");
	put("runs/d/leaves.jsonl", "");
	put("runs/d/report.md", "it is the recipe's own");
	assert_true(look_at(str_of(root), NULL, S("a"), &look, &r));
	assert_str(look.generation, "g7");
	assert_int_equal(look.row.created, 5000);
	assert_true(ledger_rebuild(str_of(root), &made, &r));
	assert_int_equal(made.runs, 3);
	assert_int_equal(made.skipped, 1);
	struct ledger *l = opened();
	assert_true(ledger_list(l, NULL, note, &list, &r));
	assert_true(str_contains(buf_str(&list), S("a:exited ")));
	assert_true(str_contains(buf_str(&list), S("b:failed ")));
	assert_true(str_contains(buf_str(&list), S("c:exited ")));
	ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(no_directory_is_no_run),
		T(a_link_is_no_run),
		T(a_long_result_is_parsed_once),
		T(a_held_lock_is_a_running_run),
		T(a_process_without_its_lock_is_a_running_run),
		T(who_looks_keeps_the_lock_from_nobody),
		T(a_run_that_ends_meanwhile_has_its_result),
		T(a_result_wins_over_everything),
		T(the_last_word_about_stopping_counts),
		T(damaged_files_are_told_and_left_out),
		T(a_death_is_written_down),
		T(an_end_that_the_ledger_missed_is_written_down),
		T(a_foreign_run_is_found_and_learnt),
		T(a_start_in_progress_does_not_show_old_files),
		T(a_stranger_with_the_same_number_is_not_it),
		T(times_are_read_back),
		T(a_ledger_is_made_anew_from_directories),
		T(a_run_without_run_json_is_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("look", tests, NULL, NULL);
}
