#include "hosts/cli/env-file.h"

#include "base/file.h"
#include "base/program.h"

enum { ENV_FILE_MAX_BYTES = 1 << 20 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct str skip_blanks(struct str s)
{
	size_t at = 0;

	while (at < s.len && is_blank(s.p[at]))
		at++;
	return str_from(s, at);
}

static size_t key_length(struct str s)
{
	size_t n = 0;

	while (n < s.len && (s.p[n] == '_' || (s.p[n] >= 'A' && s.p[n] <= 'Z') ||
				    (s.p[n] >= 'a' && s.p[n] <= 'z') || (n && ascii_digit(s.p[n]))))
		n++;
	return n;
}

/* Nothing but spaces and a comment behind one. */
static bool is_rest(struct str s)
{
	struct str rest = skip_blanks(s);

	return !rest.len || (rest.len < s.len && rest.p[0] == '#');
}

/* What stands behind the =. False: a quote is not closed, or there is more behind it. */
static bool value_of(struct str s, struct str *ret)
{
	if (s.len && (s.p[0] == '"' || s.p[0] == '\'')) {
		size_t end = str_find(s, s.p[0], 1);

		*ret = str_sub(s, 1, end - 1);
		return end < s.len && is_rest(str_from(s, end + 1));
	}
	size_t end = 0;
	while (end < s.len && !(s.p[end] == '#' && end && is_blank(s.p[end - 1])))
		end++;
	while (end && is_blank(s.p[end - 1]))
		end--;
	*ret = str_sub(s, 0, end);
	return true;
}

/* False: the line is not a pair. */
static bool read_line(struct str line, json_t *env)
{
	struct str s = skip_blanks(line), value;

	if (!s.len || s.p[0] == '#')
		return true;
	if (str_starts(s, S("export ")) || str_starts(s, S("export\t")))
		s = skip_blanks(str_from(s, 7));
	size_t key = key_length(s);
	if (!key || key == s.len || s.p[key] != '=' || !value_of(str_from(s, key + 1), &value) ||
		str_find(value, '\0', 0) < value.len)
		return false;
	AUTO_BUF entry = BUF_INIT;
	buf_printf(&entry, "%.*s=", (int)key, s.p);
	buf_add(&entry, value);
	json_array_append_new(env, json_from_str(buf_str(&entry)));
	return entry.len < PROGRAM_STRING_MAX;
}

bool env_file_read(struct cli *cli, const char *file, json_t *env)
{
	struct report *r = &cli->report;
	AUTO_BUF text = BUF_INIT;
	bool ok = true;
	int n = file_read(file, ENV_FILE_MAX_BYTES, &text);

	if (n < 0)
		return report_errno(r, -n, "cannot read '%s'", file);
	struct source source = { str_of(file), buf_str(&text) };
	for (size_t at = 0; at < source.text.len;) {
		size_t end = str_find(source.text, '\n', at);
		struct str line = str_sub(source.text, at, end - at);

		if (line.len && line.p[line.len - 1] == '\r')
			line.len--;
		if (!read_line(line, env)) {
			ok = report_error(r, (struct where){ &source, at, line.len },
				"the line is not KEY=value");
			report_hint(r, "quotes have to be closed; a comment begins with #");
		}
		at = end + 1;
	}
	return ok;
}
