#include "hosts/mcp/audit.h"

#include "base/audit-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "data/canonical.h"
#include "data/json-out.h"

static void add_arguments(struct json_out *o, const struct exchange *x)
{
	const json_t *arguments = json_object_get(x->params, "arguments");
	AUTO_BUF text = BUF_INIT;
	char sum[SHA256_HEX];

	if (arguments)
		json_canonical(&text, arguments);
	sha256_hex(buf_str(&text), sum);
	json_out_str(o, "digest", str_of(sum));
	if (x->session->server->options.audit_arguments && arguments)
		json_out_value(o, "arguments", arguments);
}

void audit_write(struct exchange *x, const struct audit_line *line)
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
	json_out_str(&o, "action", S("call"));
	json_out_str(&o, "tool", line->tool);
	json_out_str_or_null(&o, "run", line->run);
	add_arguments(&o, x);
	json_out_str(&o, "outcome", line->outcome);
	if (line->exit >= 0)
		json_out_int(&o, "exit", line->exit);
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
