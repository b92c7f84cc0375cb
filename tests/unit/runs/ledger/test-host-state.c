#include "runs/ledger/host-state.h"

#include "ledger-root.h"

#define HOST S("chat")

static void set(struct ledger *l, struct str host, const char *key, struct str value)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_true(ledger_state_set(l, host, str_of(key), value, &r));
	assert_int_equal(r.issues.len, 0);
}

static struct str got(struct ledger *l, struct str host, const char *key)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str value = S("(none)");

	(void)ledger_state_get(l, host, str_of(key), &arena, &value, &r);
	assert_int_equal(r.issues.len, 0);
	return value;
}

static void remembers_bytes_for_each_host(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;

	set(l, HOST, "offset", S("41"));
	set(l, HOST, "offset", S("42"));
	set(l, HOST, "bytes", S("\0\xff\n"));
	set(l, HOST, "empty", S(""));
	set(l, HOST, "", S("of the empty key"));
	set(l, S("mcp"), "offset", S("7"));
	ledger_close(l);
	l = opened();
	assert_str(got(l, HOST, "offset"), "42");
	assert_bytes(got(l, HOST, "bytes"), S("\0\xff\n"));
	assert_str(got(l, HOST, "empty"), "");
	assert_str(got(l, HOST, ""), "of the empty key");
	assert_str(got(l, S("mcp"), "offset"), "7");
	assert_str(got(l, S("mcp"), "empty"), "(none)");
	assert_true(ledger_state_delete(l, HOST, S("offset"), &r));
	assert_false(ledger_state_delete(l, HOST, S("offset"), &r));
	assert_str(got(l, HOST, "offset"), "(none)");
	assert_str(got(l, S("mcp"), "offset"), "7");
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

static void swaps_only_what_is_as_expected(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct str one = S("one"), two = S("two"), empty = S("");

	assert_false(ledger_state_swap(l, HOST, S("k"), &one, two, &r));
	assert_false(ledger_state_swap(l, HOST, S("k"), &empty, two, &r));
	assert_true(ledger_state_swap(l, HOST, S("k"), NULL, one, &r));
	assert_false(ledger_state_swap(l, HOST, S("k"), NULL, two, &r));
	assert_str(got(l, HOST, "k"), "one");
	assert_true(ledger_state_swap(l, HOST, S("k"), &one, two, &r));
	assert_false(ledger_state_swap(l, HOST, S("k"), &one, two, &r));
	assert_str(got(l, HOST, "k"), "two");
	assert_true(ledger_state_swap(l, HOST, S("k"), &two, empty, &r));
	assert_true(ledger_state_swap(l, HOST, S("k"), &empty, one, &r));
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

static bool note(void *data, struct str key, struct str value)
{
	struct buf *b = data;

	buf_printf(b, "%.*s=%.*s ", STR(key), STR(value));
	return !str_eq(value, S("stop"));
}

static struct str listed(struct ledger *l, const char *prefix)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	assert_true(ledger_state_each(l, HOST, str_of(prefix), note, &b, &r));
	assert_int_equal(r.issues.len, 0);
	return arena_str(&arena, buf_str(&b));
}

static void lists_keys_by_prefix_in_order(void **state UNUSED)
{
	struct ledger *l = opened();

	set(l, HOST, "button/2", S("b"));
	set(l, HOST, "button/10", S("a"));
	set(l, HOST, "buttons", S("x"));
	set(l, HOST, "button", S("w"));
	set(l, HOST, "\xff", S("last"));
	set(l, S("chat2"), "button/3", S("theirs"));
	assert_str(listed(l, "button/"), "button/10=a button/2=b ");
	assert_str(listed(l, ""), "button=w button/10=a button/2=b buttons=x \xff=last ");
	assert_str(listed(l, "\xff"), "\xff=last ");
	assert_str(listed(l, "none"), "");
	set(l, HOST, "button/10", S("stop"));
	assert_str(listed(l, "button/"), "button/10=stop ");
	ledger_close(l);
}

static void refuses_more_than_its_limits(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF large = BUF_INIT;
	struct str before = S("before");

	set(l, HOST, "k", before);
	buf_fill(&large, 'x', LEDGER_VALUE_MAX);
	set(l, HOST, "large", buf_str(&large));
	assert_int_equal(got(l, HOST, "large").len, LEDGER_VALUE_MAX);
	buf_adds(&large, "x");
	assert_false(ledger_state_set(l, HOST, S("k"), buf_str(&large), &r));
	assert_said(&r, "a value of 1048577 bytes is too large for the ledger: at most 1048576");
	report_reset(&r);
	assert_false(ledger_state_swap(l, HOST, S("k"), &before, buf_str(&large), &r));
	assert_said(&r, "too large");
	report_reset(&r);
	assert_false(ledger_state_set(l, HOST, str_sub(buf_str(&large), 0, 1025), S(""), &r));
	assert_said(&r, "a key of 1025 bytes is too long");
	report_reset(&r);
	assert_false(ledger_state_set(l, S(""), S("k"), S(""), &r));
	assert_said(&r, "name of a host");
	assert_str(got(l, HOST, "k"), "before");
	ledger_close(l);
}

enum { PROCESSES = 6, EACH = 50 };

/* Counts up EACH times, by swapping until it worked. */
static int count(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);

	for (int i = 0; l && i < EACH && !r.issues.len;) {
		struct str now;
		int64_t n = 0;
		bool known = ledger_state_get(l, HOST, S("n"), &a, &now, &r);

		if (known)
			(void)str_to_int(now, &n);
		i += ledger_state_swap(l, HOST, S("n"), known ? &now : NULL,
			arena_printf(&a, "%d", (int)n + 1), &r);
		arena_reset(&a);
	}
	ledger_close(l);
	arena_done(&a);
	return l && !r.issues.len ? 0 : 1;
}

static void swaps_of_many_processes_lose_nothing(void **state UNUSED)
{
	pid_t pids[PROCESSES];

	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(count());
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	struct ledger *l = opened();
	assert_str(got(l, HOST, "n"), "300");
	ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(remembers_bytes_for_each_host),
		T(swaps_only_what_is_as_expected),
		T(lists_keys_by_prefix_in_order),
		T(refuses_more_than_its_limits),
		T(swaps_of_many_processes_lose_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host-state", tests, NULL, NULL);
}
