#include "hosts/cli/secret-opts.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "data/mask.h"

enum { SECRET_MAX = 1 << 20 }; /* bytes of a file */

const struct opt secret_opts[3] = {
	OPT_LIST(0, "secret", "NAME=VALUE", struct secret_opts, values,
		"a value that roux shows nowhere; the process list shows it"),
	OPT_LIST(0, "secret-env", "NAME[=VARIABLE]", struct secret_opts, names,
		"the same, read from the environment and not written down"),
	OPT_LIST(0, "secret-file", "NAME=FILE", struct secret_opts, files,
		"the same, read from a file; a newline at its end is left out"),
};

static bool take_value(struct cli *cli, const char *word, json_t *values, json_t *names)
{
	const char *equals = strchr(word, '=');

	if (!equals || equals == word) {
		report_error(&cli->report, (struct where){ 0 },
			"--secret takes NAME=VALUE, found no name or no =");
		return report_hint(
			&cli->report, "--secret-env NAME keeps it out of the process list");
	}
	struct str name = { word, (size_t)(equals - word) };
	json_object_setn_new_nocheck(values, name.p, name.len, json_from_str(str_of(equals + 1)));
	json_array_append_new(names, json_from_str(name));
	return true;
}

static bool take_file(struct cli *cli, const char *word, json_t *values, json_t *names)
{
	const char *equals = strchr(word, '=');
	AUTO_BUF text = BUF_INIT;

	if (!equals || equals == word || !equals[1]) {
		report_error(&cli->report, (struct where){ 0 },
			"--secret-file takes NAME=FILE, found '%s'", word);
		return report_hint(&cli->report, "for example --secret-file token=token.txt");
	}
	struct str name = { word, (size_t)(equals - word) };
	int n = file_read(equals + 1, SECRET_MAX, &text);
	if (n < 0)
		return report_errno(&cli->report, -n, "cannot read %s", equals + 1);
	if (text.len && text.p[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	if (memchr(buf_cstr(&text), '\0', text.len))
		return report_error(&cli->report, (struct where){ 0 },
			"the secret in %s has a NUL in it", equals + 1);
	json_object_setn_new_nocheck(values, name.p, name.len, json_from_str(buf_str(&text)));
	json_array_append_new(names, json_from_str(name));
	return true;
}

/* NAME, or NAME=VARIABLE where the two differ. */
static bool take_name(
	struct cli *cli, const char *word, json_t *values, json_t *names, json_t *vars)
{
	const char *equals = strchr(word, '=');
	struct str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
	const char *variable = equals ? equals + 1 : word;
	const char *value = *variable && name.len ? getenv(variable) : NULL;

	if (!name.len || !*variable) {
		report_error(&cli->report, (struct where){ 0 },
			"--secret-env takes NAME or NAME=VARIABLE, found '%s'", word);
		return report_hint(&cli->report, "for example --secret-env token=GITHUB_TOKEN");
	}
	if (!value) {
		report_error(&cli->report, (struct where){ 0 },
			"--secret-env %s: there is no such variable", word);
		return report_hint(&cli->report, "export %s first", variable);
	}
	json_object_setn_new_nocheck(values, name.p, name.len, json_from_str(str_of(value)));
	json_array_append_new(names, json_from_str(name));
	if (equals)
		json_object_setn_new_nocheck(
			vars, name.p, name.len, json_from_str(str_of(variable)));
	return true;
}

bool secrets_take(struct cli *cli, const struct secret_opts *o, json_t *values, json_t *given,
	json_t *from_environment, json_t *vars)
{
	bool ok = true;

	for (size_t i = 0; i < o->values.len; i++)
		ok &= take_value(cli, o->values.at[i], values, given);
	for (size_t i = 0; i < o->names.len; i++)
		ok &= take_name(cli, o->names.at[i], values, from_environment, vars);
	for (size_t i = 0; i < o->files.len; i++)
		ok &= take_file(cli, o->files.at[i], values, given);
	mask_free(cli->mask);
	cli->mask = mask_new(values, given, from_environment);
	return ok;
}
