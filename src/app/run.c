#include "app/run.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"

enum { ID_MAX = 128 };

static bool id_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_digit(c) || c == '_' ||
	       c == '.' || c == '-';
}

bool run_id_check(const char *id, struct report *r)
{
	struct str s = str_of(id);
	bool ok = s.len && s.len <= ID_MAX && s.p[0] != '.' && s.p[0] != '-' &&
		  !str_eq(s, S("latest"));

	for (size_t i = 0; i < s.len; i++)
		ok &= id_char(s.p[i]);
	if (ok)
		return true;
	report_error(r, (struct where){ 0 }, "'%s' is no name for a run", id);
	return report_hint(r,
		"letters, digits, _ . and -, at most %d, not beginning with . or -; not "
		"'latest'",
		ID_MAX);
}

void run_id_make(struct str name, struct buf *b)
{
	time_t now = (time_t)(clock_real_ms() / 1000);
	unsigned random = 0;
	struct tm tm;
	char text[32];

	for (size_t i = 0; i < name.len && i < 64; i++)
		buf_addc(b, id_char(name.p[i]) && (i || (name.p[i] != '.' && name.p[i] != '-'))
				    ? name.p[i]
				    : '-');
	if (b->len && b->p[0] == '-')
		b->p[0] = '_';
	(void)gmtime_r(&now, &tm);
	size_t n = strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	buf_printf(b, "-%.*s-%04x", (int)n, text, random & 0xffff);
}

void run_dir(const struct recipe_dirs *dirs, struct str id, struct buf *b)
{
	const char *state = getenv("ROUX_STATE_DIR");

	if (state && *state)
		buf_adds(b, state);
	else
		buf_printf(b, "%.*s/roux", STR(dirs->agent));
	buf_printf(b, "/runs/%.*s", STR(id));
}

void run_add_unknown_values(json_t *values)
{
	static const char *const names[] = { "run_id", "state_dir", "actor_address", "default_room",
		"communication_file" };

	for (size_t i = 0; values && i < ARRAY_SIZE(names); i++) {
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text, "{%s}", names[i]);
		if (!json_object_get(values, names[i]))
			json_object_set_new(values, names[i], json_from_str(buf_str(&text)));
	}
}

void run_add_values(json_t *values, struct str id, struct str dir)
{
	AUTO_BUF text = BUF_INIT;
	const struct {
		const char *name, *before;
		struct str value;
		const char *after;
	} all[] = {
		{ "run_id", "", id, "" },
		{ "state_dir", "", dir, "" },
		{ "actor_address", "run:", id, "" },
		{ "default_room", "room:", id, "" },
		{ "communication_file", "", dir, "/communication.json" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		buf_reset(&text);
		buf_printf(&text, "%s%.*s%s", all[i].before, STR(all[i].value), all[i].after);
		json_object_set_new(values, all[i].name, json_from_str(buf_str(&text)));
	}
}
