#include "hosts/mcp/server.h"

#include <stdlib.h>
#include <unistd.h>

#include "app/runs.h"
#include "base/file.h"
#include "hosts/mcp/call.h"
#include "hosts/mcp/catalog.h"
#include "hosts/mcp/quota.h"

void mcp_log(const char *fmt, ...)
{
	AUTO_BUF line = BUF_INIT;
	va_list args;

	buf_adds(&line, "roux: ");
	va_start(args, fmt);
	buf_vprintf(&line, fmt, args);
	va_end(args);
	buf_addc(&line, '\n');
	(void)fd_write_all(STDERR_FILENO, buf_str(&line));
}

struct mcp *mcp_new(struct app *a, const struct mcp_options *o, struct report *r)
{
	struct mcp *m = mem_new(struct mcp);

	(void)r;
	m->app = a;
	m->options = *o;
	list_init(&m->sessions);
	list_init(&m->calls);
	list_init(&m->waiting);
	list_init(&m->listeners);
	list_init(&m->kept);
	m->catalog = catalog_new(m);
	return m;
}

struct run_handle *mcp_open_run(struct mcp *m, struct str id, struct report *r)
{
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, id);
	struct run_handle *h = runs_open(m->app, buf_cstr(&name), r);
	if (!h || str_eq(run_id(h), id))
		return h;
	run_close(h);
	report_error(r, (struct where){ 0 }, "there is no run '%.*s'", STR(id));
	return NULL;
}

void mcp_free(struct mcp *m)
{
	if (!m)
		return;
	quota_done(m);
	catalog_free(m->catalog);
	free(m);
}
