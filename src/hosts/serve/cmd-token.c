/* The command: roux serve token. */
#include <string.h>

#include "base/clock.h"
#include "data/json-out.h"
#include "hosts/serve/ask.h"
#include "hosts/serve/cli.h"
#include "http/tokens.h"

struct token_opts {
	const char *scope;
	struct companion_common common;
};

static const struct opt opts[] = {
	OPT_TEXT(0, "scope", "LIST", struct token_opts, scope,
		"what it allows: read, run, answer, with commas between them"),
};
static const struct opt_set sets[] = { OPT_SET("Options", opts),
	COMPANION_COMMON(struct token_opts) };

static const struct command_example examples[] = {
	{ "roux serve token add ci --scope read,run", "prints the token: it is shown only now" },
	{ "roux serve token list", NULL },
	{ "roux serve token remove ci", NULL },
};

/* A server that runs reads the file again; without one there is nothing to tell. */
static void tell_server(struct serve_cli *c)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *answer =
		ask_server(c->places.socket, "POST", "/api/v1/server/reload", NULL, &ignored);
}

static json_t *scopes_document(unsigned mask)
{
	AUTO_BUF names = BUF_INIT;
	json_t *list = json_array();
	struct str text;

	scopes_write(&names, mask);
	text = buf_str(&names);
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, ',', at);

		(void)json_array_append_new(list, json_from_str(str_sub(text, at, end - at)));
		at = end + 1;
	}
	return list;
}

/* What to do about a name that is in use. */
static void hint_taken(struct report *r, const char *name)
{
	const char *reason = r->issues.len ? r->issues.at[r->issues.len - 1].reason : NULL;

	if (reason && strcmp(reason, TOKEN_EXISTS) == 0)
		report_hint(r, "roux serve token remove %s", name);
}

static int add(struct serve_cli *c, const struct token_opts *o, const char *name)
{
	char secret[SECRET_HEX];
	unsigned mask = 0;

	if (!o->scope) {
		report_error(&c->companion.report, (struct where){ 0 }, "a token needs --scope");
		report_hint(&c->companion.report,
			"--scope read, or read,run,answer for all that a browser may");
		return companion_refuse(&c->companion, o->common.json);
	}
	if (!scopes_read(str_of(o->scope), &mask, &c->companion.report) ||
		!tokens_add(c->places.dir, str_of(name), mask, secret, &c->companion.report)) {
		hint_taken(&c->companion.report, name);
		return companion_refuse(&c->companion, o->common.json);
	}
	tell_server(c);
	if (!o->common.json) {
		companion_print("%s", secret);
		return 0;
	}
	AUTO_JSON *document = json_pack("{s:b, s:s, s:o, s:s}", "ok", 1, "name", name, "scopes",
		scopes_document(mask), "token", secret);
	companion_print_json(document);
	return 0;
}

static int remove_token(struct serve_cli *c, const struct token_opts *o, const char *name)
{
	if (!tokens_remove(c->places.dir, str_of(name), &c->companion.report))
		return companion_refuse(&c->companion, o->common.json);
	tell_server(c);
	if (o->common.json) {
		AUTO_JSON *document = json_pack("{s:b, s:s}", "ok", 1, "name", name);

		companion_print_json(document);
	}
	return 0;
}

static void list_json(const struct tokens *t)
{
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };

	json_out_object(&o, NULL);
	json_out_array(&o, "tokens");
	vec_each (one, &t->at) {
		AUTO_JSON *scopes = scopes_document((*one)->scopes);

		json_out_object(&o, NULL);
		json_out_str(&o, "name", (*one)->name);
		json_out_value(&o, "scopes", scopes);
		json_out_time(&o, "created", (*one)->created);
		json_out_time(&o, "seen", (*one)->seen);
		json_out_object_end(&o);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	companion_print("%s", buf_cstr(&text));
}

static int list(struct serve_cli *c, const struct token_opts *o)
{
	struct tokens t = { 0 };

	tell_server(c); /* it writes down which were used */
	if (!tokens_open(&t, c->places.dir, &c->companion.report)) {
		tokens_close(&t);
		return companion_refuse(&c->companion, o->common.json);
	}
	if (o->common.json)
		list_json(&t);
	else if (!t.at.len)
		companion_say("no tokens; `roux serve token add NAME --scope read` makes one");
	else
		vec_each (one, &t.at) {
			AUTO_BUF scopes = BUF_INIT;
			AUTO_BUF seen = BUF_INIT;

			scopes_write(&scopes, (*one)->scopes);
			if ((*one)->seen)
				clock_rfc3339(&seen, (*one)->seen);
			companion_print("%-20.*s %-16s %s", STR((*one)->name), buf_cstr(&scopes),
				seen.len ? buf_cstr(&seen) : "never used");
		}
	tokens_close(&t);
	return 0;
}

static int run(const struct call *call)
{
	const struct token_opts *o = call->opts;
	struct serve_cli *c = call->host;
	const char *what = call->count ? call->words[0] : "list";

	if (!serve_enter(c, &o->common))
		return companion_refuse(&c->companion, o->common.json);
	if (strcmp(what, "list") == 0 && call->count <= 1)
		return list(c, o);
	if (strcmp(what, "add") == 0 && call->count == 2)
		return add(c, o, call->words[1]);
	if (strcmp(what, "remove") == 0 && call->count == 2)
		return remove_token(c, o, call->words[1]);
	report_error(&c->companion.report, (struct where){ 0 },
		"token takes: add NAME, remove NAME or list");
	return companion_refuse(&c->companion, o->common.json);
}

const struct command serve_token = {
	.name = "serve token",
	.operands = "[add|remove|list] [NAME]",
	.summary = "make, remove and list tokens for scripts and agents",
	.details = "A token stands in the header `Authorization: Bearer TOKEN` of a request. Only "
		   "its SHA-256 is kept.",
	EXAMPLES(examples),
	SETS(sets, struct token_opts),
	.max_operands = 2,
	.run = run,
};
