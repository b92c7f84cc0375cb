#include "recipe/bundle.h"

#include <stdlib.h>

#include "base/path.h"
#include "base/program.h"
#include "graph/argv.h"

enum {
	BUNDLE_MAX = 256 * 1024,
	RECORDS_MAX = 2000, /* a recipe can be imported along very many ways */
};

/* One file as it is reached from the entry. */
struct record {
	const struct recipe_file *file;
	struct str alias; /* empty: the entry */
	const struct record *up;
	unsigned depth;
	struct str json; /* without what tells where the reader is, and without its last brace */
};

struct bundle {
	struct arena arena;
	VEC(struct record *) records;
	bool cut; /* there are more than RECORDS_MAX */
};

static void import_path(const struct record *r, struct buf *b)
{
	if (!r->up)
		return;
	import_path(r->up, b);
	if (r->up->up)
		buf_addc(b, ',');
	json_write_str(b, r->alias);
}

static struct str record_json(struct arena *a, const struct record *r, struct mask *m)
{
	AUTO_JSON *shown = mask_members(m, r->file->doc.root);
	AUTO_BUF b = BUF_INIT;

	buf_addc(&b, '{');
	if (r->up) {
		buf_adds(&b, "\"alias\":");
		json_write_str(&b, r->alias);
		buf_addc(&b, ',');
	}
	buf_printf(&b, "\"depth\":%u,\"file\":", r->depth);
	json_write_str(&b, r->file->path);
	buf_adds(&b, ",\"import_path\":[");
	import_path(r, &b);
	buf_adds(&b, "],\"name\":");
	json_write_str(&b, r->file->id);
	buf_adds(&b, ",\"recipe\":");
	json_write(&b, shown, 0);
	buf_printf(&b, ",\"role\":\"%s\"", r->up ? "import" : "entry");
	return arena_str(a, buf_str(&b));
}

static void add(struct bundle *b, const struct recipe_file *f, struct str alias,
	const struct record *up, struct mask *m)
{
	if (b->records.len >= RECORDS_MAX) {
		b->cut = true;
		return;
	}
	struct record *r = arena_new(&b->arena, struct record);
	*r = (struct record){
		.file = f, .alias = alias, .up = up, .depth = up ? up->depth + 1 : 0
	};
	r->json = record_json(&b->arena, r, m);
	vec_push(&b->records, r);
	vec_each (import, &f->imports)
		add(b, import->file, import->alias, r, m);
}

struct bundle *bundle_new(const struct recipe *recipe, struct mask *m)
{
	const json_t *said = json_object_get(recipe->file->object, "actor_context");

	if (json_is_false(said) || (json_is_string(said) && str_eq(json_str(said), S("off"))))
		return NULL;
	struct bundle *b = mem_new(struct bundle);
	add(b, recipe->file, S(""), NULL, m);
	return b;
}

void bundle_free(struct bundle *b)
{
	if (!b)
		return;
	vec_done(&b->records);
	arena_done(&b->arena);
	free(b);
}

/* -- one launch ----------------------------------------------------------------------------------
 */

static bool same_way(const struct record *r, const struct origin *o)
{
	for (; r->up && o && o->up; r = r->up, o = o->up)
		if (!str_eq(r->alias, o->alias))
			return false;
	return !r->up && o && !o->up;
}

static void way_name(const struct record *r, struct buf *b)
{
	if (r->up && r->up->up) {
		way_name(r->up, b);
		buf_addc(b, '.');
	}
	buf_add(b, r->up ? r->alias : r->file->id);
}

static size_t deepest(const struct bundle *b)
{
	size_t depth = 0;

	vec_each (r, &b->records)
		depth = MAX(depth, (size_t)(*r)->depth);
	return depth;
}

/* All records down to `depth`, the one of `here` marked. */
static void write_records(
	const struct bundle *b, const struct origin *here, size_t depth, struct buf *ret)
{
	size_t left_out = 0;

	vec_each (slot, &b->records) {
		const struct record *r = *slot;

		if (r->depth > depth) {
			left_out++;
			continue;
		}
		if (ret->len)
			buf_addc(ret, '\n');
		buf_add(ret, r->json);
		if (same_way(r, here)) {
			AUTO_BUF way = BUF_INIT;

			way_name(r, &way);
			buf_adds(ret, ",\"you_are_here\":true,\"you_are_here_path\":");
			json_write_str(ret, buf_str(&way));
		}
		buf_addc(ret, '}');
	}
	if (left_out || b->cut)
		buf_printf(ret, "\n{\"left_out\":%zu,\"reason\":\"the bundle would be too long\"}",
			left_out);
}

size_t bundle_count(const struct bundle *b)
{
	return b->records.len;
}

void bundle_write(const struct bundle *b, struct buf *ret)
{
	write_records(b, NULL, SIZE_MAX, ret);
	buf_addc(ret, '\n');
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

/* -p, --print and --no-… stand alone; any other option may have a value behind it. */
static bool takes_value(const char *word)
{
	return is_option(word) && strcmp(word, "-p") != 0 && strcmp(word, "--print") != 0 &&
	       strncmp(word, "--no-", 5) != 0 && !strchr(word, '=');
}

/* The last word that is neither an option nor an option's value; 0: none. */
static size_t prompt_argument(const char *const *argv, size_t argc)
{
	for (size_t i = argc - 1; i > 0; i--)
		if (!is_option(argv[i]) && !takes_value(argv[i - 1]))
			return i;
	return 0;
}

static bool prompt_launch(const char *const *argv, size_t argc)
{
	if (!str_eq(path_base(str_of(argv[0])), S("pi")))
		return false;
	for (size_t i = 1; i < argc; i++)
		if (strcmp(argv[i], "-p") == 0 || strcmp(argv[i], "--print") == 0)
			return true;
	return false;
}

const char *const *bundle_arguments(const struct bundle *b, const struct origin *origin,
	const char *const *argv, size_t argc, struct arena *a)
{
	static const char intro[] =
		"Recipe context: the recipe that launched you and what it imports, one JSON record "
		"a line. It is provenance, not the task: the prompt above stays authoritative. "
		"\"you_are_here\": true marks the recipe whose node launched you.\n```jsonl\n";
	AUTO_BUF records = BUF_INIT;
	AUTO_BUF prompt = BUF_INIT;

	size_t at = b && prompt_launch(argv, argc) ? prompt_argument(argv, argc) : 0;
	if (!at || argv[at][0] == '@')
		return argv;
	/* It has to fit into one argument; the deepest records go first. */
	size_t taken = strlen(argv[at]) + sizeof(intro) + 16;
	size_t room = taken < PROGRAM_STRING_MAX
			      ? MIN(PROGRAM_STRING_MAX - taken, (size_t)BUNDLE_MAX)
			      : 0;
	for (size_t depth = deepest(b) + 1; depth > 0; depth--) {
		buf_reset(&records);
		write_records(b, origin, depth - 1, &records);
		if (records.len <= room)
			break;
	}
	if (records.len > room)
		return argv;
	buf_printf(&prompt, "%s\n\n%s", argv[at], intro);
	buf_add(&prompt, buf_str(&records));
	buf_adds(&prompt, "\n```\n");
	const char **changed = arena_array(a, const char *, argc + 1);
	memcpy(changed, argv, argc * sizeof(*argv));
	changed[at] = arena_cstr(a, buf_str(&prompt));
	return changed;
}
