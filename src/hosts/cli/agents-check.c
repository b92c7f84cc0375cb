#include "hosts/cli/agents-check.h"

#include <string.h>

#include "app/agents.h"
#include "base/plain-text.h"
#include "data/json-out.h"

/* Who is tried: copied, because what agents_find() shows is gone when it returns. */
struct tried {
	struct arena *arena;
	struct str name, command, batch;
};

static bool take(void *data, const struct agents_entry *entry)
{
	struct tried *t = data;

	t->name = arena_str(t->arena, entry->name);
	t->command = arena_str(t->arena, json_text_of(entry->fields, "command"));
	t->batch = arena_str(t->arena, json_text_of(entry->fields, "batch"));
	return true;
}

static void verdict(const struct agents_trial *t, struct buf *b)
{
	if (t->failed)
		buf_printf(b, "could not be tried: %s", strerror(t->error));
	else if (t->answered)
		buf_printf(b, "answered after %.1f s", (double)t->ms / 1000);
	else if (t->timed_out)
		buf_printf(b, "no answer within %.0f s; it was ended", (double)t->ms / 1000);
	else if (t->status)
		buf_printf(b, "ended with %d after %.1f s", t->status, (double)t->ms / 1000);
	else
		buf_printf(b, "ended after %.1f s without the word 'ready'", (double)t->ms / 1000);
}

static void form_text(const struct agents_trial *t, struct str line, struct buf *b)
{
	struct str output = buf_str(&t->output);

	buf_printf(b, "%-9s ", t->terminal ? "terminal" : "pipes");
	verdict(t, b);
	buf_adds(b, "\n  ");
	text_plain(b, line);
	buf_addc(b, '\n');
	for (size_t at = 0; at < output.len;) {
		size_t end = str_find(output, '\n', at);

		buf_adds(b, "  | ");
		text_plain(b, str_sub(output, at, end - at));
		buf_addc(b, '\n');
		at = end + 1;
	}
}

static void form_json(
	const struct agents_trial *t, const char *field, struct str line, struct json_out *o)
{
	json_out_object(o, NULL);
	json_out_str(o, "on", t->terminal ? S("terminal") : S("pipes"));
	json_out_str(o, "line", str_of(field));
	json_out_str(o, "text", line);
	json_out_bool(o, "ok", t->answered);
	json_out_bool(o, "timed_out", t->timed_out);
	if (t->status >= 0)
		json_out_int(o, "status", t->status);
	else
		json_out_null(o, "status");
	json_out_int(o, "ms", (int64_t)t->ms);
	json_out_str(o, "output", buf_str(&t->output));
	json_out_object_end(o);
}

int agents_check(struct cli *cli, struct str cwd, const char *typed, uint64_t limit_s, bool json)
{
	struct tried who = { .arena = &cli->arena };
	struct agents_trial trials[2] = { 0 };
	AUTO_BUF notes = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };
	bool ok = true;

	if (!agents_find(AGENTS_AGENT, cwd, str_of(typed), &notes, take, &who, &cli->report))
		return cli_refuse(cli, json);
	cli_say(buf_str(&notes));
	for (unsigned terminal = 0; terminal < 2; terminal++) {
		agents_try(who.name, cwd, terminal, limit_s * 1000, &trials[terminal]);
		ok &= trials[terminal].answered;
	}
	if (json) {
		json_out_object(&o, NULL);
		json_out_bool(&o, "ok", ok);
		json_out_str(&o, "agent", who.name);
		json_out_str(&o, "prompt", agents_trial_prompt());
		json_out_array(&o, "forms");
	} else {
		buf_adds(&text, "agent     ");
		text_plain(&text, who.name);
		buf_printf(&text, "\nprompt    %.*s\n", STR(agents_trial_prompt()));
	}
	for (unsigned i = 0; i < 2; i++) {
		bool batch = !trials[i].terminal && who.batch.len;
		struct str line = batch ? who.batch : who.command;

		if (json)
			form_json(&trials[i], batch ? "batch" : "command", line, &o);
		else
			form_text(&trials[i], line, &text);
		buf_done(&trials[i].output);
	}
	if (json) {
		json_out_array_end(&o);
		json_out_object_end(&o);
		buf_addc(&text, '\n');
	}
	int status = cli_print(buf_str(&text));
	return status ? status : !ok;
}
