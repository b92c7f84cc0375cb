#include "recipe/dirs.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "base/user.h"

static bool is_dir(struct str path)
{
	struct stat st;

	if (stat(path.p, &st) == 0)
		return S_ISDIR(st.st_mode);
	/* What cannot be found out is reported when it is read. */
	return errno != ENOENT && errno != ENOTDIR;
}

struct holder {
	uintptr_t address;
	const char *name; /* empty: the program itself */
};

static int find_holder(struct dl_phdr_info *info, size_t size, void *data)
{
	struct holder *h = data;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && h->address >= from && h->address - from < p->p_memsz) {
			h->name = info->dlpi_name;
			return 1;
		}
	}
	return 0;
}

struct str code_path(struct arena *a)
{
	struct holder h = { .address = (uintptr_t)find_holder };
	char self[4096];

	if (dl_iterate_phdr(find_holder, &h) && h.name && *h.name)
		return path_absolute(a, str_of(h.name));
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0)
		return arena_str(a, (struct str){ self, (size_t)n });
	/* Without /proc: as it was called. */
	AUTO_FREE char *called = realpath((const char *)getauxval(AT_EXECFN), NULL);
	return called ? arena_str(a, str_of(called)) : S("");
}

/* Of the source, when the program runs from its build tree; empty: it does not. */
static struct str source_recipes(struct arena *a, struct str bin)
{
	struct str around = path_below(a, path_dir(bin), S("recipes"));
	AUTO_BUF dir = BUF_INIT;

	if (access(path_below(a, bin, S("build.ninja")).p, F_OK) < 0 && errno == ENOENT)
		return S("");
	if (is_dir(around))
		return around;
	if (file_read(path_below(a, bin, S("recipes-dir")).p, 4096, &dir) < 0)
		return S("");
	struct str found = arena_str(a, buf_str(&dir));
	return is_dir(found) ? found : S("");
}

/* Of the source in a build tree, below its prefix when installed. A library may be one level
 * deeper: lib/MACHINE/. */
static struct str find_packaged(struct arena *a)
{
	struct str self = code_path(a);
	struct str bin = path_dir(self), up = path_dir(bin);

	if (self.len) {
		struct str source = source_recipes(a, bin);
		struct str installed = path_below(a, up, S("share/roux/recipes"));
		struct str deeper = path_below(a, path_dir(up), S("share/roux/recipes"));

		if (source.len)
			return source;
		if (is_dir(installed))
			return installed;
		if (!str_eq(path_base(bin), S("bin")) && is_dir(deeper))
			return deeper;
	}
	return S(ROUX_PACKAGED_DIR);
}

struct recipe_dirs recipe_dirs_find(struct arena *a, const char *agent, const char *packaged)
{
	struct recipe_dirs d = { 0 };

	agent = agent ? agent : getenv("PI_CODING_AGENT_DIR");
	packaged = packaged ? packaged : getenv("ROUX_PACKAGED_DIR");
	d.agent = agent && *agent ? path_absolute(a, str_of(agent))
				  : path_absolute(a, path_below(a, user_home(a), S(".pi/agent")));
	d.user = path_below(a, d.agent, S("recipes"));
	d.packaged = packaged && *packaged ? path_absolute(a, str_of(packaged)) : find_packaged(a);
	return d;
}

void recipe_dirs_project(struct arena *a, struct recipe_dirs *d, struct str cwd)
{
	d->project = project_find(a, cwd);
}

void recipe_dirs_project_was(struct arena *a, struct recipe_dirs *d, struct str repo)
{
	d->project = (struct project){ arena_str(a, repo),
		repo.len ? path_below(a, repo, S(".roux/recipes")) : S(""), S("") };
}

struct recipe_dirs recipe_dirs_copy(struct arena *a, const struct recipe_dirs *d)
{
	return (struct recipe_dirs){ arena_str(a, d->agent), arena_str(a, d->user),
		arena_str(a, d->packaged),
		{ arena_str(a, d->project.repo), arena_str(a, d->project.recipes),
			arena_str(a, d->project.unused) } };
}
