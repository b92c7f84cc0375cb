#include "recipe/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "data/canonical.h"
#include "data/edit.h"
#include "recipe/file.h"

enum {
	LOCK_WAIT_MS = 10000, /* hundreds of launches at once take turns of some ms each */
	TRIES = 5,            /* when a program without our lock writes the file, too */
};

static const char *const kinds[] = { "direct", "tool", "spawn" };

void usage_fingerprint(const json_t *recipe, char hex[SHA256_HEX])
{
	AUTO_JSON *authored = json_copy((json_t *)recipe);
	AUTO_BUF text = BUF_INIT;

	(void)json_object_del(authored, "usage");
	json_canonical(&text, authored);
	sha256_hex(buf_str(&text), hex);
}

static bool fingerprint_of(struct str text, char hex[SHA256_HEX])
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *recipe = json_read(&(struct source){ S("recipe"), text }, &ignored);

	if (json_is_object(recipe))
		usage_fingerprint(recipe, hex);
	return json_is_object(recipe);
}

bool usage_same_version(struct str a, struct str b)
{
	char of_a[SHA256_HEX], of_b[SHA256_HEX];

	if (str_eq(a, b))
		return true;
	return fingerprint_of(a, of_a) && fingerprint_of(b, of_b) && strcmp(of_a, of_b) == 0;
}

void usage_forget(struct str text, struct buf *b)
{
	if (!edit_set_member(text, S("usage"), S("{}"), b))
		buf_add(b, text);
}

static bool known_kind(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return false;
}

/* Whatever else stands where a count should be does not count yet. */
static void count(json_t *usage, const char *name, bool restart)
{
	double so_far = floor(json_number_value(json_object_get(usage, name)));

	if (restart || !(so_far > 0))
		so_far = 0;
	(void)json_object_set_new(usage, name, json_real(so_far + 1));
}

static void count_kind(json_t *usage, const char *kind, bool restart)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		AUTO_BUF name = BUF_INIT;

		buf_printf(&name, "%s_calls", kinds[i]);
		if (strcmp(kinds[i], kind) == 0)
			count(usage, buf_cstr(&name), restart);
		else if (restart && json_object_get(usage, buf_cstr(&name)))
			/* Otherwise the parts would be more than `calls`. */
			(void)json_object_set_new(usage, buf_cstr(&name), json_integer(0));
	}
}

/* Members keep their places and new ones come last, so that a diff shows what changed. */
static json_t *counted(const json_t *recipe, const char *kind)
{
	const json_t *before = json_object_get(recipe, "usage");
	json_t *usage = json_is_object(before) ? json_copy((json_t *)before) : json_object();
	const char *known = json_string_value(json_object_get(usage, "fingerprint"));
	char fingerprint[SHA256_HEX];
	AUTO_BUF now = BUF_INIT;

	usage_fingerprint(recipe, fingerprint);
	clock_rfc3339(&now, clock_real_ms());
	bool changed = known && strcmp(known, fingerprint) != 0;

	count(usage, "calls", changed);
	(void)json_object_set_new(usage, "last_called", json_from_str(buf_str(&now)));
	(void)json_object_set_new(usage, "fingerprint", json_string(fingerprint));
	if (changed)
		(void)json_object_set_new(usage, "reset_at", json_from_str(buf_str(&now)));
	(void)json_object_set_new(usage, "launch_kind", json_string(kind));
	count_kind(usage, kind, changed);
	return usage;
}

/* The text of the recipe after one more launch. */
static int count_in(struct str text, const char *kind, struct buf *ret)
{
	const struct source source = { S("recipe"), text };
	AUTO_REPORT ignored = REPORT_INIT; /* the loader of the recipe has told */
	AUTO_JSON *recipe = json_read(&source, &ignored);
	AUTO_BUF value = BUF_INIT;

	if (!json_object_get(recipe, "template"))
		return -EBADMSG;
	AUTO_JSON *usage = counted(recipe, kind);
	json_write(&value, usage, 0);
	if (!edit_set_member(text, S("usage"), buf_str(&value), ret))
		return -EBADMSG;
	return ret->len > RECIPE_MAX_BYTES ? -EFBIG : 0;
}

static int read_recipe(const char *path, struct buf *ret, struct stat *st)
{
	/* Not blocking: it may have become a pipe. */
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	return fd_read_all(fd, RECIPE_MAX_BYTES, ret);
}

static int count_once(const char *path, const char *kind)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF counted_text = BUF_INIT;
	struct stat st;
	int r = read_recipe(path, &text, &st);

	/* Replacing needs no right to write the file; asking honours an author who took it away. */
	if (r == 0 && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
		r = -errno;
	if (r == 0)
		r = count_in(buf_str(&text), kind, &counted_text);
	if (r < 0)
		return r;
	return atomic_write(path, buf_str(&counted_text),
		&(struct atomic_options){ .keep = true, .follow = true, .replaces = &st });
}

/* Some network file systems cannot lock a directory. The file is replaced whole all the same; only
 * two launches at the same moment may then count as one. */
static bool no_locks(int r)
{
	return r == -EBADF || r == -ENOLCK || r == -EOPNOTSUPP || r == -EINVAL;
}

int usage_count(const char *path, const char *kind)
{
	AUTO_CLOSE int lock = -1;
	int r;

	if (!known_kind(kind))
		return -EINVAL;
	r = file_lock(path, LOCK_WAIT_MS, &lock);
	if (r == 0 || no_locks(r)) {
		/* An editor that has just saved is not a reason to lose a launch. */
		for (int i = 0; i < TRIES; i++) {
			r = count_once(path, kind);
			if (r != -ESTALE)
				break;
		}
	}
	if (r < 0)
		log_debug("usage", "%s: %s", path, strerror(-r));
	return r;
}
