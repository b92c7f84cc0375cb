#include "graph/event.h"

#include <limits.h>

#include "base/clock.h"
#include "data/json.h"
#include "graph/node.h"

/* How a member of an event stands on its line. */
enum member_type {
	IS_TEXT,
	IS_TEXT_OR_NULL,
	IS_TEXT_IF,   /* left out when it is empty */
	IS_OBJECT_IF, /* text of JSON, left out when it is empty */
	IS_NUMBER,    /* uint64_t */
	IS_NUMBER_IF, /* left out when it is 0 */
	IS_CODE,      /* int */
	IS_SIGNAL,    /* int, null for 0 */
	IS_BOOL,
	IS_TRUE_IF, /* left out when it is false */
	IS_ARGV,
	IS_ANSWER, /* enum gate_answer */
	IS_OUTCOME /* enum node_end */
};

struct member {
	const char *name;
	const char *key; /* the name with what stands before and behind it */
	size_t key_len;
	enum member_type type;
	size_t at; /* in struct event */
};

#define MEMBER(name, type, at)                                                             \
	{                                                                                  \
		name, ",\"" name "\":", sizeof(name) + 3, type, offsetof(struct event, at) \
	}
#define PATH MEMBER("path", IS_TEXT, path)
#define ITEM MEMBER("item", IS_TEXT_IF, item)
#define LABEL MEMBER("label", IS_TEXT_OR_NULL, label), ITEM
#define STEP MEMBER("step", IS_TEXT_OR_NULL, label), ITEM
#define ATTEMPT MEMBER("attempt", IS_NUMBER, attempt)
#define END                                                                               \
	MEMBER("code", IS_CODE, end.code), MEMBER("signal", IS_SIGNAL, end.signal),       \
		MEMBER("timeout", IS_BOOL, end.timeout), MEMBER("ms", IS_NUMBER, end.ms), \
		MEMBER("stdout_bytes", IS_NUMBER, end.stdout_bytes),                      \
		MEMBER("tolerated", IS_TRUE_IF, end.tolerated)
#define ON MEMBER("on", IS_TEXT_IF, away.on)
#define HOST MEMBER("host", IS_TEXT_IF, away.host)
#define WORKER MEMBER("worker", IS_NUMBER_IF, away.worker)
#define QUEUED MEMBER("queued_ms", IS_NUMBER_IF, away.queued_ms)
#define WORKERS                                                     \
	ON, WORKER, MEMBER("job", IS_TEXT_OR_NULL, away.job),       \
		MEMBER("host", IS_TEXT_OR_NULL, away.host), QUEUED, \
		MEMBER("why", IS_TEXT_OR_NULL, away.why)
#define SIGNAL MEMBER("signal", IS_SIGNAL, signal)
#define STATUS MEMBER("status", IS_TEXT, result.status), MEMBER("code", IS_CODE, result.code)
#define NUMBER(name) MEMBER(name, IS_NUMBER, step.number)
#define CODE MEMBER("code", IS_CODE, step.code)
#define MS MEMBER("ms", IS_NUMBER, step.ms)
#define ERROR MEMBER("error", IS_TEXT_IF, step.error)
#define ENV MEMBER("env", IS_OBJECT_IF, step.env)
#define TRUNCATED MEMBER("truncated", IS_BOOL, step.truncated)

#define KIND(name, ...)                       \
	{                                     \
		name, (const struct member[]) \
		{                             \
			__VA_ARGS__,          \
			{                     \
				0             \
			}                     \
		}                             \
	}

/* One row for each kind: its name and the members of its line, in order. */
static const struct {
	const char *name;
	const struct member *members;
} kinds[EVENT_KINDS] = {
	[EVENT_RUN_START] = KIND("run.start", MEMBER("run", IS_TEXT_OR_NULL, run.id),
		MEMBER("pid", IS_CODE, run.pid)),
	[EVENT_NODE_START] = { NULL, NULL },
	[EVENT_NODE_DONE] =
		KIND("node.done", PATH, ATTEMPT, MEMBER("outcome", IS_OUTCOME, end.outcome),
			MEMBER("code", IS_CODE, end.code), MEMBER("ms", IS_NUMBER, end.ms)),
	[EVENT_COMMAND_START] = KIND(
		"command.start", PATH, LABEL, MEMBER("argv", IS_ARGV, argv), ATTEMPT, ON, WORKER),
	[EVENT_COMMAND_OUTPUT] = { NULL, NULL },
	[EVENT_COMMAND_DONE] = KIND("command.done", PATH, ATTEMPT, END, HOST, QUEUED),
	[EVENT_NODE_SKIPPED] = KIND("node.skipped", PATH, LABEL),
	[EVENT_NODE_REUSED] = KIND("node.reused", PATH, LABEL, ATTEMPT, END),
	[EVENT_NODE_RETRY] = KIND("node.retry", PATH, LABEL, ATTEMPT),
	[EVENT_RUN_MESSAGE] = KIND("run.message", MEMBER("id", IS_TEXT, message.id),
		MEMBER("bytes", IS_NUMBER, message.bytes)),
	[EVENT_RUN_ANSWERED] = KIND("run.answered", MEMBER("stage", IS_TEXT, answered.stage),
		MEMBER("answer", IS_ANSWER, answered.answer),
		MEMBER("who", IS_TEXT_OR_NULL, answered.who),
		MEMBER("digest", IS_TEXT_OR_NULL, answered.digest)),
	[EVENT_RUN_CANCEL] = KIND("run.cancel", SIGNAL),
	[EVENT_RUN_KILL] = KIND("run.kill", SIGNAL),
	[EVENT_RUN_DONE] = KIND("run.done", STATUS),
	[EVENT_RUN_FAILED] =
		KIND("run.failed", STATUS, MEMBER("error", IS_TEXT_OR_NULL, result.error)),
	[EVENT_WORKER_SUBMIT] = KIND("worker.submit", WORKERS),
	[EVENT_WORKER_START] = KIND("worker.start", WORKERS),
	[EVENT_WORKER_END] = KIND("worker.end", WORKERS),
	[EVENT_WORKERS] = { NULL, NULL },
	[EVENT_COMMAND_WAITS] = { NULL, NULL },
	[EVENT_COMMAND_LEFT] = { NULL, NULL },
	[EVENT_WORKER_LOST] = KIND("worker.lost", WORKERS),
	[EVENT_RECIPE_START] = KIND("recipe:start", PATH, STEP, NUMBER("depth")),
	[EVENT_RECIPE_STEP] = KIND("recipe:step", PATH, STEP, NUMBER("index")),
	[EVENT_RECIPE_COMPLETE] = KIND("recipe:complete", PATH, STEP, ERROR),
	[EVENT_RECIPE_ERROR] = KIND("recipe:error", PATH, STEP, ERROR),
	[EVENT_RECIPE_CANCELLED] = KIND("recipe:cancelled", PATH, STEP, ERROR),
	[EVENT_RECIPE_APPROVAL] =
		KIND("recipe:approval", PATH, STEP, MEMBER("state", IS_ANSWER, step.answer)),
	[EVENT_LOOP_ITERATION] = KIND("recipe:loop_iteration", PATH, STEP, NUMBER("iteration")),
	[EVENT_LOOP_COMPLETE] = KIND("recipe:loop_complete", PATH, STEP, NUMBER("iterations")),
	[EVENT_ITERATION_FAILED] = KIND("recipe:iteration_failed", PATH, STEP, CODE),
	[EVENT_BASH_START] = KIND("step:bash:start", PATH, STEP, ATTEMPT, ENV),
	[EVENT_BASH_COMPLETE] = KIND("step:bash:complete", PATH, STEP, CODE, MS, TRUNCATED),
	[EVENT_BASH_ERROR] = KIND("step:bash:error", PATH, STEP, CODE, MS, TRUNCATED),
	[EVENT_AGENT_START] = KIND("step:agent:start", PATH, STEP, ATTEMPT, ENV),
	[EVENT_AGENT_COMPLETE] = KIND("step:agent:complete", PATH, STEP, CODE, MS, TRUNCATED),
	[EVENT_AGENT_ERROR] = KIND("step:agent:error", PATH, STEP, CODE, MS, TRUNCATED),
	[EVENT_WAIT_START] = KIND("step:wait:start", PATH, STEP, MS),
	[EVENT_WAIT_COMPLETE] = KIND("step:wait:complete", PATH, STEP, CODE, MS),
	[EVENT_WAIT_ERROR] = KIND("step:wait:error", PATH, STEP, CODE, MS),
	[EVENT_STEP_RETRY] = KIND("step:retry", PATH, STEP, ATTEMPT, MS),
	[EVENT_STEP_SKIP] = KIND("step:skip", PATH, STEP),
};

static const char *const answers[] = {
	[GATE_PENDING] = "pending",
	[GATE_APPROVED] = "approved",
	[GATE_DENIED] = "denied",
};

static const char *const ends[NODE_ENDS] = {
	[NODE_END_DONE] = "done",
	[NODE_END_TOLERATED] = "tolerated",
	[NODE_END_FAILED] = "failed",
	[NODE_END_TIMEOUT] = "timeout",
	[NODE_END_CANCELLED] = "cancelled",
};

const char *event_name(enum event_kind kind)
{
	return kinds[kind].name;
}

/* -- writing -------------------------------------------------------------------------------------
 */

static void write_int(struct buf *b, int n)
{
	if (n < 0)
		buf_addc(b, '-');
	buf_add_number(b, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 1);
}

static void write_argv(struct buf *b, const char *const *argv)
{
	buf_addc(b, '[');
	for (size_t i = 0; argv && argv[i]; i++) {
		if (i)
			buf_addc(b, ',');
		json_write_str(b, str_of(argv[i]));
	}
	buf_addc(b, ']');
}

static void write_member(struct buf *b, const struct member *m, const void *value)
{
	const struct str *text = value;

	if ((m->type == IS_TEXT_IF || m->type == IS_OBJECT_IF) && !text->len)
		return;
	if (m->type == IS_TRUE_IF && !*(const bool *)value)
		return;
	if (m->type == IS_NUMBER_IF && !*(const uint64_t *)value)
		return;
	buf_add(b, (struct str){ m->key, m->key_len });
	switch (m->type) {
	case IS_TEXT:
	case IS_TEXT_IF:
		json_write_str(b, *text);
		break;
	case IS_TEXT_OR_NULL:
		json_write_str_or_null(b, *text);
		break;
	case IS_OBJECT_IF:
		buf_add(b, *text);
		break;
	case IS_NUMBER:
	case IS_NUMBER_IF:
		buf_add_number(b, *(const uint64_t *)value, 1);
		break;
	case IS_CODE:
		write_int(b, *(const int *)value);
		break;
	case IS_SIGNAL:
		if (*(const int *)value)
			write_int(b, *(const int *)value);
		else
			buf_add(b, S("null"));
		break;
	case IS_BOOL:
	case IS_TRUE_IF:
		buf_add(b, *(const bool *)value ? S("true") : S("false"));
		break;
	case IS_ARGV:
		write_argv(b, *(const char *const *const *)value);
		break;
	case IS_ANSWER:
		json_write_str(b, str_of(answers[*(const enum gate_answer *)value]));
		break;
	case IS_OUTCOME:
		json_write_str(b, str_of(ends[*(const enum node_end *)value]));
		break;
	}
}

void event_json(const struct event *e, struct buf *b)
{
	buf_add(b, S("{\"seq\":"));
	buf_add_number(b, e->seq, 1);
	buf_add(b, S(",\"ts\":\""));
	clock_rfc3339(b, e->time_ms);
	buf_add(b, S("\",\"type\":"));
	json_write_str(b, str_of(kinds[e->kind].name));
	for (const struct member *m = kinds[e->kind].members; m->name; m++)
		write_member(b, m, (const char *)e + m->at);
	buf_addc(b, '}');
}

/* -- reading -------------------------------------------------------------------------------------
 */

static struct str text_of(const json_t *value)
{
	return json_is_string(value) ? json_str(value) : S("");
}

static uint64_t number_of(const json_t *value)
{
	json_int_t n = json_integer_value(value);

	return n > 0 ? (uint64_t)n : 0;
}

static int int_of(const json_t *value)
{
	json_int_t n = json_integer_value(value);

	return (int)MAX(MIN(n, (json_int_t)INT_MAX), (json_int_t)INT_MIN);
}

static bool read_word(const json_t *value, const char *const *words, size_t count, unsigned *ret)
{
	struct str text = text_of(value);

	for (unsigned i = 0; i < count; i++)
		if (str_eq(text, str_of(words[i]))) {
			*ret = i;
			return true;
		}
	return false;
}

static const char *const *read_argv(const json_t *list, struct arena *a)
{
	size_t count = json_array_size(list);
	const char **argv = arena_array(a, const char *, count + 1);

	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(list, i));

		argv[i] = word ? word : "";
	}
	return argv;
}

/* False: a word that this version does not know. */
static bool read_member(const struct member *m, const json_t *value, struct arena *a, void *ret)
{
	AUTO_BUF text = BUF_INIT;
	unsigned word = 0;

	switch (m->type) {
	case IS_TEXT:
	case IS_TEXT_OR_NULL:
	case IS_TEXT_IF:
		*(struct str *)ret = text_of(value);
		break;
	case IS_OBJECT_IF:
		if (json_is_object(value))
			json_write(&text, value, 0);
		*(struct str *)ret = arena_str(a, buf_str(&text));
		break;
	case IS_NUMBER:
	case IS_NUMBER_IF:
		*(uint64_t *)ret = number_of(value);
		break;
	case IS_CODE:
	case IS_SIGNAL:
		*(int *)ret = int_of(value);
		break;
	case IS_BOOL:
	case IS_TRUE_IF:
		*(bool *)ret = json_is_true(value);
		break;
	case IS_ARGV:
		*(const char *const **)ret = read_argv(value, a);
		break;
	case IS_ANSWER:
		if (!read_word(value, answers, ARRAY_SIZE(answers), &word))
			return false;
		*(enum gate_answer *)ret = (enum gate_answer)word;
		break;
	case IS_OUTCOME:
		if (!read_word(value, ends, NODE_ENDS, &word))
			return false;
		*(enum node_end *)ret = (enum node_end)word;
		break;
	}
	return true;
}

static bool read_kind(struct str type, enum event_kind *ret)
{
	for (size_t i = 0; i < EVENT_KINDS; i++)
		if (kinds[i].name && str_eq(type, str_of(kinds[i].name))) {
			*ret = (enum event_kind)i;
			return true;
		}
	return false;
}

bool event_read(const json_t *object, struct arena *a, struct event *ret)
{
	struct event e = { 0 };

	if (!read_kind(text_of(json_object_get(object, "type")), &e.kind))
		return false;
	e.seq = number_of(json_object_get(object, "seq"));
	e.time_ms = clock_read_rfc3339(text_of(json_object_get(object, "ts")));
	for (const struct member *m = kinds[e.kind].members; m->name; m++)
		if (!read_member(m, json_object_get(object, m->name), a, (char *)&e + m->at))
			return false;
	/* What the line leaves to its reader. */
	if (e.kind == EVENT_NODE_DONE)
		e.end.ok = e.end.outcome == NODE_END_DONE;
	else if (e.kind == EVENT_COMMAND_DONE || e.kind == EVENT_NODE_REUSED)
		e.end.ok = !e.end.code && !e.end.timeout;
	*ret = e;
	return true;
}

bool event_of_terminal(const struct event *e)
{
	return e->node && e->node->tty;
}
