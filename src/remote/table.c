#include "remote/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/near.h"
#include "base/path.h"
#include "base/user.h"
#include "template/braces.h"

/* -- built in ------------------------------------------------------------------------------------
 */

#define QUOTED(...) #__VA_ARGS__

/* What holds for every executor that does not say otherwise. */
static const char defaults_text[] = QUOTED({
	"dir" : "",
	"cpus" : 4,
	"mem" : "",
	"time" : "1h",
	"extra" : [],
	"gpus" : 0,
	"partition" : "",
	"account" : "",
	"workers" : 8,
	"takes" : "all",
	"idle" : "60s",
	"orphan" : "10m",
	"env" : "run",
	"secrets" : "refuse",
	"pass_env" : [],
	"hosts" : [],
	"separator" : "|",
	"columns" : [ 1, 2, 3, 4, 5 ],
	"skip" : 0,
	"classes" : {}
});

static const struct {
	const char *name, *text;
} built_in[] = {
	{ "slurm", QUOTED({
		 "submit" : [
			 "sbatch", "--parsable", "--no-requeue", "--export=ALL",
			 "--job-name={name}", "--comment={comment}", "--output={log}",
			 "--open-mode=append", "--nodes={nodes}", "--ntasks-per-node=1",
			 "--cpus-per-task={cpus}", "--time={minutes}", "--signal=B:USR1@{warn}",
			 "{mem?--mem:}", "{mem=}", "{gpus?--gpus-per-node:}", "{gpus=}",
			 "{partition?--partition:}", "{partition=}", "{account?--account:}",
			 "{account=}", "{extra}", "{script}"
		 ],
		 "status" : [
			 "squeue", "--noheader", "--states=all", "--name={name}",
			 "--format=%i|%T|%N|%r|%k"
		 ],
		 "cancel" : [ "scancel", "{jobs}" ],
		 "states" : {
			 "queued" : [
				 "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD",
				 "REQUEUE_FED", "SPECIAL_EXIT"
			 ],
			 "running" :
				 [ "RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "RESIZING" ],
			 "suspended" : [ "SUSPENDED", "STOPPED" ],
			 "ended" : [
				 "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY",
				 "PREEMPTED", "DEADLINE"
			 ]
		 }
	 }) },
	{ "sge", QUOTED({
		 "submit" : [
			 "qsub", "-terse", "-N", "{name}", "-o", "{log}", "-j", "y", "-r", "n",
			 "-S", "/bin/sh", "-l", "h_rt={seconds}", "{extra}", "{script}"
		 ],
		 "status" : [ "qstat", "-u", "{user}" ],
		 "cancel" : [ "qdel", "{jobs}" ],
		 "separator" : " ",
		 "skip" : 2,
		 "columns" : [ 1, 5 ],
		 "pass_env" : [ "SGE_ROOT", "SGE_CELL", "SGE_QMASTER_PORT", "SGE_EXECD_PORT" ],
		 "states" : {
			 "queued" : [ "qw", "hqw", "Rq", "hRwq", "Eqw" ],
			 "running" : [ "r", "t", "Rr", "Rt", "dr", "dt" ],
			 "suspended" : [ "s", "ts", "S", "tS", "T", "tT" ],
			 "ended" : []
		 }
	 }) },
	{ "ssh", QUOTED({
		 "submit" : [
			 "ssh", "-n", "-o", "BatchMode=yes", "{extra}", "{host}",
			 "exec {quoted_roux} worker --start {host} {quoted_dir}"
		 ],
		 "status" : [],
		 "cancel" : [
			 "ssh", "-n", "-o", "BatchMode=yes", "{extra}", "{host}",
			 "exec {quoted_roux} worker --end {quoted_dir}"
		 ],
		 "time" : "30d",
		 "workers" : 1000,
		 "pass_env" : ["SSH_AUTH_SOCK"],
		 "states" : { "queued" : [], "running" : [], "suspended" : [], "ended" : [] }
	 }) },
};

static const char *const state_names[BATCH_STATES] = {
	[BATCH_QUEUED] = "queued",
	[BATCH_RUNNING] = "running",
	[BATCH_SUSPENDED] = "suspended",
	[BATCH_ENDED] = "ended",
};

static const char *built_in_text(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		if (str_eq(name, str_of(built_in[i].name)))
			return built_in[i].text;
	return NULL;
}

void table_names(const json_t *tables, struct buf *ret)
{
	const char *name;
	json_t *value;

	buf_adds(ret, "local");
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		buf_printf(ret, ", %s", built_in[i].name);
	json_object_foreach((json_t *)tables, name, value)
	{
		if (!built_in_text(str_of(name)))
			buf_printf(ret, ", %s", name);
	}
}

/* -- keys ----------------------------------------------------------------------------------------
 */

enum kind {
	A_TEXT, /* a word for a command line */
	A_DIR,  /* a directory, absolute */
	TEXTS,  /* list of texts */
	HOSTS,  /* list of texts that programs get as values */
	WORDS,  /* … with placeholders */
	COUNT,
	MEMORY,
	TIME,
	CHOICE,
	COLUMNS,
	SEPARATOR,
	STATES,
	CLASSES,
	LIKE,
};

static const struct key {
	const char *name;
	enum kind kind;
	bool in_class;
	uint64_t min, max;
	const char *first, *second; /* of a choice */
	const char *what;
} keys[] = {
	{ "like", LIKE, .what = "the executor whose keys it has where it says nothing" },
	{ "submit", WORDS, .what = "the words that ask for an allocation" },
	{ "status", WORDS, .what = "the words that print the state of its jobs" },
	{ "cancel", WORDS, .what = "the words that end jobs" },
	{ "dir", A_DIR, .what = "a directory that all nodes share" },
	{ "cpus", COUNT, true, 1, 4096, .what = "the processors of one allocation" },
	{ "mem", MEMORY, true, .what = "the memory of one allocation" },
	{ "time", TIME, true, .what = "the time limit of one allocation" },
	{ "gpus", COUNT, true, 0, 64, .what = "the graphics processors of one allocation" },
	{ "partition", A_TEXT, true, .what = "the partition or queue" },
	{ "account", A_TEXT, true, .what = "the account that pays" },
	{ "extra", TEXTS, true, .what = "further words for `submit`" },
	{ "workers", COUNT, false, 1, 1000, .what = "allocations at once" },
	{ "takes", CHOICE, .first = "all", .second = "needs", .what = "which commands go there" },
	{ "idle", TIME, .what = "how long a worker without a command stays" },
	{ "orphan", TIME, .what = "how long a worker waits for a new driver" },
	{ "env", CHOICE, .first = "run", .second = "node",
		.what = "whose environment commands have" },
	{ "secrets", CHOICE, .first = "refuse", .second = "file",
		.what = "whether secrets of the environment may be written to the shared "
			"directory" },
	{ "pass_env", TEXTS, .what = "variables that the programs of the batch system need" },
	{ "hosts", HOSTS, .what = "machines and their slots: \"n1:8\"" },
	{ "separator", SEPARATOR, .what = "what stands between the columns of `status`" },
	{ "columns", COLUMNS, .what = "which column has id, state, node, reason and comment" },
	{ "skip", COUNT, false, 0, 1000,
		.what = "lines of `status` that come before the first job" },
	{ "states", STATES, .what = "what the words that `status` prints mean" },
	{ "classes", CLASSES, .what = "other allocations, for commands that name them" },
};

static const struct key *key_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (str_eq(name, str_of(keys[i].name)))
			return &keys[i];
	return NULL;
}

struct checking {
	struct arena *arena;
	const json_t *tables;
	struct report *errors, *warnings;
};

/* A word that a program of the batch system gets as a value must not look like an option. */
static bool is_value(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
			return false;
	return !text.len || text.p[0] != '-';
}

static bool is_text(const json_t *item)
{
	return json_is_string(item) && str_find(json_str(item), '\0', 0) == json_str(item).len;
}

static bool is_host(const json_t *item)
{
	struct str ignored;
	uint64_t slots;

	return is_text(item) && table_host(json_str(item), &ignored, &slots);
}

/* The first item of a list that is not what its key wants; NULL: there is none. */
static const json_t *wrong_item(enum kind kind, const json_t *list, size_t *at)
{
	for (*at = 0; *at < json_array_size(list); ++*at) {
		const json_t *item = json_array_get(list, *at);

		if (!(kind == HOSTS ? is_host(item) : is_text(item)))
			return item;
	}
	return NULL;
}

static const char *const placeholders[] = { "name", "comment", "log", "script", "nodes", "cpus",
	"mem", "mem_mb", "minutes", "seconds", "warn", "gpus", "partition", "account", "host",
	"user", "extra", "jobs", "roux", "dir", "quoted_roux", "quoted_dir" };

struct naming {
	const struct place *place;
	struct report *r;
	bool ok;
};

static void see_placeholder(void *data, const struct placeholder *p)
{
	struct naming *n = data;
	struct near near = near_to(p->name);

	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++) {
		if (str_eq(p->name, str_of(placeholders[i])))
			return;
		near_offer(&near, str_of(placeholders[i]));
	}
	n->ok = report_error(n->r, place_where(n->place), "unknown placeholder {%.*s}",
		STR(report_quote(n->r, p->name)));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(n->r, "did you mean {%.*s}?", STR(best));
	else
		report_hint(n->r, "it has name, comment, log, script, nodes, cpus, mem, mem_mb, "
				  "minutes, seconds, warn, gpus, partition, account, host, user, "
				  "extra, jobs, quoted_roux, quoted_dir");
}

static bool check_words(struct checking *c, const struct place *p, const json_t *list)
{
	bool ok = true;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const struct place *word = place_element(c->arena, p, i);
		const struct text *t = braces_text(
			c->arena, word, json_str(json_array_get(list, i)), DIALECT_NOW, c->errors);
		struct naming n = { word, c->errors, t != NULL };

		if (t)
			t->ops->walk(t, see_placeholder, &n);
		ok &= n.ok;
	}
	return ok;
}

static bool check_columns(const json_t *value)
{
	for (size_t i = 0; i < json_array_size(value); i++) {
		json_int_t n = json_integer_value(json_array_get(value, i));

		if (!json_is_integer(json_array_get(value, i)) || n < 0 || n > 100)
			return false;
	}
	return json_is_array(value) && json_array_size(value) >= 2 &&
	       json_array_size(value) <= TABLE_COLUMNS;
}

/* Whether the value is what the key wants, tables apart. */
static bool fits(const struct key *k, const json_t *value)
{
	struct str text = json_is_string(value) ? json_str(value) : S("");
	json_int_t n = json_integer_value(value);
	uint64_t ignored;
	size_t at;

	switch (k->kind) {
	case A_TEXT:
		return json_is_string(value) && is_value(text) && text.len <= 256;
	case A_DIR:
		return json_is_string(value) &&
		       (!text.len || text.p[0] == '/' || text.p[0] == '~') && is_value(text);
	case LIKE:
		return json_is_string(value) && built_in_text(text);
	case HOSTS:
	case TEXTS:
	case WORDS:
		return json_is_array(value) && !wrong_item(k->kind, value, &at);
	case COUNT:
		return json_is_integer(value) && n >= (json_int_t)k->min && n <= (json_int_t)k->max;
	case MEMORY:
		return (json_is_string(value) && (!text.len || needs_memory(text, &ignored))) ||
		       (json_is_integer(value) && n > 0);
	case TIME:
		return (json_is_string(value) && needs_seconds(text, &ignored)) ||
		       (json_is_integer(value) && n > 0 && n < 1000000000);
	case CHOICE:
		return str_eq(text, str_of(k->first)) || str_eq(text, str_of(k->second));
	case COLUMNS:
		return check_columns(value);
	case SEPARATOR:
		return json_is_string(value) && text.len == 1;
	case STATES:
	case CLASSES:
		break;
	}
	return json_is_object(value);
}

/* `item`: of one item of such a list. */
static void expected(struct buf *b, const struct key *k, bool item)
{
	static const char *const texts[] = {
		[A_TEXT] = "a string that does not begin with -",
		[A_DIR] = "an absolute path",
		[TEXTS] = "a list of strings",
		[HOSTS] = "a list of machines such as \"n1\" or \"n1:8\"",
		[WORDS] = "a list of words",
		[MEMORY] = "a size such as \"8G\"",
		[TIME] = "a time such as \"45m\" or \"2h\"",
		[COLUMNS] = "a list of two to five numbers",
		[SEPARATOR] = "one character",
		[STATES] = "a table of lists",
		[CLASSES] = "a table of tables",
		[LIKE] = "\"slurm\", \"sge\" or \"ssh\"",
	};

	if (item)
		buf_adds(b, k->kind == HOSTS ? "a machine such as \"n1\" or \"n1:8\"" : "a string");
	else if (k->kind == COUNT)
		buf_printf(b, "a whole number from %" PRIu64 " to %" PRIu64, k->min, k->max);
	else if (k->kind == CHOICE)
		buf_printf(b, "\"%s\" or \"%s\"", k->first, k->second);
	else
		buf_adds(b, texts[k->kind]);
}

static void wrong(
	struct checking *c, const struct key *k, const struct place *p, const json_t *value)
{
	AUTO_BUF wanted = BUF_INIT;
	AUTO_BUF found = BUF_INIT;
	AUTO_BUF name = BUF_INIT;
	size_t at = 0;
	bool list = k->kind == HOSTS || k->kind == TEXTS || k->kind == WORDS;
	const json_t *item = list ? wrong_item(k->kind, value, &at) : NULL;

	expected(&wanted, k, item != NULL);
	buf_printf(&name, "'%.*s'", STR(p->key));
	if (item) {
		buf_reset(&name);
		buf_printf(&name, "item %zu of '%.*s'", at + 1, STR(p->key));
		p = place_element(c->arena, p, at);
		value = item;
	}
	if (json_is_number(value))
		json_write(&found, value, 0);
	else if (json_is_string(value) && json_string_length(value))
		buf_printf(&found, "\"%.*s\"", STR(report_quote(c->errors, json_str(value))));
	else
		buf_adds(&found, json_is_string(value)   ? "an empty string"
				 : json_is_object(value) ? "a table"
							 : json_kind(value));
	report_error(c->errors, place_where(p), "%s is %s, expected %s", buf_cstr(&name),
		buf_cstr(&found), buf_cstr(&wanted));
	report_hint(c->errors, "it says %s", k->what);
}

static void unknown(struct checking *c, const struct place *p, bool in_class, bool states)
{
	struct near near = near_to(p->key);

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !states; i++)
		if (!in_class || keys[i].in_class)
			near_offer(&near, str_of(keys[i].name));
	for (size_t i = 1; i < BATCH_STATES && states; i++)
		near_offer(&near, str_of(state_names[i]));
	report_error(c->errors, place_key_where(p), "unknown key '%.*s' of an executor",
		STR(report_quote(c->errors, p->key)));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(c->errors, "did you mean '%.*s'?", STR(best));
}

static void check_states(struct checking *c, const struct place *p, const json_t *states)
{
	const char *name;
	json_t *list;

	json_object_foreach((json_t *)states, name, list)
	{
		const struct place *at = place_member(c->arena, p, str_of(name));
		bool known = false;

		for (size_t i = 1; i < BATCH_STATES; i++)
			known |= str_eq(at->key, str_of(state_names[i]));
		if (!known)
			unknown(c, at, false, true);
		else if (!fits(key_find(S("extra")), list))
			wrong(c, key_find(S("extra")), at, list);
	}
}

static void check_members(
	struct checking *c, const struct place *p, const json_t *members, bool in_class)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)members, name, value)
	{
		const struct place *at = place_member(c->arena, p, str_of(name));
		const struct key *k = key_find(at->key);

		if (!k || (in_class && !k->in_class)) {
			unknown(c, at, in_class, false);
		} else if (!fits(k, value)) {
			wrong(c, k, at, value);
		} else if (k->kind == WORDS) {
			(void)check_words(c, at, value);
		} else if (k->kind == STATES) {
			check_states(c, at, value);
		} else if (k->kind == CLASSES) {
			const char *class;
			json_t *own;

			json_object_foreach(value, class, own)
			{
				const struct place *in = place_member(c->arena, at, str_of(class));

				if (json_is_object(own))
					check_members(c, in, own, true);
				else
					wrong(c, k, in, own);
			}
		}
	}
}

/* What has no model must say how it is asked. */
static void check_complete(struct checking *c, const struct place *p, const json_t *own)
{
	static const char *const needed[] = { "submit", "status", "cancel", "states" };

	if (built_in_text(p->key) || json_object_get(own, "like"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (json_object_get(own, needed[i]))
			continue;
		report_error(c->errors, place_key_where(p), "the executor '%.*s' has no `%s`",
			STR(p->key), needed[i]);
		report_hint(c->errors, "write it, or like = \"slurm\"");
		return;
	}
}

void tables_check(struct arena *a, const struct place *place, const json_t *tables,
	struct report *errors, struct report *warnings)
{
	struct checking c = { a, tables, errors, warnings };
	const char *name;
	json_t *own;

	if (!json_is_object(tables)) {
		report_error(errors, place_where(place), "'executors' is %s, expected tables",
			json_kind(tables));
		report_hint(errors, "write [executors.NAME] and its keys below it");
		return;
	}
	json_object_foreach((json_t *)tables, name, own)
	{
		const struct place *p = place_member(a, place, str_of(name));

		if (str_eq(p->key, S("local")) || !p->key.len || p->key.len > 64 ||
			str_find(p->key, ':', 0) < p->key.len || !is_value(p->key)) {
			report_error(errors, place_key_where(p), "'%.*s' cannot be an executor",
				STR(report_quote(errors, p->key)));
			report_hint(errors, "local is this machine; a name has no colon in it");
		} else if (!json_is_object(own)) {
			report_error(errors, place_where(p), "'%.*s' is %s, expected a table",
				STR(p->key), json_kind(own));
		} else {
			check_members(&c, p, own, false);
			check_complete(&c, p, own);
		}
	}
}

/* -- resolving -----------------------------------------------------------------------------------
 */

/* A list of `states` replaces the list of that name, everything else as a whole. */
static void lay_over(json_t *to, json_t *from)
{
	json_t *states = json_object_get(to, "states"), *more = json_object_get(from, "states");
	json_t *all = json_object();

	if (states)
		json_object_update(all, states);
	if (more)
		json_object_update(all, more);
	json_object_update(to, from);
	json_object_set_new(to, "states", all);
}

json_t *table_resolve(const json_t *tables, struct str name, struct report *r)
{
	json_t *own = json_object_getn(tables, name.p, name.len);
	struct str like = json_object_get(own, "like") ? json_text_of(own, "like") : name;
	const char *model = built_in_text(like);
	AUTO_BUF names = BUF_INIT;

	if (!own && !model) {
		table_names(tables, &names);
		report_error(r, (struct where){ 0 }, "there is no executor '%.*s'",
			STR(report_quote(r, name)));
		report_hint(r, "there are %s; [executors.NAME] in config.toml makes one",
			buf_cstr(&names));
		return NULL;
	}
	json_t *all = json_loads(defaults_text, 0, NULL);
	AUTO_JSON *base = model ? json_loads(model, 0, NULL) : NULL;
	if (base)
		lay_over(all, base);
	if (own)
		lay_over(all, own);
	json_object_del(all, "like");
	return all;
}

/* -- reading -------------------------------------------------------------------------------------
 */

static const char *const *texts_of(struct table *t, const json_t *list)
{
	size_t count = json_array_size(list);
	const char **words = arena_array(&t->arena, const char *, count + 1);

	for (size_t i = 0; i < count; i++)
		words[i] = arena_cstr(&t->arena, json_str(json_array_get(list, i)));
	return words;
}

static struct str text_of(struct table *t, const json_t *o, const char *name)
{
	return str_of(arena_cstr(&t->arena, json_text_of(o, name)));
}

static uint64_t memory_of(const json_t *value)
{
	uint64_t mb = 0;

	if (json_is_integer(value))
		return ((uint64_t)json_integer_value(value) + (1 << 20) - 1) >> 20;
	return json_is_string(value) && needs_memory(json_str(value), &mb) ? mb : 0;
}

static uint64_t time_of(const json_t *value)
{
	uint64_t s = 0;

	if (json_is_integer(value))
		return (uint64_t)json_integer_value(value);
	return json_is_string(value) && needs_seconds(json_str(value), &s) ? s : 0;
}

static struct shape shape_of(struct table *t, const json_t *o)
{
	return (struct shape){
		.cpus = (uint64_t)json_number_of(o, "cpus"),
		.mem_mb = memory_of(json_object_get(o, "mem")),
		.time_s = time_of(json_object_get(o, "time")),
		.gpus = (uint64_t)json_number_of(o, "gpus"),
		.nodes = 1,
		.partition = text_of(t, o, "partition"),
		.account = text_of(t, o, "account"),
		.extra = texts_of(t, json_object_get(o, "extra")),
	};
}

static void read_classes(struct table *t, json_t *all)
{
	json_t *classes = json_object_get(all, "classes"), *own;
	const char *name;

	t->classes = arena_array(&t->arena, struct table_class, json_object_size(classes));
	json_object_foreach(classes, name, own)
	{
		AUTO_JSON *merged = json_copy(all);
		struct table_class *c = &t->classes[t->class_count++];

		json_object_update(merged, own);
		c->name = str_of(arena_cstr(&t->arena, str_of(name)));
		c->shape = shape_of(t, merged);
		c->shape.class = c->name;
	}
}

struct table *table_load(json_t *resolved, struct str name, struct report *r)
{
	struct table *t = mem_new(struct table);
	const json_t *states = json_object_get(resolved, "states");
	const json_t *columns = json_object_get(resolved, "columns");
	struct doc doc = { .root = resolved, .source = { S("the executor of the run"), S("") } };
	struct place root = { .doc = &doc, .key = name };
	struct checking c = { &t->arena, NULL, r, r };
	size_t before = r->errors;

	t->json = json_incref(resolved);
	t->name = arena_str(&t->arena, name);
	/* `suffix` is the run's, not of the settings. */
	AUTO_JSON *said = json_copy(resolved);
	json_object_del(said, "suffix");
	check_members(&c, &root, said, false);
	if (r->errors > before) {
		table_free(t);
		return NULL;
	}
	t->submit = texts_of(t, json_object_get(resolved, "submit"));
	t->status = texts_of(t, json_object_get(resolved, "status"));
	t->cancel = texts_of(t, json_object_get(resolved, "cancel"));
	t->pass_env = texts_of(t, json_object_get(resolved, "pass_env"));
	t->hosts = texts_of(t, json_object_get(resolved, "hosts"));
	for (size_t i = 0; i < BATCH_STATES; i++)
		t->states[i] = texts_of(
			t, state_names[i] ? json_object_get(states, state_names[i]) : NULL);
	t->suffix = text_of(t, resolved, "suffix");
	t->dir = path_tilde(&t->arena, text_of(t, resolved, "dir"), user_home(&t->arena));
	t->shape = shape_of(t, resolved);
	t->workers = (uint64_t)json_number_of(resolved, "workers");
	t->slots = t->workers * t->shape.cpus;
	t->idle_s = time_of(json_object_get(resolved, "idle"));
	t->orphan_s = time_of(json_object_get(resolved, "orphan"));
	t->takes_needs = str_eq(json_text_of(resolved, "takes"), S("needs"));
	t->env_node = str_eq(json_text_of(resolved, "env"), S("node"));
	t->secrets_file = str_eq(json_text_of(resolved, "secrets"), S("file"));
	t->separator = *text_of(t, resolved, "separator").p;
	t->separator = t->separator == ' ' ? '\0' : t->separator;
	t->skip = (unsigned)json_number_of(resolved, "skip");
	for (size_t i = 0; i < json_array_size(columns) && i < TABLE_COLUMNS; i++)
		t->columns[i] = (unsigned)json_integer_value(json_array_get(columns, i));
	read_classes(t, resolved);
	if (t->hosts[0])
		table_size_hosts(t);
	if (table_lacks_hosts(t, r)) {
		table_free(t);
		return NULL;
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	json_decref(t->json);
	arena_done(&t->arena);
	free(t);
}
