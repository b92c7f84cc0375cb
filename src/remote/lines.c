#include "remote/lines.h"

#include <errno.h>

#include "base/utf8.h"
#include "data/base64.h"
#include "data/json-out.h"
#include "data/json-plain.h"

static const char *const order_names[ORDER_KINDS] = {
	[ORDER_RUN] = "run",
	[ORDER_DROP] = "drop",
	[ORDER_STOP] = "stop",
	[ORDER_KILL] = "kill",
	[ORDER_CANCEL] = "cancel",
	[ORDER_KILL_ALL] = "kill_all",
	[ORDER_QUIT] = "quit",
	[ORDER_GRACE] = "grace",
	[ORDER_PAUSE] = "pause",
	[ORDER_ALLOCATION] = "allocation",
	[ORDER_RULES] = "rules",
};

static const char *const said_names[SAID_KINDS] = {
	[SAID_HELLO] = "hello",
	[SAID_BEGAN] = "began",
	[SAID_OUT] = "out",
	[SAID_END] = "end",
	[SAID_DROPPED] = "dropped",
	[SAID_DRAIN] = "drain",
	[SAID_BEAT] = "beat",
	[SAID_BYE] = "bye",
};

static const char *const why_names[WHY_KINDS] = {
	[WHY_TIMEOUT] = "timeout",
	[WHY_STOPPED] = "stopped",
	[WHY_ALLOCATION] = "allocation",
	[WHY_START] = "start",
};

/* -- parts of lines ------------------------------------------------------------------------------
 */

static bool find(const char *const *names, size_t count, struct str word, unsigned *ret)
{
	for (unsigned i = 0; i < count; i++)
		if (names[i] && str_eq(word, str_of(names[i]))) {
			*ret = i;
			return true;
		}
	return false;
}

static void put_base64(struct json_out *o, const char *name, struct str bytes)
{
	AUTO_BUF coded = BUF_INIT;

	base64_write(&coded, bytes);
	json_out_str(o, name, buf_str(&coded));
}

/* A text, or an object with its bytes where JSON has no way to say them. */
static void put_text(struct json_out *o, const char *name, struct str text)
{
	if (utf8_valid(text)) {
		json_out_str(o, name, text);
		return;
	}
	json_out_object(o, name);
	put_base64(o, "b64", text);
	json_out_object_end(o);
}

static void put_list(struct json_out *o, const char *name, const char *const *list)
{
	json_out_array(o, name);
	for (size_t i = 0; list && list[i]; i++)
		put_text(o, NULL, str_of(list[i]));
	json_out_array_end(o);
}

/* Copied to the arena, with a NUL behind it; a text with a NUL in it is refused. */
static bool take_text(const json_t *value, struct arena *a, const char **ret)
{
	const json_t *coded = json_is_object(value) ? json_object_get(value, "b64") : NULL;
	AUTO_BUF bytes = BUF_INIT;
	struct str text = json_is_string(value) ? json_str(value) : S("");

	if (coded) {
		if (!json_is_string(coded) || !base64_read(json_str(coded), &bytes))
			return false;
		text = buf_str(&bytes);
	} else if (!json_is_string(value)) {
		return false;
	}
	if (str_find(text, '\0', 0) < text.len)
		return false;
	*ret = arena_cstr(a, text);
	return true;
}

static bool take_list(const json_t *list, struct arena *a, const char *const **ret)
{
	size_t count = json_array_size(list);
	const char **words = arena_array(a, const char *, count + 1);

	if (list && !json_is_array(list) && !json_is_null(list))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_text(json_array_get(list, i), a, &words[i]))
			return false;
	*ret = words;
	return true;
}

/* A number that is not negative; one that is missing is 0. */
static bool take_number(const json_t *object, const char *name, uint64_t *ret)
{
	const json_t *value = json_object_get(object, name);
	json_int_t n = json_integer_value(value);

	*ret = 0;
	if (!value || json_is_null(value))
		return true;
	if (!json_is_integer(value) || n < 0)
		return false;
	*ret = (uint64_t)n;
	return true;
}

/* The object of a line; NULL: it is none. */
static json_t *load(struct str line)
{
	json_t *object = line.len && line.len < LINE_MAX_BYTES
				 ? json_loadb(line.p, line.len, JSON_ALLOW_NUL, NULL)
				 : NULL;

	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

/* -- orders --------------------------------------------------------------------------------------
 */

static size_t list_bytes(const char *const *list)
{
	size_t n = 0;

	for (size_t i = 0; list && list[i]; i++)
		n += strlen(list[i]) + 1;
	return n;
}

static void put_input(struct json_out *o, const struct order_run *run)
{
	if (run->in == INPUT_NONE) {
		json_out_null(o, "in");
		return;
	}
	json_out_object(o, "in");
	if (run->in == INPUT_INLINE) {
		put_base64(o, "b64", run->in_bytes);
	} else {
		put_text(o, "file", run->in_file);
		json_out_uint(o, "size", run->in_size);
	}
	json_out_object_end(o);
}

int order_run_write(struct buf *b, const struct order_run *run)
{
	struct json_out o = { .b = b, .more = true };
	size_t before = b->len;

	if (list_bytes(run->argv) + list_bytes(run->env) > ARGV_MAX)
		return -E2BIG;
	json_out_str(&o, "p", run->path);
	json_out_uint(&o, "a", run->number);
	put_list(&o, "argv", run->argv);
	put_list(&o, "env", run->env);
	if (run->cwd)
		put_text(&o, "cwd", str_of(run->cwd));
	else
		json_out_null(&o, "cwd");
	if (run->program)
		put_text(&o, "program", str_of(run->program));
	put_input(&o, run);
	json_out_uint(&o, "timeout_ms", run->timeout_ms);
	json_out_uint(&o, "max_output", run->max_output);
	json_out_uint(&o, "cpus", run->cpus);
	if (run->mem_mb)
		json_out_uint(&o, "mem_mb", run->mem_mb);
	if (run->gpus)
		json_out_uint(&o, "gpus", run->gpus);
	json_out_bool(&o, "live", run->live);
	if (run->cut_err)
		json_out_bool(&o, "cut_err", true);
	if (b->len - before < LINE_MAX_BYTES - 64)
		return 0;
	buf_truncate(b, before);
	return -E2BIG;
}

void order_line_write(struct buf *b, const struct order *order, struct str run)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_str(&o, "t", str_of(order_names[order->kind]));
	if (order->n)
		json_out_uint(&o, "n", order->n);
	if (order->kind == ORDER_GRACE)
		json_out_uint(&o, "ms", order->ms);
	if (order->kind == ORDER_PAUSE)
		json_out_bool(&o, "on", order->on);
	if (order->kind == ORDER_RULES) {
		json_out_bool(&o, "durable", order->durable);
		json_out_bool(&o, "careful", order->careful);
	}
	if (order->kind == ORDER_ALLOCATION) {
		json_out_uint(&o, "cpus", order->has.cpus);
		json_out_uint(&o, "mem_mb", order->has.mem_mb);
		json_out_uint(&o, "gpus", order->has.gpus);
		json_out_uint(&o, "time_s", order->has.time_s);
	}
	buf_add(b, run);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

static bool read_input(const json_t *in, struct arena *a, struct order_run *ret)
{
	const json_t *coded = json_object_get(in, "b64"), *file = json_object_get(in, "file");
	AUTO_BUF bytes = BUF_INIT;
	const char *path;

	if (!in || json_is_null(in))
		return true;
	if (json_is_string(coded)) {
		ret->in = INPUT_INLINE;
		if (!base64_read(json_str(coded), &bytes) || bytes.len > INLINE_MAX)
			return false;
		ret->in_bytes = arena_str(a, buf_str(&bytes));
		return true;
	}
	if (!file || !take_text(file, a, &path) || !take_number(in, "size", &ret->in_size))
		return false;
	ret->in = INPUT_FILE;
	ret->in_file = str_of(path);
	return ret->in_file.len > 0;
}

static bool read_run(const json_t *o, struct arena *a, struct order_run *ret)
{
	const json_t *cwd = json_object_get(o, "cwd"), *program = json_object_get(o, "program");

	ret->path = json_text_of(o, "p");
	ret->live = json_truth_of(o, "live");
	ret->cut_err = json_truth_of(o, "cut_err");
	return ret->path.len && take_number(o, "a", &ret->number) &&
	       take_list(json_object_get(o, "argv"), a, &ret->argv) && ret->argv[0] &&
	       take_list(json_object_get(o, "env"), a, &ret->env) &&
	       (!cwd || json_is_null(cwd) || take_text(cwd, a, &ret->cwd)) &&
	       (!program || json_is_null(program) || take_text(program, a, &ret->program)) &&
	       take_number(o, "timeout_ms", &ret->timeout_ms) &&
	       take_number(o, "max_output", &ret->max_output) &&
	       take_number(o, "cpus", &ret->cpus) && take_number(o, "mem_mb", &ret->mem_mb) &&
	       take_number(o, "gpus", &ret->gpus) && read_input(json_object_get(o, "in"), a, ret);
}

static bool order_take(struct order *ret)
{
	bool one = ret->kind == ORDER_RUN || ret->kind == ORDER_DROP || ret->kind == ORDER_STOP ||
		   ret->kind == ORDER_KILL;

	ret->on = json_truth_of(ret->line, "on");
	ret->durable = json_truth_of(ret->line, "durable");
	ret->careful = json_truth_of(ret->line, "careful");
	struct order_allocation *has = &ret->has;

	return take_number(ret->line, "n", &ret->n) && (!one || ret->n) &&
	       take_number(ret->line, "ms", &ret->ms) &&
	       (ret->kind != ORDER_ALLOCATION ||
		       (take_number(ret->line, "cpus", &has->cpus) && has->cpus <= 65536 &&
			       take_number(ret->line, "mem_mb", &has->mem_mb) &&
			       take_number(ret->line, "gpus", &has->gpus) &&
			       take_number(ret->line, "time_s", &has->time_s))) &&
	       (ret->kind != ORDER_RUN || read_run(ret->line, &ret->arena, &ret->run));
}

bool order_line_read(struct str line, struct order *ret, bool *unknown)
{
	unsigned kind = 0;

	*ret = (struct order){ .line = load(line) };
	*unknown = false;
	if (!ret->line)
		return false;
	*unknown = !find(order_names, ORDER_KINDS, json_text_of(ret->line, "t"), &kind);
	ret->kind = (enum order_kind)kind;
	if (!*unknown && order_take(ret))
		return true;
	order_done(ret);
	return false;
}

void order_done(struct order *o)
{
	json_decref(o->line);
	arena_done(&o->arena);
	*o = (struct order){ 0 };
}

/* -- records -------------------------------------------------------------------------------------
 */

static void put_hello(struct json_out *o, const struct said_hello *h)
{
	json_out_uint(o, "v", 1);
	json_out_str(o, "generation", h->generation);
	json_out_str(o, "probe", h->probe);
	json_out_str(o, "roux", h->roux);
	put_text(o, "host", h->host);
	json_out_uint(o, "pid", h->pid);
	json_out_str(o, "boot", h->boot);
	json_out_str(o, "job", h->job);
	json_out_uint(o, "cpus", h->cpus);
	json_out_uint(o, "mem_mb", h->mem_mb);
	json_out_uint(o, "left_s", h->left_s);
	json_out_uint(o, "cwd_ino", h->cwd_ino);
	json_out_uint(o, "uid", h->uid);
	json_out_uint(o, "epoch", h->epoch);
	if (h->problem.len)
		json_out_str(o, "problem", h->problem);
	json_out_array(o, "has");
	vec_each (n, &h->has)
		json_out_uint(o, NULL, *n);
	json_out_array_end(o);
}

static void put_output(struct json_out *o, const char *name, const struct said_output *out,
	uint64_t n, const char *suffix)
{
	json_out_object(o, name);
	json_out_uint(o, "size", out->size);
	if (out->file) {
		char file[40];

		(void)snprintf(file, sizeof(file), "%llu.%s", (unsigned long long)n, suffix);
		json_out_str(o, "file", str_of(file));
	} else if (out->size) {
		put_base64(o, "b64", buf_str(&out->bytes));
	}
	json_out_object_end(o);
}

static void put_end(struct json_out *o, const struct said_end *e, uint64_t n)
{
	json_out_int(o, "code", e->code);
	json_out_int(o, "sig", e->signal);
	json_out_uint(o, "ms", e->ms);
	put_output(o, "out", &e->out, n, "out");
	put_output(o, "err", &e->err, n, "err");
	json_out_object(o, "ru");
	json_out_uint(o, "user_us", e->user_us);
	json_out_uint(o, "system_us", e->system_us);
	json_out_uint(o, "memory_kib", e->memory_kib);
	json_out_object_end(o);
	if (e->held)
		json_out_bool(o, "held", true);
	if (e->cut)
		json_out_bool(o, "cut", true);
	if (e->keep_error)
		json_out_int(o, "keep_error", e->keep_error);
	if (e->why)
		json_out_str(o, "why", str_of(why_names[e->why]));
	else
		json_out_null(o, "why");
	if (e->why == WHY_START)
		json_out_int(o, "errno", e->error);
}

void said_write(struct buf *b, const struct said *s)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_str(&o, "t", str_of(said_names[s->kind]));
	if (s->n)
		json_out_uint(&o, "n", s->n);
	switch (s->kind) {
	case SAID_HELLO:
		put_hello(&o, &s->hello);
		break;
	case SAID_BEGAN:
		json_out_uint(&o, "pid", s->pid);
		json_out_uint(&o, "st", s->start);
		break;
	case SAID_OUT:
		json_out_int(&o, "s", s->stream);
		put_base64(&o, "b64", buf_str(&s->bytes));
		break;
	case SAID_END:
		put_end(&o, &s->end, s->n);
		break;
	case SAID_DRAIN:
		json_out_uint(&o, "left_s", s->left_s);
		json_out_str(&o, "why", s->why);
		break;
	case SAID_BYE:
		json_out_str(&o, "why", s->why);
		break;
	case SAID_DROPPED:
	case SAID_BEAT:
	case SAID_KINDS:
		break;
	}
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

static bool read_hello(const json_t *o, struct said_hello *ret)
{
	const json_t *has = json_object_get(o, "has");
	uint64_t version = 0;

	ret->generation = json_text_of(o, "generation");
	ret->probe = json_text_of(o, "probe");
	ret->roux = json_text_of(o, "roux");
	ret->host = json_text_of(o, "host");
	ret->boot = json_text_of(o, "boot");
	ret->job = json_text_of(o, "job");
	ret->problem = json_text_of(o, "problem");
	for (size_t i = 0; i < json_array_size(has); i++) {
		json_int_t n = json_integer_value(json_array_get(has, i));

		if (n <= 0)
			return false;
		vec_push(&ret->has, (uint64_t)n);
	}
	return take_number(o, "v", &version) && version == 1 && take_number(o, "pid", &ret->pid) &&
	       take_number(o, "cpus", &ret->cpus) && ret->cpus && ret->cpus <= 65536 &&
	       take_number(o, "mem_mb", &ret->mem_mb) && take_number(o, "left_s", &ret->left_s) &&
	       take_number(o, "cwd_ino", &ret->cwd_ino) && take_number(o, "uid", &ret->uid) &&
	       take_number(o, "epoch", &ret->epoch);
}

static bool small_number(const json_t *o, const char *name, int most, int *ret)
{
	uint64_t n;

	if (!take_number(o, name, &n) || n > (uint64_t)most)
		return false;
	*ret = (int)n;
	return true;
}

static bool read_out(const json_t *o, struct said *ret)
{
	const json_t *coded = json_object_get(o, "b64");

	return small_number(o, "s", 2, &ret->stream) && ret->stream && json_is_string(coded) &&
	       base64_read(json_str(coded), &ret->bytes) && ret->bytes.len <= INLINE_MAX;
}

/* The members of what is said of a command's beginning and end, which is said of every command. */
struct output_members {
	bool is;
	uint64_t size;
	struct str file, b64;
};

struct members {
	struct str t, why;
	uint64_t n, pid, st, code, sig, ms, error, keep_error;
	struct output_members out, err;
	bool ru, held, cut;
	uint64_t user_us, system_us, memory_kib;
};

#define MEMBER(name, type) PLAIN_MEMBER(struct members, #name, type, name)
#define OUTPUT_MEMBERS(of)                                                           \
	{                                                                            \
		PLAIN_MEMBER(struct members, "size", PLAIN_NUMBER, of.size),         \
			PLAIN_MEMBER(struct members, "file", PLAIN_STRING, of.file), \
			PLAIN_MEMBER(struct members, "b64", PLAIN_STRING, of.b64),   \
	}

static const struct plain_member of_out[] = OUTPUT_MEMBERS(out), of_err[] = OUTPUT_MEMBERS(err);
static const struct plain_member of_usage[] = {
	MEMBER(user_us, PLAIN_NUMBER),
	MEMBER(system_us, PLAIN_NUMBER),
	MEMBER(memory_kib, PLAIN_NUMBER),
};

static const struct plain_object out_object = { of_out, ARRAY_SIZE(of_out) },
				 err_object = { of_err, ARRAY_SIZE(of_err) },
				 usage = { of_usage, ARRAY_SIZE(of_usage) };

static const struct plain_member of_command[] = {
	MEMBER(t, PLAIN_STRING),
	MEMBER(n, PLAIN_NUMBER),
	MEMBER(pid, PLAIN_NUMBER),
	MEMBER(st, PLAIN_NUMBER),
	MEMBER(code, PLAIN_NUMBER),
	MEMBER(sig, PLAIN_NUMBER),
	MEMBER(ms, PLAIN_NUMBER),
	PLAIN_INNER(struct members, "out", out.is, &out_object),
	PLAIN_INNER(struct members, "err", err.is, &err_object),
	PLAIN_INNER(struct members, "ru", ru, &usage),
	MEMBER(held, PLAIN_FLAG),
	MEMBER(cut, PLAIN_FLAG),
	MEMBER(keep_error, PLAIN_NUMBER),
	MEMBER(why, PLAIN_STRING),
	PLAIN_MEMBER(struct members, "errno", PLAIN_NUMBER, error),
};

static const struct plain_object command_object = { of_command, ARRAY_SIZE(of_command) };

/* The same from JSON, which may have more in it. What is missing or null is 0, empty or false. */
static bool take_members(const json_t *object, const struct plain_object *of, void *to)
{
	for (size_t i = 0; i < of->count; i++) {
		const struct plain_member *m = &of->members[i];
		const json_t *value = json_object_get(object, m->name.p);
		void *slot = (char *)to + m->at;

		if (!value || json_is_null(value))
			continue;
		switch (m->type) {
		case PLAIN_STRING:
			if (!json_is_string(value))
				return false;
			*(struct str *)slot = json_str(value);
			break;
		case PLAIN_NUMBER:
			if (!take_number(object, m->name.p, slot))
				return false;
			break;
		case PLAIN_FLAG:
			*(bool *)slot = json_is_true(value);
			break;
		case PLAIN_OBJECT:
			*(bool *)slot = json_is_object(value);
			if (!*(bool *)slot || !take_members(value, m->object, to))
				return false;
			break;
		}
	}
	return true;
}

static bool output_of(
	const struct output_members *m, uint64_t n, const char *suffix, struct said_output *ret)
{
	char name[40];

	ret->size = m->size;
	if (!m->is)
		return false;
	if (m->file.p) {
		(void)snprintf(name, sizeof(name), "%llu.%s", (unsigned long long)n, suffix);
		ret->file = str_eq(m->file, str_of(name));
		return ret->file;
	}
	if (!ret->size)
		return !m->b64.p;
	return m->b64.p && base64_read(m->b64, &ret->bytes) && ret->bytes.len == ret->size &&
	       ret->size <= INLINE_MAX;
}

static bool small(uint64_t n, uint64_t most, int *ret)
{
	*ret = (int)MIN(n, most);
	return n <= most;
}

static bool end_of(const struct members *m, struct said_end *ret)
{
	unsigned word = 0;

	if (m->why.p && !find(why_names, WHY_KINDS, m->why, &word))
		return false;
	ret->why = (enum end_why)word;
	ret->held = m->held;
	ret->cut = m->cut;
	ret->ms = m->ms;
	ret->user_us = m->user_us;
	ret->system_us = m->system_us;
	ret->memory_kib = m->memory_kib;
	return small(m->code, 255, &ret->code) && small(m->sig, 128, &ret->signal) &&
	       small(m->error, 4095, &ret->error) && small(m->keep_error, 4095, &ret->keep_error) &&
	       output_of(&m->out, m->n, "out", &ret->out) &&
	       output_of(&m->err, m->n, "err", &ret->err) && (ret->why != WHY_START || ret->error);
}

static bool of_members(const struct members *m, struct said *ret)
{
	ret->n = m->n;
	ret->pid = m->pid;
	ret->start = m->st;
	return m->n && (ret->kind == SAID_BEGAN || end_of(m, &ret->end));
}

/* As said_write() writes it. What it is not sure of, JSON's reader decides. */
static bool said_read_plain(struct str line, struct said *ret)
{
	struct members m = { 0 };
	unsigned kind = SAID_KINDS;

	*ret = (struct said){ 0 };
	if (line.len >= LINE_MAX_BYTES || !json_plain_take(&line, &command_object, &m) ||
		line.len || !find(said_names, SAID_KINDS, m.t, &kind) ||
		(kind != SAID_BEGAN && kind != SAID_END))
		return false;
	ret->kind = (enum said_kind)kind;
	if (of_members(&m, ret))
		return true;
	said_done(ret);
	return false;
}

static bool said_take(struct said *ret)
{
	const json_t *o = ret->line;
	struct members m = { 0 };

	if (!take_number(o, "n", &ret->n))
		return false;
	ret->why = json_text_of(o, "why");
	switch (ret->kind) {
	case SAID_HELLO:
		return read_hello(o, &ret->hello);
	case SAID_BEGAN:
	case SAID_END:
		return take_members(o, &command_object, &m) && of_members(&m, ret);
	case SAID_OUT:
		return ret->n && read_out(o, ret);
	case SAID_DROPPED:
		return ret->n > 0;
	case SAID_DRAIN:
		return take_number(o, "left_s", &ret->left_s);
	case SAID_BEAT:
	case SAID_BYE:
	case SAID_KINDS:
		break;
	}
	return true;
}

bool said_read(struct str line, struct said *ret, bool *unknown)
{
	unsigned kind = 0;

	*unknown = false;
	if (said_read_plain(line, ret))
		return true;
	ret->line = load(line);
	if (!ret->line)
		return false;
	*unknown = !find(said_names, SAID_KINDS, json_text_of(ret->line, "t"), &kind);
	ret->kind = (enum said_kind)kind;
	if (!*unknown && said_take(ret))
		return true;
	said_done(ret);
	return false;
}

void said_done(struct said *s)
{
	vec_done(&s->hello.has);
	buf_done(&s->end.out.bytes);
	buf_done(&s->end.err.bytes);
	buf_done(&s->bytes);
	json_decref(s->line);
	*s = (struct said){ 0 };
}
