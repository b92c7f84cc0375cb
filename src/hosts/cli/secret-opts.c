#include "hosts/cli/secret-opts.h"

#include <stdlib.h>
#include <string.h>

#include "app/mask.h"

const struct opt secret_opts[2] = {
	OPT_LIST(0, "secret", "NAME=VALUE", struct secret_opts, values,
		"a value that is shown nowhere"),
	OPT_LIST(0, "secret-env", "NAME", struct secret_opts, names,
		"the same, read from the environment and not written down"),
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

static bool take_name(struct cli *cli, const char *name, json_t *values, json_t *names)
{
	const char *value = getenv(name);

	if (!value) {
		report_error(&cli->report, (struct where){ 0 },
			"--secret-env %s: there is no such variable", name);
		return report_hint(&cli->report, "export %s first", name);
	}
	json_object_set_new_nocheck(values, name, json_from_str(str_of(value)));
	json_array_append_new(names, json_from_str(str_of(name)));
	return true;
}

bool secrets_take(struct cli *cli, const struct secret_opts *o, json_t *values, json_t *given,
	json_t *from_environment)
{
	bool ok = true;

	for (size_t i = 0; i < o->values.len; i++)
		ok &= take_value(cli, o->values.at[i], values, given);
	for (size_t i = 0; i < o->names.len; i++)
		ok &= take_name(cli, o->names.at[i], values, from_environment);
	mask_free(cli->mask);
	cli->mask = mask_new(values, given, from_environment);
	return ok;
}
