#include "hosts/mcp/audit.h"

#include "base/audit-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "data/canonical.h"
#include "data/json-out.h"
#include "data/mask.h"
#include "hosts/mcp/catalog.h"

static void hide(json_t *arguments, const char *name)
{
	if (json_object_get(arguments, name))
		json_object_set_new(arguments, name, json_string(MASKED));
}

/* Without the values that the recipe, or one that it imports, declares as secret, also those that
 * it takes from the environment alone. */
static json_t *shown_arguments(const struct exchange *x, struct str name, const json_t *arguments)
{
	const struct tool *t = catalog_find(x->session->server->catalog, name);
	json_t *shown = json_copy((json_t *)arguments), *property;
	const char *of;
	size_t i;

	if (!t || t->builtin)
		return shown;
	json_object_foreach(json_object_get(t->input, "properties"), of,
		property) if (json_truth_of(property, "writeOnly")) hide(shown, of);
	json_array_foreach(t->secrets, i, property) hide(shown, json_string_value(property));
	return shown;
}

static void add_arguments(struct json_out *o, const struct exchange *x, struct str tool)
{
	const json_t *arguments = json_object_get(x->params, "arguments");
	AUTO_BUF text = BUF_INIT;
	char sum[SHA256_HEX];

	if (arguments)
		json_canonical(&text, arguments);
	sha256_hex(buf_str(&text), sum);
	json_out_str(o, "digest", str_of(sum));
	if (x->session->server->options.audit_arguments && arguments) {
		AUTO_JSON *shown = shown_arguments(x, tool, arguments);

		json_out_value(o, "arguments", shown);
	}
}

void audit_call(struct exchange *x, const struct audited_call *call)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };
	struct str root = app_state_root(x->session->server->app);
	struct audit_place place;

	json_out_object(&o, NULL);
	json_out_time(&o, "ts", clock_real_ms());
	json_out_str(&o, "who", x->session->principal);
	json_out_str(&o, "via", S("mcp"));
	json_out_str_or_null(&o, "client", x->client);
	json_out_str(&o, "action", call->action.len ? call->action : S("call"));
	json_out_str_or_null(&o, "tool", call->tool);
	json_out_str_or_null(&o, "run", call->run);
	add_arguments(&o, x, call->tool);
	if (call->decision.len)
		json_out_str(&o, "decision", call->decision);
	json_out_str(&o, "outcome", call->outcome);
	if (call->exit >= 0)
		json_out_int(&o, "exit", call->exit);
	json_out_uint(&o, "ms", clock_mono_ms() - x->since_ms);
	json_out_object_end(&o);
	buf_addc(&text, '\n');
	buf_printf(&path, "%.*s/audit.jsonl", STR(root));
	(void)dir_make(root.p);
	struct audit_file file = AUDIT_FILE(buf_str(&path));
	if (audit_file_append(&file, buf_str(&text), &place) < 0)
		mcp_log("cannot write the audit: %.*s", STR(buf_str(&text)));
	audit_file_close(&file);
}
