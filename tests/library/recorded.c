/* Recorded, detached and other processes' runs, through the public header alone. The argument is
 * the roux program. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roux/roux.h>

#include "../unit/unit.h"

static const char *program;
static char home[64]; /* agent and state directories of all tests */

static struct roux_options options_of(void)
{
	return (struct roux_options){ .size = sizeof(struct roux_options), .agent_dir = home };
}

static struct roux *context(void)
{
	struct roux_options o = options_of();

	return roux_new(&o);
}

static struct roux_start recorded_as(const char *name)
{
	return (struct roux_start){ .size = sizeof(struct roux_start),
		.record = true,
		.as = name,
		.stdin_fd = -1,
		.stdout_fd = -1 };
}

static struct roux_plan *plan_named(
	struct roux *r, const char *name, const char *text, const char *values)
{
	struct roux_recipe *recipe = roux_load_text(r, name, text, strlen(text));
	struct roux_plan *plan = roux_plan_new(r, recipe, values);

	roux_recipe_free(recipe);
	if (!plan)
		fail_msg("%s", roux_errors_text(r));
	return plan;
}

static struct roux_run *start_plan(struct roux *r, struct roux_plan *plan,
	const struct roux_start *how, roux_event_fn *fn, void *data)
{
	struct roux_run *run = roux_run_start(plan, how, fn, data);

	roux_plan_free(plan);
	if (!run)
		fail_msg("%s", roux_errors_text(r));
	return run;
}

static struct roux_run *start(struct roux *r, const char *text, const struct roux_start *how,
	roux_event_fn *fn, void *data)
{
	return start_plan(r, plan_named(r, "t", text, NULL), how, fn, data);
}

/* A file of a run's directory; empty: there is none. */
static const char *file_of(const char *run, const char *name)
{
	static char text[65536];
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/roux/runs/%s/%s", home, run, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* What a shell prints that has roux as $0 and finds the same runs. */
static const char *shell(const char *command)
{
	static char text[16384];
	char line[2048];

	(void)snprintf(line, sizeof(line),
		"PI_CODING_AGENT_DIR=%s; export PI_CODING_AGENT_DIR; roux() { '%s' \"$@\"; }; "
		"{ %s; } 2>&1",
		home, program, command);
	FILE *f = popen(line, "re");
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	(void)pclose(f);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no '%s' in: %s", part, text ? text : "NULL");
}

struct told {
	char types[4096];
	uint64_t last;
	const char *cancel_at; /* the type at which the run is cancelled */
	bool gaps;
};

static void on_event(struct roux_run *run, const struct roux_event *e, void *data)
{
	struct told *t = data;

	t->gaps |= e->seq != t->last + 1;
	t->last = e->seq;
	if (strlen(t->types) + strlen(e->type) + 2 < sizeof(t->types)) {
		strcat(t->types, e->type);
		strcat(t->types, " ");
	}
	if (t->cancel_at && strcmp(e->type, t->cancel_at) == 0)
		assert_true(roux_run_cancel(run));
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* -- in this process -----------------------------------------------------------------------------
 */

static void a_recorded_run_is_that_of_roux_run(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("first");
	struct told t = { 0 };
	struct roux_run *run = start(r, "[\"echo {run_id}\",\"cat\"]", &how, on_event, &t);

	assert_string_equal(roux_run_id(run), "first");
	assert_string_equal(t.types, ""); /* nothing is told before a turn */
	has(shell("roux status first --json"), "\"status\":\"running\"");
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_string_equal(t.types, "run.start command.start command.done command.start "
				     "command.done node.done run.done ");
	assert_false(t.gaps);
	has(roux_run_result(run), "\"run\":\"first\"");
	has(roux_run_result(run), "\"stdout\":\"first\\n\"");
	/* Its name, its files and its row are as others expect them. */
	assert_string_equal(file_of("first", "stdout.log"), "first\n");
	has(file_of("first", "run.json"), "\"launch\": \"library\"");
	has(file_of("first", "leaves.jsonl"), "\"s\":\"exit\"");
	has(file_of("first", "result.json"), "\"status\":\"done\"");
	has(shell("roux status first --json"), "\"status\":\"done\"");
	has(shell("roux resume first"), "first\n");
	has(roux_status_json(r, "first"), "\"status\":\"done\"");
	has(roux_status_json(r, "run:first"), "\"dir\":");
	has(roux_runs_json(r), "\"run\":\"first\"");
	roux_run_free(run);
	roux_free(r);
}

static void a_name_is_taken_only_while_its_run_lives(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("taken");
	struct roux_plan *plan = plan_named(r, "t", "tail -f /dev/null", NULL);
	struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);

	assert_non_null(run);
	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "run 'taken' is running");
	assert_int_equal(roux_turn(r, 0), 1);
	assert_true(roux_run_cancel(run));
	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	/* The first one is not freed yet. */
	struct roux_run *next = start(r, "echo again", &how, NULL, NULL);
	assert_int_equal(roux_run_wait(next), ROUX_DONE);
	has(roux_run_result(run), "\"status\":\"cancelled\"");
	roux_run_free(run);
	roux_run_free(next);
	roux_plan_free(plan);
	roux_free(r);
}

static void a_run_without_a_name_gets_one(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as(NULL);
	struct roux_run *a = start(r, "echo a", &how, NULL, NULL);
	struct roux_run *b = start(r, "echo b", &how, NULL, NULL);

	assert_int_equal(strncmp(roux_run_id(a), "run-20", 6), 0);
	assert_string_not_equal(roux_run_id(a), roux_run_id(b));
	assert_int_equal(roux_run_wait(a), ROUX_DONE);
	assert_int_equal(roux_run_wait(b), ROUX_DONE);
	roux_run_free(a);
	roux_run_free(b);
	roux_free(r);
}

static void made_names_never_meet(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_plan *plan = plan_named(r, "t", "true", NULL);
	struct roux_start how = recorded_as(NULL);

	/* The digits have 16 bits: without care one in ten such tests would fail. */
	for (int i = 0; i < 120; i++) {
		struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);

		if (!run)
			fail_msg("%d: %s", i, roux_errors_text(r));
		assert_int_equal(roux_run_wait(run), ROUX_DONE);
		assert_string_equal(file_of(roux_run_id(run), "generations/1/run.json"), "");
		roux_run_free(run);
	}
	roux_plan_free(plan);
	roux_free(r);
}

static void what_cannot_be_is_said(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_plan *plan = plan_named(r, "t", "echo {run_id}", NULL);
	struct roux_start how = recorded_as("../x");

	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "is not a name for a run");
	how = recorded_as("name");
	how.record = false;
	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "a run that is not recorded has no name");
	how.as = NULL;
	how.detach = true;
	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "a run that is not recorded cannot be detached");
	how = recorded_as(NULL);
	how.size = 0;
	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "the size of struct roux_start is 0");
	how = recorded_as(NULL);
	how.stdin_fd = 1000;
	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "stdin_fd is 1000");
	/* The plan is right, but only a recorded run has an id. */
	has(roux_plan_json(plan), "[\"echo\",\"{run_id}\"]");
	assert_null(roux_run_start(plan, NULL, NULL, NULL));
	has(roux_errors_text(r), "no value for 'run_id'");
	assert_null(roux_run_open(r, "nobody", NULL, NULL));
	has(roux_errors_text(r), "there is no run 'nobody'");
	assert_null(roux_status_json(r, "nobody"));
	has(roux_errors_json(r), "there is no run 'nobody'");
	assert_null(roux_run_open(r, "a b", NULL, NULL));
	assert_null(roux_run_open(r, NULL, NULL, NULL));
	assert_int_equal(roux_turn(r, 0), 0);
	roux_plan_free(plan);
	roux_free(r);
}

static void what_failed_may_be_handed_on(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_recipe *none = roux_load(r, "there-is-no-such-recipe");

	assert_null(none);
	assert_false(roux_check(r, none));
	struct roux_plan *plan = roux_plan_new(r, none, NULL);
	struct roux_run *run = roux_run_start(plan, NULL, NULL, NULL);
	assert_null(run);
	assert_int_equal(roux_run_wait(run), ROUX_INVALID);
	assert_int_equal(roux_run_status(run), ROUX_INVALID);
	assert_null(roux_run_result(run));
	assert_null(roux_run_id(run));
	assert_null(roux_plan_json(plan));
	assert_false(roux_run_cancel(run));
	assert_false(roux_run_kill(run));
	has(roux_errors_text(r), "there is no recipe 'there-is-no-such-recipe'");
	assert_null(roux_load(r, NULL));
	has(roux_errors_text(r), "nothing to load");
	roux_free(r);
	assert_null(roux_load(NULL, "echo a"));
	assert_string_equal(roux_errors_json(NULL), "[]");
	assert_string_equal(roux_errors_text(NULL), "");
	assert_int_equal(roux_fd(NULL), -1);
	assert_true(roux_turn(NULL, 0) < 0);
	roux_wake(NULL);
}

static void a_callback_may_cancel_at_the_very_first_event(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("early");
	struct told t = { .cancel_at = "run.start" };
	struct roux_run *run = start(r, "tail -f /dev/null", &how, on_event, &t);

	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	has(t.types, "run.start run.cancel ");
	assert_false(t.gaps);
	roux_run_free(run);
	t = (struct told){ .cancel_at = "run.start" };
	run = start(r, "tail -f /dev/null", NULL, on_event, &t);
	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	assert_false(t.gaps);
	roux_run_free(run);
	roux_free(r);
}

static void input_is_kept_and_output_is_written(void **state UNUSED)
{
	struct roux *r = context();
	int in[2], out[2];
	char got[16] = "";

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(write(in[1], "given", 5), 5);
	(void)close(in[1]);
	struct roux_start how = recorded_as("kept");
	how.stdin_fd = in[0];
	how.stdout_fd = out[1];
	struct roux_run *run = start(r, "tr a-z A-Z", &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_int_equal(read(out[0], got, sizeof(got) - 1), 5);
	assert_string_equal(got, "GIVEN");
	assert_string_equal(file_of("kept", "stdin"), "given");
	roux_run_free(run);
	(void)close(in[0]);
	(void)close(out[0]);
	(void)close(out[1]);
	roux_free(r);
}

static void input_that_nobody_reads_may_outlive_its_run(void **state UNUSED)
{
	struct roux *r = context();
	int in[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	struct roux_start how = recorded_as("unread");
	how.stdin_fd = in[0];
	struct roux_run *run = start(r, "true", &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_int_equal(write(in[1], "late", 4), 4);
	(void)close(in[1]);
	struct roux_run *other = start(r, "sleep 0.05", NULL, NULL, NULL);
	assert_int_equal(roux_run_wait(other), ROUX_DONE);
	roux_run_free(other);
	/* What was made from a context may be freed after it. */
	struct roux_plan *plan = plan_named(r, "t", "echo a", NULL);
	roux_free(r);
	has(roux_plan_json(plan), "echo");
	roux_plan_free(plan);
	has(roux_run_result(run), "\"done\"");
	roux_run_free(run);
	(void)close(in[0]);
}

static void others_can_end_it_and_the_host_lives_on(void **state UNUSED)
{
	struct roux *r = context();
	const struct {
		const char *name, *command, *status;
		enum roux_status end;
	} all[] = {
		{ "ended", "roux cancel ended", "cancelled", ROUX_CANCELLED },
		{ "struck", "roux kill struck", "killed", ROUX_KILLED },
		{ "gentle", "roux cancel --graceful gentle", "cancelled", ROUX_CANCELLED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct roux_start how = recorded_as(all[i].name);
		char path[128], line[256], gently[512];

		/* Ends by itself once the order is known. Its own words, which are in the file too,
		 * do not match. */
		(void)snprintf(gently, sizeof(gently),
			"[\"sh -c 'until grep -q run.[c]ancel %s/roux/runs/gentle/events.jsonl; "
			"do sleep 0.02; done'\",\"echo no\"]",
			home);
		struct roux_run *run =
			start(r, i == 2 ? gently : "tail -f /dev/null", &how, NULL, NULL);
		assert_int_equal(roux_turn(r, 0), 1);
		(void)snprintf(path, sizeof(path), "%s/said", home);
		(void)mkfifo(path, 0600);
		/* Open for both on both sides, so that the shell also ends when this test fails
		 * before it reads: it would wait for a reader, and hold our standard error. */
		int said = open(path, O_RDWR | O_CLOEXEC);
		(void)snprintf(line, sizeof(line),
			"(said=$(%s 2>&1); echo $said 1<>%s) >/dev/null 2>&1 & true",
			all[i].command, path);
		(void)shell(line);
		assert_int_equal(roux_run_wait(run), all[i].end);
		/* It answers when nothing is left of the run, and not before. */
		ssize_t n = read(said, line, sizeof(line) - 1);
		line[MAX(n, 0)] = '\0';
		(void)close(said);
		has(line, all[i].status);
		has(file_of(all[i].name, "result.json"), all[i].status);
		roux_run_free(run);
	}
	roux_free(r);
}

static void messages_of_others_are_noticed(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("told");
	struct told t = { .cancel_at = "run.message" };
	struct roux_run *run = start(r, "tail -f /dev/null", &how, on_event, &t);

	assert_int_equal(roux_turn(r, 0), 1);
	has(shell("roux message told note '\"hello\"'"), "queued");
	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	has(file_of("told", "inbox.jsonl"), "hello");
	roux_run_free(run);
	roux_free(r);
}

static void nothing_is_left_open(void **state UNUSED)
{
	int before = open_descriptors();

	for (int i = 0; i < 3; i++) {
		struct roux *r = context();
		struct roux_start how = recorded_as("leak");
		struct roux_run *run = start(r, "echo a", &how, NULL, NULL);

		assert_int_equal(roux_run_wait(run), ROUX_DONE);
		roux_run_free(run);
		how.detach = true;
		run = start(r, "echo a", &how, NULL, NULL);
		assert_int_equal(roux_run_wait(run), ROUX_DONE);
		roux_run_free(run);
		assert_null(roux_run_open(r, "nobody", NULL, NULL));
		roux_free(r);
	}
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* -- recipes -------------------------------------------------------------------------------------
 */

static const char greet[] =
	"---\nargs: name, times:int=1\n---\n\n```json\n\"echo hello {name}\"\n```\n";

static const char steps[] = "name: s\ndescription: d\nversion: 1.0.0\nsteps:\n"
			    "  - {id: a, type: bash, command: 'echo {{who}}', output: x}\n";

static const char gate[] = "name: g\ndescription: d\nversion: 1.0.0\nstages:\n"
			   "  - name: draft\n    steps: [{id: a, type: bash, command: 'true'}]\n"
			   "    approval: {required: true, prompt: Good?}\n";

static void a_recipe_knows_its_arguments(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_recipe *recipe = roux_load_text(r, "greet.md", greet, strlen(greet));

	assert_non_null(recipe);
	assert_true(roux_check(r, recipe));
	assert_null(roux_plan_new(r, recipe, "{\"nam\":\"x\"}"));
	has(roux_errors_text(r), "did you mean 'name'?");
	assert_null(roux_plan_new(r, recipe, "{\"name\":\"x\",\"times\":\"often\"}"));
	struct roux_plan *plan = roux_plan_new(r, recipe, "{\"name\":\"you\"}");
	roux_recipe_free(recipe);
	struct roux_start how = recorded_as(NULL);
	struct roux_run *run = start_plan(r, plan, &how, NULL, NULL);
	assert_int_equal(strncmp(roux_run_id(run), "greet-20", 8), 0);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	has(roux_run_result(run), "hello you");
	roux_run_free(run);
	/* … and runs without a record. */
	run = start_plan(
		r, plan_named(r, "greet.md", greet, "{\"name\":\"you\"}"), NULL, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_null(roux_run_id(run));
	roux_run_free(run);
	roux_free(r);
}

static void a_step_recipe_gets_its_values_with_the_plan(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_recipe *recipe = roux_load_text(r, "s.yaml", steps, strlen(steps));
	struct roux_start how = recorded_as("steps");

	assert_non_null(recipe);
	assert_false(roux_check(r, recipe)); /* without values it cannot run */
	has(roux_errors_text(r), "{{who}}");
	assert_null(roux_plan_new(r, recipe, NULL));
	struct roux_plan *plan = roux_plan_new(r, recipe, "{\"who\":\"me\"}");
	assert_non_null(plan);
	assert_null(roux_run_start(plan, NULL, NULL, NULL));
	has(roux_errors_text(r), "a step recipe cannot run without a record");
	roux_recipe_free(recipe);
	struct roux_run *run = start_plan(r, plan, &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	has(roux_run_result(run), "\"x\":\"me\\n\"");
	roux_run_free(run);
	how = recorded_as("gate");
	run = start_plan(r, plan_named(r, "g.yaml", gate, NULL), &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_PAUSED);
	has(roux_run_result(run), "\"pending_approval\":{\"stage\":\"draft\"");
	has(shell("ROUX_RUN=gate roux approve gate"), "cannot answer for it");
	has(shell("roux approve gate && roux resume -q gate && echo went on"), "went on");
	roux_run_free(run);
	roux_free(r);
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static void paths_are_meant_from_the_directory_of_the_context(void **state UNUSED)
{
	struct roux_options o = options_of();
	char dir[128];

	(void)snprintf(dir, sizeof(dir), "%s/work", home);
	(void)mkdir(dir, 0700);
	write_file(dir, "here.json",
		"{\"artifacts\":{\"a\":\"made\"},\"template\":[\"pwd\",\"tee made\"]}");
	write_file(dir, "bare.json", "[\"pwd\"]");
	o.cwd = dir;
	struct roux *r = roux_new(&o);
	const char *const sources[] = { "here.json", "./here.json", "@bare.json" };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		for (int detach = 0; detach < 2; detach++) {
			struct roux_recipe *recipe = roux_load(r, sources[i]);
			struct roux_plan *plan = roux_plan_new(r, recipe, NULL);
			struct roux_start how = recorded_as("there");
			how.detach = detach;
			struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);

			if (!run)
				fail_msg("%s: %s", sources[i], roux_errors_text(r));
			assert_int_equal(roux_run_wait(run), ROUX_DONE);
			has(roux_run_result(run), dir);
			has(file_of("there", "run.json"), dir);
			if (i < 2)
				has(roux_status_json(r, "there"), "\"exists\":true");
			roux_run_free(run);
			roux_plan_free(plan);
			roux_recipe_free(recipe);
		}
	}
	roux_free(r);
}

static void programs_of_a_run_find_the_same_places(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("inner");
	char text[512];

	(void)snprintf(text, sizeof(text), "%s message --from-run note from-inside", program);
	struct roux_run *run = start(r, text, &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	has(file_of("inner", "outbox.jsonl"), "from-inside");
	roux_run_free(run);
	roux_free(r);
}

static void launches_of_a_recipe_are_counted(void **state UNUSED)
{
	char dir[128];
	struct roux *r = context();

	(void)snprintf(dir, sizeof(dir), "%s/recipes", home);
	(void)mkdir(dir, 0700);
	write_file(dir, "counted.json", "{\"template\":\"echo a\"}");
	struct roux_recipe *recipe = roux_load(r, "counted");
	assert_non_null(recipe);
	struct roux_plan *plan = roux_plan_new(r, recipe, NULL);
	struct roux_start how = recorded_as(NULL);
	struct roux_run *run = start_plan(r, plan, &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	has(shell("roux list --json"), "\"calls\":1");
	roux_run_free(run);
	roux_recipe_free(recipe);
	write_file(dir, "counted.json", "{\"disabled\":true,\"template\":\"echo a\"}");
	recipe = roux_load(r, "counted");
	plan = roux_plan_new(r, recipe, NULL);
	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "is disabled");
	roux_plan_free(plan);
	roux_recipe_free(recipe);
	roux_free(r);
}

/* -- detached and others' ------------------------------------------------------------------------
 */

static void a_detached_run_is_followed_to_its_end(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("apart");
	struct told t = { 0 };

	how.detach = true;
	struct roux_run *run =
		start(r, "[\"echo a\",\"sleep 0.1\",\"echo b\"]", &how, on_event, &t);
	assert_string_equal(roux_run_id(run), "apart");
	assert_null(roux_run_result(run));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* it is nobody's child here */
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_string_equal(t.types, "run.start command.start command.done command.start "
				     "command.done command.start command.done node.done run.done ");
	assert_false(t.gaps);
	has(roux_run_result(run), "\"stdout\":\"b\\n\"");
	has(file_of("apart", "run.json"), "\"detached\": true");
	/* The name is free as soon as that is known. */
	struct roux_run *next = start(r, "echo next", &how, NULL, NULL);
	assert_int_equal(roux_run_wait(next), ROUX_DONE);
	roux_run_free(next);
	roux_run_free(run);
	roux_free(r);
}

static void a_detached_run_goes_on_without_its_context(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("alone");

	how.detach = true;
	struct roux_run *run = start(r, "tail -f /dev/null", &how, NULL, NULL);
	assert_int_equal(roux_turn(r, 0), 1);
	roux_free(r);
	assert_int_equal(roux_run_status(run), ROUX_RUNNING);
	assert_int_equal(roux_run_wait(run), ROUX_RUNNING);
	roux_run_free(run);
	r = context();
	has(roux_status_json(r, "alone"), "\"status\":\"running\"");
	run = roux_run_open(r, "alone", NULL, NULL);
	assert_int_equal(roux_run_status(run), ROUX_RUNNING);
	assert_true(roux_run_cancel(run));
	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	assert_false(roux_run_cancel(run));
	has(roux_run_result(run), "\"status\":\"cancelled\"");
	roux_run_free(run);
	/* One that has ended long ago. */
	struct told t = { 0 };
	run = roux_run_open(r, "run:alone", on_event, &t);
	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	has(t.types, "run.cancel");
	assert_false(t.gaps);
	roux_run_free(run);
	run = roux_run_open(r, "alone", NULL, NULL);
	assert_int_equal(roux_run_status(run), ROUX_CANCELLED);
	roux_run_free(run);
	roux_free(r);
}

static void a_supervisor_that_is_killed_is_noticed(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("lost");

	how.detach = true;
	struct roux_run *run = start(r, "tail -f /dev/null", &how, NULL, NULL);
	assert_int_equal(roux_turn(r, 0), 1);
	(void)shell("kill -9 $(roux status lost --json | sed 's/.*\"pid\":\\([0-9]*\\).*/\\1/')");
	assert_int_equal(roux_run_wait(run), ROUX_EXITED);
	has(roux_run_result(run), "\"status\":\"exited\"");
	roux_run_free(run);
	roux_free(r);
}

static void *watch_it(void *end)
{
	struct roux *r = context();
	struct told t = { 0 };
	struct roux_run *run = roux_run_open(r, "seen", on_event, &t);

	if (run) {
		(void)roux_turn(r, 0);
		(void)roux_run_kill(run);
		*(enum roux_status *)end = roux_run_wait(run);
	}
	roux_run_free(run);
	roux_free(r);
	return NULL;
}

static void a_run_of_one_thread_is_ended_by_another(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("seen");
	struct roux_run *run = start(r, "tail -f /dev/null", &how, NULL, NULL);
	enum roux_status end = ROUX_RUNNING;
	pthread_t thread;

	assert_int_equal(roux_turn(r, 0), 1);
	assert_int_equal(pthread_create(&thread, NULL, watch_it, &end), 0);
	assert_int_equal(roux_run_wait(run), ROUX_KILLED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(end, ROUX_KILLED);
	roux_run_free(run);
	roux_free(r);
}

static void an_outer_loop_can_drive_all_of_them(void **state UNUSED)
{
	struct roux *r = context();
	struct pollfd ready = { .fd = roux_fd(r), .events = POLLIN };
	struct roux_start how = recorded_as("outer");
	struct roux_run *runs[3];
	struct told t[3] = { 0 };

	runs[0] = start(r, "sleep 0.05", &how, on_event, &t[0]);
	how = recorded_as("outer-apart");
	how.detach = true;
	runs[1] = start(r, "sleep 0.05", &how, on_event, &t[1]);
	runs[2] = roux_run_open(r, "outer", on_event, &t[2]);
	do {
		if (poll(&ready, 1, 300000) == 0)
			fail_msg("the descriptor was never ready");
	} while (roux_turn(r, 0) > 0);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		assert_int_equal(roux_run_status(runs[i]), ROUX_DONE);
		assert_string_equal(t[i].types, "run.start command.start command.done run.done ");
		roux_run_free(runs[i]);
	}
	roux_free(r);
}

/* The descriptors that are handed to a supervisor may be any, those of its streams too. */
static void a_supervisor_gets_its_descriptors_wherever_they_are(void **state UNUSED)
{
	int high[200], streams[3];
	struct roux_start how = recorded_as("numbers");

	for (size_t i = 0; i < ARRAY_SIZE(high); i++)
		high[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (int pass = 0; pass < 2; pass++) {
		struct roux *r = context();

		how.detach = true;
		for (int fd = 0; pass && fd < 3; fd++) {
			streams[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 400);
			(void)close(fd);
		}
		struct roux_run *run = start(r, "echo numbers", &how, NULL, NULL);
		enum roux_status status = roux_run_wait(run);
		for (int fd = 0; pass && fd < 3; fd++) {
			(void)dup2(streams[fd], fd);
			(void)close(streams[fd]);
		}
		assert_int_equal(status, ROUX_DONE);
		has(roux_run_result(run), "numbers");
		roux_run_free(run);
		/* What roux had opened in their place has been closed with it. */
		roux_free(r);
		for (size_t i = 0; !pass && i < ARRAY_SIZE(high); i++)
			(void)close(high[i]);
	}
}

static void a_process_that_cannot_run_commands_is_told(void **state UNUSED)
{
	struct roux_options o = options_of();
	struct roux *r = context();
	struct roux_start how = recorded_as("ignored");
	struct roux_plan *plan = plan_named(r, "t", "echo a", NULL);

	(void)signal(SIGCHLD, SIG_IGN);
	assert_null(roux_run_start(plan, &how, NULL, NULL));
	has(roux_errors_text(r), "this process ignores SIGCHLD");
	how.detach = true;
	struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	(void)signal(SIGCHLD, SIG_DFL);
	roux_run_free(run);
	roux_plan_free(plan);
	roux_free(r);
	o.cwd = "/nonexistent/directory";
	r = roux_new(&o);
	plan = plan_named(r, "t", "echo a", NULL);
	assert_null(roux_run_start(plan, NULL, NULL, NULL));
	has(roux_errors_text(r), "cannot run in the directory /nonexistent/directory");
	roux_plan_free(plan);
	roux_free(r);
}

/* -- threads -------------------------------------------------------------------------------------
 */

enum { THREADS = 4, RUNS = 8 };

static void *record_some(void *done)
{
	struct roux *r = context();

	for (int i = 0; i < RUNS; i++) {
		struct roux_start how = recorded_as(NULL);
		struct roux_recipe *recipe = roux_load(r, "echo {run_id}");
		struct roux_plan *plan = roux_plan_new(r, recipe, NULL);
		how.detach = i == RUNS - 1;
		struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);

		*(int *)done += roux_run_wait(run) == ROUX_DONE &&
				strstr(roux_run_result(run), roux_run_id(run)) &&
				roux_runs_json(r) && roux_status_json(r, roux_run_id(run));
		roux_run_free(run);
		roux_plan_free(plan);
		roux_recipe_free(recipe);
	}
	roux_free(r);
	return NULL;
}

static void contexts_in_threads_record_into_one_ledger(void **state UNUSED)
{
	pthread_t threads[THREADS];
	int done[THREADS] = { 0 };

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, record_some, &done[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(done[i], RUNS);
	}
}

static pthread_barrier_t all_have_tried;

static void *claim(void *won)
{
	struct roux *r = context();
	struct roux_start how = recorded_as("one");
	struct roux_plan *plan = plan_named(r, "t", "true", NULL);
	struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);

	*(int *)won = run != NULL;
	/* The winner's run does not end, and its name is not free again, before all have tried. */
	(void)pthread_barrier_wait(&all_have_tried);
	roux_plan_free(plan);
	(void)roux_run_wait(run);
	roux_run_free(run);
	roux_free(r);
	return NULL;
}

static void one_name_has_one_winner(void **state UNUSED)
{
	pthread_t threads[THREADS];
	int won[THREADS] = { 0 }, all = 0;

	assert_int_equal(pthread_barrier_init(&all_have_tried, NULL, THREADS), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, claim, &won[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		all += won[i];
	}
	(void)pthread_barrier_destroy(&all_have_tried);
	assert_int_equal(all, 1);
}

static void *wake(void *r)
{
	roux_wake(r);
	return NULL;
}

static void a_wait_for_a_run_ends_when_somebody_wakes_it(void **state UNUSED)
{
	struct roux *r = context();
	struct roux_run *run = start(r, "tail -f /dev/null", NULL, NULL, NULL);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wake, r), 0);
	assert_int_equal(roux_run_wait(run), ROUX_RUNNING);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* Freeing is not kept from its work. */
	roux_wake(r);
	roux_run_free(run);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	roux_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_run_is_that_of_roux_run),
		cmocka_unit_test(a_name_is_taken_only_while_its_run_lives),
		cmocka_unit_test(a_run_without_a_name_gets_one),
		cmocka_unit_test(made_names_never_meet),
		cmocka_unit_test(what_cannot_be_is_said),
		cmocka_unit_test(what_failed_may_be_handed_on),
		cmocka_unit_test(a_callback_may_cancel_at_the_very_first_event),
		cmocka_unit_test(input_is_kept_and_output_is_written),
		cmocka_unit_test(input_that_nobody_reads_may_outlive_its_run),
		cmocka_unit_test(others_can_end_it_and_the_host_lives_on),
		cmocka_unit_test(messages_of_others_are_noticed),
		cmocka_unit_test(nothing_is_left_open),
		cmocka_unit_test(a_recipe_knows_its_arguments),
		cmocka_unit_test(a_step_recipe_gets_its_values_with_the_plan),
		cmocka_unit_test(paths_are_meant_from_the_directory_of_the_context),
		cmocka_unit_test(programs_of_a_run_find_the_same_places),
		cmocka_unit_test(launches_of_a_recipe_are_counted),
		cmocka_unit_test(a_detached_run_is_followed_to_its_end),
		cmocka_unit_test(a_detached_run_goes_on_without_its_context),
		cmocka_unit_test(a_supervisor_that_is_killed_is_noticed),
		cmocka_unit_test(a_run_of_one_thread_is_ended_by_another),
		cmocka_unit_test(an_outer_loop_can_drive_all_of_them),
		cmocka_unit_test(a_supervisor_gets_its_descriptors_wherever_they_are),
		cmocka_unit_test(a_process_that_cannot_run_commands_is_told),
		cmocka_unit_test(contexts_in_threads_record_into_one_ledger),
		cmocka_unit_test(one_name_has_one_winner),
		cmocka_unit_test(a_wait_for_a_run_ends_when_somebody_wakes_it),
	};
	char remove[128];

	program = argc > 1 ? argv[1] : "roux";
	strcpy(home, "/tmp/roux-recorded-XXXXXX");
	if (!mkdtemp(home))
		return 1;
	(void)unsetenv("ROUX_STATE_DIR");
	(void)unsetenv("ROUX_OWNER");
	(void)setenv("XDG_CONFIG_HOME", home, 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests_name("recorded", tests, NULL, NULL);
	(void)snprintf(remove, sizeof(remove), "rm -rf %s", home);
	return system(remove) == 0 ? failed : 1;
}
