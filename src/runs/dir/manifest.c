#include "runs/dir/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/sha256.h"

void manifest_resolve(struct str path, struct str cwd, struct buf *ret)
{
	if (path.len && path.p[0] != '/' && cwd.len)
		buf_printf(ret, "%.*s/", STR(cwd));
	buf_add(ret, path);
}

static const json_t *path_of(const json_t *artifact)
{
	const json_t *path =
		json_is_string(artifact) ? artifact : json_object_get(artifact, "path");

	return json_is_string(path) ? path : NULL;
}

json_t *manifest_paths(const json_t *artifacts)
{
	json_t *paths = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)artifacts, name, value)
	{
		if (path_of(value))
			json_object_set_nocheck(paths, name, (json_t *)path_of(value));
	}
	return paths;
}

/* However large the file is, in pieces. */
static bool hash(int fd, char hex[SHA256_HEX])
{
	enum { PIECE = 64 * 1024 };
	AUTO_FREE char *piece = mem_alloc(PIECE);
	unsigned char digest[SHA256_BYTES];
	struct sha256 h;
	ssize_t n;

	sha256_init(&h);
	while ((n = read(fd, piece, PIECE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		sha256_update(&h, (struct str){ piece, (size_t)n });
	}
	sha256_final(&h, digest);
	hex_write(digest, SHA256_BYTES, hex);
	return true;
}

/* What a recipe says about an artifact, or null. */
static void take(json_t *entry, const char *name, const json_t *artifact, const json_t *declared)
{
	json_t *value = json_object_get(artifact, name);

	if (!value)
		value = json_object_get(declared, name);
	if (value)
		json_object_set(entry, name, value);
	else
		json_object_set_new(entry, name, json_null());
}

static json_t *entry_of(
	const json_t *artifact, const json_t *declared, const json_t *path, struct str cwd)
{
	json_t *entry = json_object();
	AUTO_BUF file = BUF_INIT;
	struct stat st;
	char hex[SHA256_HEX];

	manifest_resolve(json_str(path), cwd, &file);
	/* Not blocking: a command may have made a FIFO of that name. */
	AUTO_CLOSE int fd = open(buf_cstr(&file), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool exists = stat(buf_cstr(&file), &st) == 0;
	bool plain = exists && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	json_object_set(entry, "path", (json_t *)path);
	json_object_set_new(entry, "exists", json_boolean(exists));
	json_object_set_new(
		entry, "size", plain ? json_integer((json_int_t)st.st_size) : json_null());
	json_object_set_new(
		entry, "sha256", plain && hash(fd, hex) ? json_string(hex) : json_null());
	take(entry, "kind", artifact, declared);
	take(entry, "media_type", artifact, declared);
	take(entry, "required", artifact, declared);
	if (json_is_null(json_object_get(entry, "required")))
		json_object_set_new(entry, "required", json_false());
	return entry;
}

json_t *manifest_make(const json_t *artifacts, const json_t *declared, struct str cwd)
{
	json_t *manifest = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)artifacts, name, value)
	{
		const json_t *path = path_of(value);

		if (path)
			json_object_set_new_nocheck(manifest, name,
				entry_of(value, json_object_get(declared, name), path, cwd));
	}
	return manifest;
}
