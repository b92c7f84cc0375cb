#include "runs/ledger/ledger.h"

#include <poll.h>

#include "ledger-root.h"

static struct run_row row_of(const char *id, const char *generation)
{
	return (struct run_row){ .id = str_of(id),
		.generation = str_of(generation),
		.status = S("running"),
		.created = 1000,
		.started = 1001,
		.pid = 77,
		.pid_start = 5 };
}

static bool all_ended(void *data UNUSED, const struct run_row *current UNUSED)
{
	return true;
}

static bool none_ended(void *data UNUSED, const struct run_row *current UNUSED)
{
	return false;
}

static bool claim(struct ledger *l, const char *id, const char *generation)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = row_of(id, generation);
	bool taken;

	return ledger_claim(l, &row, all_ended, NULL, &taken, &r) && row.seq > 0;
}

static struct run_row found(struct ledger *l, const char *id)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = { 0 };

	(void)ledger_find(l, str_of(id), &arena, &row, &r);
	assert_int_equal(r.errors, 0);
	return row;
}

/* -- opening -------------------------------------------------------------------------------------
 */

static void is_made_for_its_owner_alone(void **state UNUSED)
{
	struct stat st;

	(void)umask(0);
	ledger_close(opened());
	assert_int_equal(stat(at("ledger.db"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(access(at("ledger.db.new"), F_OK), -1);
}

static void looking_makes_nothing(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(ledger_open_existing(str_of(root), LEDGER_USUAL, &r));
	assert_null(ledger_open_existing(S("/nonexistent/root"), LEDGER_USUAL, &r));
	assert_int_equal(r.errors, 0);
	assert_int_equal(access(at("ledger.db"), F_OK), -1);
}

static void assert_refused(const char *message, const char *hint, enum action what)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);

	assert_null(l);
	assert_int_equal(r.errors, 1);
	if (!str_contains(r.issues.at[0].message, str_of(message)) ||
		!str_contains(r.issues.at[0].hint, str_of(hint)) ||
		r.issues.at[0].actions[0].what != what)
		fail_msg("message: %.*s\nhint: %.*s", STR(r.issues.at[0].message),
			STR(r.issues.at[0].hint));
}

static void says_when_it_is_damaged(void **state UNUSED)
{
	AUTO_BUF bytes = BUF_INIT;

	buf_fill(&bytes, 'x', 8192);
	put("ledger.db", buf_cstr(&bytes));
	assert_refused("is damaged", "", ACTION_REBUILD);
}

static void says_when_it_is_of_a_newer_roux(void **state UNUSED)
{
	ledger_close(opened());
	/* user_version stands at offset 60 of the header, big-endian. */
	AUTO_CLOSE int fd = open(at("ledger.db"), O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "\0\0\0\x63", 4, 60), 4);
	assert_refused("newer roux: its schema is 99", "use the newer roux", ACTION_REBUILD);
}

static void an_empty_file_becomes_one(void **state UNUSED)
{
	put("ledger.db", "");
	struct ledger *l = opened();
	assert_true(claim(l, "a", "g1"));
	ledger_close(l);
}

static void says_when_its_directory_cannot_be_written(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	if (geteuid() == 0) {
		print_message("# left out: root may write everywhere\n");
		return;
	}
	assert_int_equal(chmod(root, 0500), 0);
	assert_null(ledger_open(str_of(root), LEDGER_USUAL, &r));
	assert_int_equal(r.errors, 1);
	assert_true(report_has_system(&r));
	assert_int_equal(chmod(root, 0700), 0);
}

/* -- claiming ------------------------------------------------------------------------------------
 */

static void gives_back_what_was_claimed(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = row_of("a", "g1");
	bool taken;

	row.owner = S("session-1");
	row.recipe = S("r\xC3\xA9");
	row.dir = S("/x/runs/a");
	row.detached = true;
	assert_true(ledger_claim(l, &row, none_ended, NULL, &taken, &r));
	ledger_close(l);
	l = opened();
	struct run_row got = found(l, "a");
	assert_str(got.generation, "g1");
	assert_str(got.owner, "session-1");
	assert_bytes(got.recipe, row.recipe);
	assert_str(got.dir, "/x/runs/a");
	assert_str(got.tool, "");
	assert_str(got.status, "running");
	assert_true(got.detached);
	assert_int_equal(got.pid, 77);
	assert_int_equal(got.ended, 0);
	assert_int_equal(got.seq, row.seq);
	assert_str(found(l, "b").id, "");
	ledger_close(l);
}

static void a_live_name_is_refused_with_a_hint(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = row_of("a", "g2");
	bool taken;

	assert_true(claim(l, "a", "g1"));
	assert_false(ledger_claim(l, &row, none_ended, NULL, &taken, &r));
	assert_true(taken);
	assert_int_equal(r.errors, 1);
	assert_int_equal(r.issues.at[0].actions[0].what, ACTION_WAIT);
	assert_str(found(l, "a").generation, "g1");
	ledger_close(l);
}

/* By its own process, and by one that has found its directory before. */
static void a_run_that_has_begun_is_entered_once(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = opened(), *other = opened();
	struct run_row own = row_of("a", "g1"), seen = own;

	assert_true(ledger_enter(l, &own, &r));
	assert_true(ledger_put(other, &seen, &r));
	assert_true(own.seq > 0 && found(other, "a").seq == own.seq);
	seen = row_of("b", "g1");
	seen.started = 0;
	assert_true(ledger_put(other, &seen, &r));
	own = row_of("b", "g1");
	assert_true(ledger_enter(l, &own, &r));
	assert_int_equal(own.seq, seen.seq);
	assert_int_equal(found(other, "b").started, 1001);
	own.status = S("done");
	own.ended = 1005;
	assert_true(ledger_update(l, &own, true, &r));
	assert_true(str_eq(found(other, "b").status, S("done")));
	assert_int_equal(r.errors, 0);
	ledger_close(other);
	ledger_close(l);
}

static void is_ready_when_this_roux_can_use_it(void **state UNUSED)
{
	struct ledger *l;

	assert_false(ledger_is_ready(str_of(root)));
	ledger_close(opened());
	assert_true(ledger_is_ready(str_of(root)));
	l = opened();
	assert_true(ledger_is_ready(str_of(root)));
	ledger_close(l);
	/* Its log could not be made beside it; root could. */
	bool super = geteuid() == 0;
	assert_int_equal(chmod(root, 0500), 0);
	if (super) {
		assert_int_equal(chown(root, 65534, 65534), 0);
		assert_int_equal(chown(at("ledger.db"), 65534, 65534), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	assert_false(ledger_is_ready(str_of(root)));
	assert_int_equal(super ? seteuid(0) : 0, 0);
	assert_int_equal(chmod(root, 0700), 0);
	put("ledger.db", "");
	assert_false(ledger_is_ready(str_of(root)));
	put("ledger.db", arena_printf(&arena, "SQLite format 3%*s", 200, "").p);
	assert_false(ledger_is_ready(str_of(root)));
	assert_false(ledger_is_ready(S("/nonexistent/root")));
}

static void an_ended_name_starts_afresh(void **state UNUSED)
{
	struct ledger *l = opened();

	assert_true(claim(l, "a", "g1"));
	assert_true(claim(l, "a", "g2"));
	assert_str(found(l, "a").generation, "g2");
	ledger_close(l);
}

static void a_claim_can_be_taken_back(void **state UNUSED)
{
	struct ledger *l = opened();
	struct run_row second = row_of("a", "g2"), alone = row_of("b", "g1");

	assert_true(claim(l, "a", "g1"));
	assert_true(claim(l, "a", "g2"));
	assert_true(claim(l, "b", "g1"));
	ledger_unclaim(l, &second);
	assert_str(found(l, "a").generation, "g1");
	ledger_unclaim(l, &alone);
	assert_str(found(l, "b").id, "");
	ledger_close(l);
}

/* One process: opens, waits for the word, claims. 0: it won, 1: taken, 2: something else. */
static int contend(int go)
{
	AUTO_REPORT r = REPORT_INIT;
	char generation[32];
	bool taken = false;
	struct pollfd p = { .fd = go, .events = POLLIN };

	(void)snprintf(generation, sizeof(generation), "g%d", getpid());
	struct run_row row = row_of("a", generation);
	(void)poll(&p, 1, -1);
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);
	int result = !l                                                    ? 2
		     : ledger_claim(l, &row, none_ended, NULL, &taken, &r) ? 0
		     : taken                                               ? 1
									   : 2;
	ledger_close(l);
	if (result == 2) {
		AUTO_BUF why = BUF_INIT;

		report_text(&r, ~0U, &why);
		(void)fprintf(stderr, "# %s", buf_cstr(&why));
	}
	return result;
}

/* They also make the ledger, all at once. */
static void of_a_hundred_starts_exactly_one_wins(void **state UNUSED)
{
	int go[2], results[3] = { 0 };
	pid_t pids[100];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			(void)close(go[1]);
			_exit(contend(go[0]));
		}
	}
	(void)close(go[0]);
	(void)close(go[1]);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 3);
		results[WEXITSTATUS(status)]++;
	}
	assert_int_equal(results[0], 1);
	assert_int_equal(results[1], 99);
	assert_int_equal(results[2], 0);
}

/* -- what becomes of it --------------------------------------------------------------------------
 */

static void remembers_the_end_and_who_asked_for_it(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = row_of("a", "g1");

	assert_true(claim(l, "a", "g1"));
	row.handled = S("run.cancel");
	row.status = S("cancelled");
	row.ended = 2000;
	assert_true(ledger_update(l, &row, true, &r));
	assert_str(found(l, "a").status, "cancelled");
	assert_str(found(l, "a").handled, "run.cancel");
	assert_int_equal(found(l, "a").ended, 2000);
	/* Resumed: nobody has asked for the coming end. */
	row.status = S("running");
	row.handled = S("");
	row.ended = 0;
	assert_true(ledger_update(l, &row, false, &r));
	assert_str(found(l, "a").handled, "");
	assert_int_equal(found(l, "a").ended, 0);
	ledger_close(l);
}

static void corrects_only_what_was_seen(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;

	assert_true(claim(l, "a", "g1"));
	struct run_row seen = found(l, "a");
	struct run_row resumed = row_of("a", "g1");
	struct run_row ended = { .status = S("exited"), .ended = 3000 };
	resumed.pid_start = 6;
	assert_true(ledger_update(l, &resumed, false, &r));
	assert_true(ledger_correct(l, &seen, &ended, &r));
	assert_str(found(l, "a").status, "running");
	seen = found(l, "a");
	assert_true(ledger_correct(l, &seen, &ended, &r));
	assert_str(found(l, "a").status, "exited");
	ledger_close(l);
}

static bool note(void *data, const struct run_row *row)
{
	struct buf *b = data;

	buf_printf(b, "%.*s ", STR(row->id));
	return b->len < 20;
}

static void lists_current_generations_newest_first(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF seen = BUF_INIT;

	assert_true(claim(l, "a", "g1"));
	assert_true(claim(l, "b", "g1"));
	assert_true(claim(l, "c", "g1"));
	assert_true(claim(l, "a", "g2"));
	assert_true(ledger_forget(l, S("b"), &r));
	assert_true(ledger_list(l, NULL, note, &seen, &r));
	assert_str(buf_str(&seen), "a c ");
	assert_str(found(l, "a").generation, "g2");
	assert_str(found(l, "b").id, "");
	ledger_close(l);
}

static bool note_page(void *data, const struct run_row *row)
{
	struct buf *b = data;

	buf_printf(b, "%.*s%d ", STR(row->id), (int)row->seq);
	return true;
}

static struct str page(struct ledger *l, struct ledger_filter f)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF seen = BUF_INIT;

	assert_true(ledger_list(l, &f, note_page, &seen, &r));
	assert_int_equal(r.issues.len, 0);
	return arena_str(&arena, buf_str(&seen));
}

static void put_row(
	struct ledger *l, const char *id, const char *owner, const char *status, uint64_t started)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = row_of(id, "g1");
	bool taken;

	row.generation = arena_printf(&arena, "g%d", (int)started);
	row.owner = str_of(owner);
	row.status = str_of(status);
	row.started = started;
	assert_true(ledger_claim(l, &row, all_ended, NULL, &taken, &r));
}

static void lists_what_a_filter_lets_through_page_by_page(void **state UNUSED)
{
	struct ledger *l = opened();

	put_row(l, "a", "me", "done", 100);
	put_row(l, "b", "", "failed", 200);
	put_row(l, "c", "me", "failed", 300);
	put_row(l, "d", "you", "done", 400);
	put_row(l, "e", "me", "starting", 0);
	put_row(l, "a", "me", "done", 500);
	assert_str(page(l, (struct ledger_filter){ 0 }), "a6 e5 d4 c3 b2 ");
	assert_str(page(l, (struct ledger_filter){ .limit = 2 }), "a6 e5 ");
	assert_str(page(l, (struct ledger_filter){ .limit = 2, .before = 5 }), "d4 c3 ");
	assert_str(page(l, (struct ledger_filter){ .limit = 2, .before = 3 }), "b2 ");
	assert_str(page(l, (struct ledger_filter){ .before = 2 }), "");
	assert_str(page(l, (struct ledger_filter){ .owner = S("me") }), "a6 e5 c3 ");
	/* One that is being started, or runs, may have ended meanwhile. */
	assert_str(page(l, (struct ledger_filter){ .status = S("done") }), "a6 e5 d4 ");
	assert_str(page(l, (struct ledger_filter){ .owner = S("me"), .status = S("failed") }),
		"e5 c3 ");
	assert_str(
		page(l, (struct ledger_filter){ .status = S("done,failed") }), "a6 e5 d4 c3 b2 ");
	assert_str(page(l, (struct ledger_filter){ .status = S("one") }), "e5 ");
	assert_str(page(l, (struct ledger_filter){ .until = 300 }), "c3 b2 ");
	assert_str(page(l,
			   (struct ledger_filter){
				   .since = 200, .until = 400, .status = S("failed") }),
		"c3 b2 ");
	assert_str(page(l, (struct ledger_filter){ .detached = 1 }), "");
	assert_str(page(l, (struct ledger_filter){ .detached = -1, .limit = 2 }), "a6 e5 ");
	assert_str(page(l, (struct ledger_filter){ .any = S("d") }), "d4 ");
	assert_str(page(l, (struct ledger_filter){ .prefix = S("d") }), "d4 ");
	assert_str(page(l, (struct ledger_filter){ .match = S("%") }), "");
	assert_str(page(l, (struct ledger_filter){ .generations = true, .before = 3 }), "b2 a1 ");
	/* What is being started has not begun at any time yet. */
	assert_str(page(l, (struct ledger_filter){ .since = 300 }), "a6 e5 d4 c3 ");
	assert_str(
		page(l, (struct ledger_filter){ .since = 301, .limit = 5, .before = 6 }), "e5 d4 ");
	assert_str(page(l, (struct ledger_filter){ .owner = S("nobody") }), "");
	ledger_close(l);
}

static void putting_twice_changes_nothing(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF seen = BUF_INIT;
	struct run_row row = row_of("a", "g1");

	assert_true(ledger_put(l, &row, &r));
	row.status = S("done");
	assert_true(ledger_put(l, &row, &r));
	assert_true(ledger_list(l, NULL, note, &seen, &r));
	assert_str(buf_str(&seen), "a ");
	assert_str(found(l, "a").status, "running");
	ledger_close(l);
}

static void takes_the_leaves_of_a_file_again_and_again(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;

	assert_true(claim(l, "a", "g1"));
	put("leaves.jsonl", "{\"p\":\"0\",\"a\":1,\"s\":\"start\",\"pid\":3,\"st\":4,\"ts\":5}\n"
			    "{\"p\":\"0\",\"a\":1,\"s\":\"exit\",\"code\":0,\"sig\":0,\"ts\":6}\n"
			    "nonsense\n[1]\n{\"p\":\"1\",\"a\":1,\"s\":\"sta");
	for (int i = 0; i < 2; i++)
		assert_true(ledger_add_leaves(l, S("a"), S("g1"), at("leaves.jsonl"), &r));
	assert_true(ledger_add_leaves(l, S("a"), S("g1"), at("none"), &r));
	assert_int_equal(r.errors, 0);
	ledger_close(l);
}

static void two_connections_see_each_other(void **state UNUSED)
{
	struct ledger *one = opened(), *two = opened();

	assert_true(claim(one, "a", "g1"));
	assert_str(found(two, "a").generation, "g1");
	assert_true(claim(two, "a", "g2"));
	assert_str(found(one, "a").generation, "g2");
	ledger_close(one);
	ledger_close(two);
}

static void launches_are_counted_until_the_recipe_changes(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_usage u = { 0 };

	assert_false(ledger_usage(l, S("/r.yaml"), &arena, &u, &r));
	assert_true(ledger_count(l, S("/r.yaml"), S("one"), 1000, &r));
	assert_true(ledger_count(l, S("/r.yaml"), S("one"), 2000, &r));
	assert_true(ledger_count(l, S("/other.md"), S("x"), 2500, &r));
	assert_true(ledger_usage(l, S("/r.yaml"), &arena, &u, &r));
	assert_int_equal(u.calls, 2);
	assert_int_equal(u.last_called, 2000);
	assert_int_equal(u.reset_at, 0);
	assert_true(ledger_count(l, S("/r.yaml"), S("two"), 3000, &r));
	assert_true(ledger_usage(l, S("/r.yaml"), &arena, &u, &r));
	assert_int_equal(u.calls, 1);
	assert_int_equal(u.reset_at, 3000);
	assert_str(u.fingerprint, "two");
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(is_made_for_its_owner_alone),
		T(looking_makes_nothing),
		T(says_when_it_is_damaged),
		T(says_when_it_is_of_a_newer_roux),
		T(an_empty_file_becomes_one),
		T(says_when_its_directory_cannot_be_written),
		T(gives_back_what_was_claimed),
		T(a_live_name_is_refused_with_a_hint),
		T(a_run_that_has_begun_is_entered_once),
		T(is_ready_when_this_roux_can_use_it),
		T(an_ended_name_starts_afresh),
		T(a_claim_can_be_taken_back),
		T(of_a_hundred_starts_exactly_one_wins),
		T(remembers_the_end_and_who_asked_for_it),
		T(corrects_only_what_was_seen),
		T(lists_current_generations_newest_first),
		T(lists_what_a_filter_lets_through_page_by_page),
		T(putting_twice_changes_nothing),
		T(takes_the_leaves_of_a_file_again_and_again),
		T(two_connections_see_each_other),
		T(launches_are_counted_until_the_recipe_changes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
