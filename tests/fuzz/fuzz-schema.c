/* A JSON Schema and a value, both from outside, with 0x1e between them: a schema that can be used
 * comes to an end with any value, and its answer does not depend on who hears why. */
#include "base/utf8.h"
#include "data/json-schema.h"

#include "fuzz.h"

static bool tell(void *data, struct str path, struct str message)
{
	unsigned *told = data;

	HOLDS(message.len && utf8_valid(message) && utf8_valid(path));
	return ++*told < 20;
}

static bool tell_one(void *data, struct str path, struct str message)
{
	(void)path;
	(void)message;
	++*(unsigned *)data;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = fuzz_str(data, size), first = fuzz_first(&rest);
	AUTO_REPORT r = REPORT_INIT;
	AUTO_REPORT why = REPORT_INIT;
	AUTO_JSON *schema = json_read(&(struct source){ S("schema"), first }, &r);
	AUTO_JSON *value = json_read(&(struct source){ S("value"), rest }, &r);
	unsigned told = 0, one = 0;

	if (!schema)
		return 0;
	bool usable = json_schema_usable(schema, &why);
	HOLDS(usable == !why.errors);
	if (!usable || !value)
		return 0;
	bool good = json_schema_check(schema, value, tell, &told);
	HOLDS(good == !told);
	HOLDS(json_schema_check(schema, value, tell_one, &one) == good && one == !good);
	return 0;
}
