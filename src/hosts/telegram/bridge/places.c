#include "hosts/telegram/bridge/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/vec.h"
#include "hosts/telegram/rules/attach.h"
#include "hosts/telegram/rules/media.h"

enum { TEMP_LIFE_S = 24 * 60 * 60 };

static const char *const token_variables[] = { "TELEGRAM_BOT_TOKEN", "TELEGRAM_BOT_KEY",
	"TELEGRAM_TOKEN", "TELEGRAM_KEY" };

void places_find(struct places *p, struct str agent_dir)
{
	struct arena *a = &p->arena;
	const char *factor = getenv("ROUX_TELEGRAM_CLOCK");

	p->dir = arena_cstr(a, agent_dir);
	p->config = path_below(a, agent_dir, S("telegram.json")).p;
	p->locks = path_below(a, agent_dir, S("locks.json")).p;
	p->temp = path_below(a, agent_dir, S("tmp/telegram")).p;
	p->inbound_max = file_limit(FILE_LIMIT_INBOUND, getenv);
	p->outbound_max = file_limit(FILE_LIMIT_OUTBOUND, getenv);
	if (!factor || !str_to_uint(str_of(factor), &p->clock) || !p->clock)
		p->clock = 1;
}

void places_done(struct places *p)
{
	arena_done(&p->arena);
}

static void delete_if_old(int dir, const char *name, time_t now)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		st.st_mtime < now - TEMP_LIFE_S)
		(void)unlinkat(dir, name, 0);
}

int places_prepare_temp(const struct places *p)
{
	int n = dir_make(p->temp);
	DIR *d = n < 0 ? NULL : opendir(p->temp);

	if (!d)
		return n < 0 ? n : -errno;
	for (struct dirent *e; (e = readdir(d));)
		delete_if_old(dirfd(d), e->d_name, time(NULL));
	(void)closedir(d);
	return 0;
}

struct str places_new_file(const struct places *p, struct arena *a, struct str name)
{
	unsigned char r[16] = { 0 };

	(void)!getrandom(r, sizeof(r), 0);
	r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
	r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
	return arena_printf(a,
		"%s/%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x-%.*s",
		p->temp, r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11],
		r[12], r[13], r[14], r[15], STR(media_safe_name(a, name)));
}

struct str places_env_token(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(token_variables); i++) {
		struct str value = str_trim(str_of(getenv(token_variables[i])));

		if (value.len)
			return value;
	}
	return S("");
}

extern char **environ;

void places_scrub_environment(struct str token)
{
	VEC(char *) names = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(token_variables); i++)
		(void)unsetenv(token_variables[i]);
	for (char **e = environ; token.len && *e; e++) {
		struct str entry = str_of(*e);
		size_t equals = str_find(entry, '=', 0);

		if (equals < entry.len && str_contains(str_from(entry, equals + 1), token))
			vec_push(&names, strndup(entry.p, equals));
	}
	vec_each (name, &names) {
		(void)unsetenv(*name);
		free(*name);
	}
	vec_done(&names);
}
