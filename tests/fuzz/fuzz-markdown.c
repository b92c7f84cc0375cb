#include <stdint.h>
#include <stdlib.h>

#include "data/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert(): this must hold in every build. */
static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check(struct str text, const struct markdown *md)
{
	must(json_is_object(md->object));
	must(json_object_get(md->object, "template") != NULL);
	must(md->region_count == json_object_size(md->object));

	for (size_t i = 0; i < md->region_count; i++) {
		const struct markdown_region *at = &md->regions[i];

		must(at->offset <= text.len && at->length <= text.len - at->offset);
		must(!at->member || at->json);
		must(!at->exact || !at->json);

		AUTO_BUF key = BUF_INIT;
		buf_add(&key, at->key);
		json_t *value = json_object_get(md->object, buf_cstr(&key));
		must(value != NULL);
		struct str bytes = str_sub(text, at->offset, at->length);
		if (at->exact)
			must(json_is_string(value) && str_eq(json_str(value), bytes));
		if (!at->json)
			continue;

		struct source source = { S("region"), bytes };
		AUTO_REPORT r = REPORT_INIT;
		AUTO_JSON *again = json_read(&source, &r);
		must(again != NULL);
		must(json_equal(
			value, at->member ? json_object_get(again, buf_cstr(&key)) : again));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source source = { S("fuzz.md"), { (const char *)data, size } };
	AUTO_REPORT errors = REPORT_INIT;
	AUTO_REPORT warnings = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct markdown md = { 0 };
	bool ok = markdown_read(&source, &a, &md, &errors, &warnings);

	must(ok == (errors.errors == 0));
	must(warnings.errors == 0);
	must(ok || !md.object);
	if (ok)
		check(source.text, &md);
	vec_each (i, &errors.issues)
		must(i->offset <= size && i->message.len);
	vec_each (i, &warnings.issues)
		must(i->offset <= size && i->message.len);
	json_decref(md.object);
	arena_done(&a);
	return 0;
}
