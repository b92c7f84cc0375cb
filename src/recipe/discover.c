#include "recipe/discover.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/near.h"
#include "base/path.h"
#include "base/user.h"

const char *recipe_layer_name(enum recipe_layer layer)
{
	static const char *const names[] = {
		[LAYER_USER] = "user",
		[LAYER_ADHOC] = "adhoc",
		[LAYER_PACKAGED] = "packaged",
		[LAYER_PROJECT] = "project",
	};

	return names[layer];
}

static bool regular(struct str path)
{
	struct stat st;

	return stat(path.p, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_dir_of(const struct stat *st, struct str path)
{
	struct stat other;

	return stat(path.p, &other) == 0 && st->st_dev == other.st_dev &&
	       st->st_ino == other.st_ino;
}

static bool same_dir(struct str a, struct str b)
{
	struct stat st;

	return stat(a.p, &st) == 0 && is_dir_of(&st, b);
}

/* Lower is better. */
static size_t layer_rank(enum recipe_layer layer)
{
	static const size_t ranks[] = {
		[LAYER_USER] = 0,
		[LAYER_PROJECT] = 1,
		[LAYER_ADHOC] = 2,
		[LAYER_PACKAGED] = 3,
	};

	return ranks[layer];
}

/* Lower is better: the layer, then the extension. */
static size_t rank(const struct recipe_candidate *c)
{
	size_t extension = 0;

	while (recipe_extension(extension) &&
		!str_ends(c->path, str_of(recipe_extension(extension))))
		extension++;
	return layer_rank(c->layer) * 8 + extension;
}

static struct recipe_entry *entry_of(struct recipe_index *index, struct str id)
{
	size_t low = 0, high = index->entries.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (str_cmp(index->entries.at[mid].id, id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < index->entries.len && str_eq(index->entries.at[low].id, id))
		return &index->entries.at[low];
	vec_push(&index->entries, (struct recipe_entry){ 0 });
	memmove(index->entries.at + low + 1, index->entries.at + low,
		(index->entries.len - 1 - low) * sizeof(*index->entries.at));
	index->entries.at[low] = (struct recipe_entry){ .id = id };
	return &index->entries.at[low];
}

static void add(struct recipe_index *index, struct str path, enum recipe_layer layer)
{
	struct recipe_candidate c = { path, layer };
	struct recipe_entry *e = entry_of(index, recipe_id_of(path));

	vec_push(&e->candidates, c);
	size_t at = e->candidates.len - 1;
	for (; at > 0 && rank(&e->candidates.at[at - 1]) > rank(&c); at--)
		e->candidates.at[at] = e->candidates.at[at - 1];
	e->candidates.at[at] = c;
}

static bool counts(const char *name)
{
	enum recipe_format ignored;
	struct str s = str_of(name);

	return name[0] != '.' && !str_ends(s, S(".tmp")) && recipe_format_of(s, &ignored) &&
	       recipe_id_of(s).len < s.len;
}

static void note_unreadable(struct recipe_index *index, struct str dir, int error)
{
	vec_push(&index->unreadable,
		(struct recipe_root_error){ arena_str(&index->arena, dir), error });
}

static void scan(struct recipe_index *index, struct str dir, enum recipe_layer layer)
{
	DIR *d = opendir(dir.p);

	if (!d) {
		if (errno != ENOENT)
			note_unreadable(index, dir, errno);
		return;
	}
	errno = 0;
	for (struct dirent *e; (e = readdir(d)); errno = 0) {
		if (!counts(e->d_name))
			continue;
		struct str path = path_below(&index->arena, dir, str_of(e->d_name));

		/* A directory called x.json is not a recipe; a link to a file is one. */
		if (e->d_type == DT_REG || regular(path))
			add(index, path, layer);
	}
	if (errno)
		note_unreadable(index, dir, errno);
	(void)closedir(d);
}

struct recipe_index *recipe_index_new(const struct recipe_dirs *dirs)
{
	struct recipe_index *index = mem_new(struct recipe_index);

	index->dirs = *dirs;
	scan(index, dirs->user, LAYER_USER);
	if (dirs->project.recipes.len && !same_dir(dirs->project.recipes, dirs->user))
		scan(index, dirs->project.recipes, LAYER_PROJECT);
	if (!str_eq(dirs->packaged, dirs->user))
		scan(index, dirs->packaged, LAYER_PACKAGED);
	return index;
}

void recipe_index_free(struct recipe_index *index)
{
	if (!index)
		return;
	vec_each (e, &index->entries)
		vec_done(&e->candidates);
	vec_done(&index->entries);
	vec_done(&index->unreadable);
	arena_done(&index->arena);
	free(index);
}

const struct recipe_entry *recipe_index_find(const struct recipe_index *index, struct str id)
{
	vec_each (e, &index->entries)
		if (str_eq(e->id, id))
			return e;
	return NULL;
}

void recipe_index_report(const struct recipe_index *index, struct report *r)
{
	vec_each (e, &index->unreadable)
		report_errno(r, e->error, "cannot read the recipes in %.*s", STR(e->dir));
}

/* -- one operand ---------------------------------------------------------------------------------
 */

/* `there`: it has been seen. */
static bool by_path(
	struct arena *a, struct str operand, bool there, struct str *path, struct report *r)
{
	operand = path_tilde(a, operand, user_home(a));
	*path = path_absolute(a, operand);
	if (there || access(path->p, F_OK) == 0)
		return true;
	return report_errno(r, errno, "cannot read '%.*s'", STR(operand));
}

/* A file that is named by its path may be one of those that are found by location, too. */
static enum recipe_layer layer_of(
	struct arena *a, const struct recipe_dirs *dirs, struct str path, bool found)
{
	struct str base = arena_str(a, path_base(path)), dir = arena_str(a, path_dir(path));
	struct stat st;

	if (!found || !counts(base.p))
		return LAYER_ADHOC;
	bool there = stat(dir.p, &st) == 0;
	return there && is_dir_of(&st, dirs->user)       ? LAYER_USER
	       : there && is_dir_of(&st, dirs->packaged) ? LAYER_PACKAGED
	       : project_of_file(path).len               ? LAYER_PROJECT
							 : LAYER_ADHOC;
}

static void suggest(const struct recipe_index *index, struct str id, struct report *r)
{
	struct near near = near_to(id);

	vec_each (e, &index->entries)
		near_offer(&near, e->id);
	struct str best = near_best(&near);
	if (best.len) {
		report_hint(r, "did you mean '%.*s'?", STR(best));
		return;
	}
	/* Recipes are found by name in their directories only. */
	for (size_t i = 0; recipe_extension(i); i++) {
		AUTO_BUF file = BUF_INIT;

		buf_printf(&file, "%.*s%s", STR(id), recipe_extension(i));
		if (regular(buf_str(&file))) {
			report_hint(r, "a file is named by its path: ./%s", buf_cstr(&file));
			return;
		}
	}
	report_action(r, ACTION_LIST_RECIPES, S(""));
}

bool recipe_locate(struct arena *a, const struct recipe_dirs *dirs, struct str operand,
	struct recipe_location *ret, struct report *r)
{
	enum recipe_format format;
	struct str named = arena_str(a, operand);
	bool extended = recipe_format_of(operand, &format);

	*ret = (struct recipe_location){ .blocked = S(""), .packaged = S("") };
	bool way = str_find(operand, '/', 0) < operand.len,
	     there = !way && extended && regular(named);

	if (way || there) {
		bool found = by_path(a, named, there, &ret->path, r);

		ret->by_path = true;
		ret->layer = layer_of(a, dirs, ret->path, found);
		return found;
	}

	struct recipe_index *index = recipe_index_new(dirs);
	const struct recipe_entry *e =
		recipe_index_find(index, extended ? recipe_id_of(named) : named);
	if (e) {
		ret->path = arena_str(a, e->candidates.at[0].path);
		ret->layer = e->candidates.at[0].layer;
		if (e->candidates.len > 1)
			ret->blocked = arena_str(a, e->candidates.at[1].path);
		const struct recipe_candidate *last = &e->candidates.at[e->candidates.len - 1];
		if (ret->layer == LAYER_PROJECT && last->layer == LAYER_PACKAGED)
			ret->packaged = arena_str(a, last->path);
	} else {
		report_error(r, (struct where){ 0 }, "there is no recipe '%.*s'", STR(operand));
		suggest(index, operand, r);
		recipe_index_report(index, r);
	}
	recipe_index_free(index);
	return e != NULL;
}
