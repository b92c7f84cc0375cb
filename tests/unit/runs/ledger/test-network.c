#include "base/file-system.h"
#include "ledger-root.h"

/* A ledger on a file system that machines share, which is what the test says it is. */

static bool network;

bool __wrap_file_system_is_network(const char *path);
bool __wrap_file_system_is_network(const char *path UNUSED)
{
	return network;
}

static bool all_ended(void *data UNUSED, const struct run_row *current UNUSED)
{
	return true;
}

static void keep(struct ledger *l, const char *id)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = { .id = str_of(id),
		.generation = S("g"),
		.status = S("running"),
		.created = 1,
		.started = 1,
		.pid = 7,
		.pid_start = 5 };
	bool taken;

	assert_true(ledger_claim(l, &row, all_ended, NULL, &taken, &r));
}

static bool has(struct ledger *l, const char *id)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = { 0 };
	bool found = ledger_find(l, str_of(id), &arena, &row, &r);

	assert_int_equal(r.errors, 0);
	return found && str_eq(row.id, str_of(id));
}

/* As its header says. */
static bool has_log(void)
{
	unsigned char head[20] = "";
	FILE *f = fopen(at("ledger.db"), "rb");

	assert_non_null(f);
	assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
	(void)fclose(f);
	return head[18] == 2 && head[19] == 2;
}

static void has_no_log_there(void **state UNUSED)
{
	struct stat st;

	network = true;
	struct ledger *l = opened();
	keep(l, "a");
	assert_int_equal(access(at("ledger.db-wal"), F_OK), -1);
	assert_int_equal(access(at("ledger.db-shm"), F_OK), -1);
	/* It is emptied and stays. */
	assert_int_equal(stat(at("ledger.db-journal"), &st), 0);
	assert_int_equal(st.st_size, 0);
	ledger_close(l);
	assert_false(has_log());
	l = opened();
	keep(l, "b");
	assert_true(has(l, "a") && has(l, "b"));
	assert_int_equal(access(at("ledger.db-journal"), F_OK), 0);
	ledger_close(l);
}

static void has_one_here(void **state UNUSED)
{
	network = false;
	struct ledger *l = opened();
	keep(l, "a");
	assert_int_equal(access(at("ledger.db-wal"), F_OK), 0);
	ledger_close(l);
	assert_true(has_log());
}

static void loses_the_log_that_it_had(void **state UNUSED)
{
	network = false;
	struct ledger *l = opened();
	keep(l, "a");
	ledger_close(l);
	network = true;
	l = opened();
	assert_true(has(l, "a"));
	keep(l, "b");
	ledger_close(l);
	assert_false(has_log());
	assert_int_equal(access(at("ledger.db-wal"), F_OK), -1);
}

static void keeps_the_log_while_another_uses_it(void **state UNUSED)
{
	network = false;
	struct ledger *other = opened();
	keep(other, "a");
	network = true;
	struct ledger *l = opened();
	assert_true(has(l, "a"));
	keep(l, "b");
	assert_true(has(other, "b"));
	keep(other, "c");
	assert_true(has(l, "c"));
	ledger_close(other);
	ledger_close(l);
	assert_true(has_log());
	l = opened();
	assert_true(has(l, "a") && has(l, "b") && has(l, "c"));
	ledger_close(l);
	assert_false(has_log());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(has_no_log_there),
		T(has_one_here),
		T(loses_the_log_that_it_had),
		T(keeps_the_log_while_another_uses_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("ledger on a network file system", tests, NULL, NULL);
}
