#include "hosts/mcp/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "data/canonical.h"
#include "data/json-out.h"

enum { ROTATE_BYTES = 16 << 20, KEPT = 4 };

static void rotate(const char *path)
{
	for (int i = KEPT - 1; i > 0; i--) {
		AUTO_BUF from = BUF_INIT;
		AUTO_BUF to = BUF_INIT;

		buf_printf(&to, "%s.%d", path, i);
		if (i > 1)
			buf_printf(&from, "%s.%d", path, i - 1);
		else
			buf_adds(&from, path);
		(void)rename(buf_cstr(&from), buf_cstr(&to));
	}
}

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
	struct stat st;

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
	buf_printf(&path, "%.*s/audit.jsonl", STR(app_state_root(x->session->server->app)));
	(void)dir_make(app_state_root(x->session->server->app).p);
	if (stat(buf_cstr(&path), &st) == 0 && st.st_size > ROTATE_BYTES)
		rotate(buf_cstr(&path));
	AUTO_CLOSE int fd = open(buf_cstr(&path),
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0 || fd_write_all(fd, buf_str(&text)) < 0)
		mcp_log("cannot write the audit: %.*s", STR(buf_str(&text)));
}
