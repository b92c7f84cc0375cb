#include "hosts/mcp/http/run.h"
#include "hosts/serve/cli.h"

/* The program roux-serve, reached as `roux serve`, and as `roux mcp --http`: what needs a server's
 * library. The web host and MCP do not know each other; they meet here, at one door. */

static void *attach(struct app *a, struct http *h, struct report *r)
{
	return mcp_http_attach(a, h, r);
}

static void detach(void *t)
{
	mcp_http_detach(t);
}

static void drop(void *t)
{
	mcp_http_drop(t);
}

int main(int argc, char **argv)
{
	static const struct serve_guest mcp = { attach, detach, drop };

	mcp_over_http = mcp_http_serve;
	return serve_main(argc, argv, &cmd_mcp, &mcp);
}
