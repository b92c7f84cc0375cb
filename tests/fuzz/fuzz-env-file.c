/* A file of --env-file: what it gives are pairs whose names and values stand in it. */
#include "hosts/cli/env-file.h"

#include "base/program.h"

#include "room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	AUTO_BUF path = BUF_INIT;
	AUTO_JSON *env = json_array();
	struct cli cli = { 0 };
	json_t *entry;
	size_t i;

	room_put("env", text, &path);
	bool ok = env_file_read(&cli, buf_cstr(&path), env);
	HOLDS(ok == !cli.report.errors);
	json_array_foreach(env, i, entry)
	{
		struct str pair = json_str(entry);
		size_t equals = str_find(pair, '=', 0);
		struct str name = str_sub(pair, 0, equals), value = str_from(pair, equals + 1);

		HOLDS(equals && equals < pair.len && !ascii_digit(name.p[0]));
		HOLDS(str_contains(text, name) && str_contains(text, value));
		HOLDS(str_find(pair, '\0', 0) == pair.len && str_find(pair, '\n', 0) == pair.len);
		HOLDS(!ok || pair.len < PROGRAM_STRING_MAX);
	}
	vec_each (issue, &cli.report.issues)
		HOLDS(issue->line && issue->hint.len);
	report_done(&cli.report);
	return 0;
}
