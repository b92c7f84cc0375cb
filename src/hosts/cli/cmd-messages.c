#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/messages.h"
#include "base/file.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "base/width.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"

struct message_opts {
	const char *to, *envelope;
	bool from_run;
	struct common_opts common;
};

static const struct opt own_opts[] = {
	OPT_FLAG(0, "from-run", struct message_opts, from_run,
		"write to the outbox of the run that this program belongs to ($ROUX_RUN)"),
	OPT_TEXT(0, "to", "ADDRESS", struct message_opts, to,
		"whom it is for: coordinator, session:ID, run:ID, branch:RUN/BRANCH, room:RUN or "
		"tool:NAME"),
	OPT_TEXT(0, "envelope", "JSON", struct message_opts, envelope,
		"an object with other members: summary, level, delivery, metadata, data, "
		"correlation_id, reply_to"),
};

static const struct opt_set message_sets[] = {
	OPT_SET("Options", own_opts),
	COMMON_SET(struct message_opts),
};

static const struct command_example message_examples[] = {
	{ "roux message player run.message next", "the line `next` for its program" },
	{ "roux message review task.assign '{\"file\":\"a.md\"}'", NULL },
	{ "roux message --from-run checkpoint.reached '{\"n\":3}'", "inside of a run" },
};

/* -- answers -------------------------------------------------------------------------------------
 */

static void write_warnings(struct buf *b, const struct report *r)
{
	bool first = true;

	buf_adds(b, ",\"warnings\":[");
	vec_each (i, &r->issues) {
		if (issue_is_error(i))
			continue;
		if (!first)
			buf_addc(b, ',');
		first = false;
		json_write_str(b, i->message);
	}
	buf_addc(b, ']');
}

/* `whole`: the program that takes it gets all of the message, not only its text. */
static int answer(struct cli *cli, bool json, const struct message_answer *a, bool whole)
{
	AUTO_BUF text = BUF_INIT;

	if (json) {
		buf_printf(&text, "{\"ok\":true,\"sent\":%s,\"queued\":%s,\"transport\":",
			a->sent ? "true" : "false", a->queued ? "true" : "false");
		json_write_str_or_null(&text, str_of(a->transport));
		buf_adds(&text, ",\"id\":");
		json_write_str(&text, buf_str(&a->id));
		if (a->waits_for) {
			buf_adds(&text, ",\"waits_for\":");
			json_write_str(&text, str_of(a->waits_for));
		}
		write_warnings(&text, &cli->report);
		buf_adds(&text, "}\n");
		return cli_print(buf_str(&text));
	}
	cli_warn(cli);
	buf_printf(&text, "%s %s", buf_cstr(&a->id), a->sent ? "sent" : "queued");
	if (a->transport)
		buf_printf(&text, " through its %s", a->transport);
	if (a->transport && whole)
		buf_adds(&text, " as one line of JSON");
	if (a->waits_for)
		buf_printf(&text, ": %s", a->waits_for);
	buf_addc(&text, '\n');
	return cli_print(buf_str(&text));
}

/* -- what was asked for --------------------------------------------------------------------------
 */

static struct str environment(const char *name)
{
	return str_of(getenv(name));
}

/* JSON, or a text that is not JSON. `-` is standard input: a word of a command line is short. */
static json_t *read_body(struct cli *cli, const char *word)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF input = BUF_INIT;
	struct source source = { S("BODY"), str_of(word) };

	if (strcmp(word, "-") == 0) {
		/* JSON may be longer than the body that it spells. */
		int r = fd_read_all(STDIN_FILENO, (size_t)MESSAGE_BODY_BYTES * 7, &input);

		if (r < 0) {
			(void)report_errno(&cli->report, -r, "cannot read the body");
			return NULL;
		}
		source.text = buf_str(&input);
	}
	json_t *body = json_read(&source, &ignored);
	if (body)
		return body;
	size_t bad = utf8_find_invalid(source.text);
	if (bad < source.text.len) {
		report_error(&cli->report, (struct where){ 0 },
			"the body is not text: byte 0x%02x is not valid UTF-8",
			(unsigned char)source.text.p[bad]);
		report_hint(&cli->report, "put the data into a file and send its path");
		return NULL;
	}
	/* As `echo text |` gives it. */
	if (input.len && str_ends(source.text, S("\n")))
		source.text.len--;
	return json_from_str(source.text);
}

static bool read_envelope(struct cli *cli, const char *word, json_t **ret)
{
	struct source source = { S("--envelope"), str_of(word) };
	json_t *value = json_read(&source, &cli->report);

	if (!value)
		return false;
	if (json_is_object(value)) {
		*ret = value;
		return true;
	}
	report_error(&cli->report, (struct where){ &source, 0, 1 }, "found %s, expected an object",
		json_kind(value));
	report_hint(&cli->report, "such as '{\"level\":\"warning\"}'");
	json_decref(value);
	return false;
}

static bool usage(struct cli *cli, const char *what, const char *hint)
{
	report_error(&cli->report, (struct where){ 0 }, "%s", what);
	return report_hint(&cli->report, "%s", hint);
}

/* Who the message is from: a program of another run says so. */
static struct str sender(struct cli *cli)
{
	struct str run = environment("ROUX_RUN"), owner = app_owner(cli_app(cli));
	struct str from = run.len     ? arena_printf(&cli->arena, "run:%.*s", STR(run))
			  : owner.len ? arena_printf(&cli->arena, "session:%.*s", STR(owner))
				      : S("");

	return message_is_address(from) ? from : S("");
}

static bool ask(struct cli *cli, const struct message_opts *o, size_t count,
	const char *const *words, struct message_request *q)
{
	size_t first = o->from_run ? 0 : 1; /* the word that is TYPE */

	if (o->from_run && count > 2)
		return usage(cli, "roux message --from-run takes TYPE [BODY]",
			"the run is that of $ROUX_RUN; quote a body whole");
	if (!o->from_run && count < 1)
		return usage(cli, "roux message takes RUN TYPE [BODY]",
			"roux message RUN run.message TEXT; inside of a run --from-run");
	if (!o->from_run && count < 2 && !o->envelope)
		return usage(cli, "the type of the message is missing",
			"roux message RUN run.message TEXT gives TEXT to its program");
	if (o->from_run && !environment("ROUX_RUN").len)
		return usage(cli, "--from-run: there is no $ROUX_RUN",
			"it is for programs that a run has started");
	q->run = o->from_run ? getenv("ROUX_RUN") : words[0];
	q->generation = o->from_run ? environment("ROUX_GENERATION") : S("");
	q->type = count > first ? str_of(words[first]) : S("");
	q->to = str_of(o->to);
	q->from = o->from_run ? S("") : sender(cli);
	if (count > first && !q->type.len)
		return usage(cli, "the type of the message is empty",
			"a letter, then letters, digits, _ . : and -, such as task.assign");
	if (o->to && !*o->to)
		return usage(cli, "--to is empty", "an address, such as coordinator");
	return true;
}

/* control.kill and its like: as if the command had been called. */
static int host_order(struct cli *cli, const struct message_opts *o, const char *order,
	const struct message_request *q)
{
	const struct command *c = command_find(cli->commands, cli->command_count, str_of(order));
	const char *words[4] = { q->run };
	size_t count = 1;

	if (!c) {
		report_error(&cli->report, (struct where){ 0 }, "roux cannot %s runs", order);
		return cli_refuse(cli, o->common.json);
	}
	if (o->common.json)
		words[count++] = "--json";
	if (strcmp(order, "prune") == 0 &&
		json_is_true(json_object_get(q->body, "preserve_artifacts")))
		words[count++] = "--preserve-artifacts";
	return cli_run(cli, c, count, words);
}

/* Asks, sends and answers. */
static int send_message(
	struct cli *cli, const struct message_opts *o, size_t count, const char *const *words)
{
	struct message_request q = { 0 };
	struct message_answer a = { 0 };
	AUTO_JSON *envelope = NULL;
	AUTO_JSON *body = NULL;
	bool json = o->common.json;

	if (!ask(cli, o, count, words, &q))
		return cli_refuse(cli, json);
	size_t place = o->from_run ? 1 : 2;
	if (count > place && !(body = read_body(cli, words[place])))
		return cli_refuse(cli, json);
	if (o->envelope && !read_envelope(cli, o->envelope, &envelope))
		return cli_refuse(cli, json);
	q.body = body;
	q.envelope = envelope;
	const char *order = o->from_run ? NULL : messages_host_order(q.type);
	if (order)
		return host_order(cli, o, order, &q);
	bool ok = o->from_run ? messages_emit(cli_app(cli), &q, &a, &cli->report)
			      : messages_send(cli_app(cli), &q, &a, &cli->report);
	bool whole = q.type.len && !str_eq(q.type, S("run.message"));
	int status = ok ? answer(cli, json, &a, whole) : cli_refuse(cli, json);
	message_answer_done(&a);
	return status;
}

static int message(const struct call *call)
{
	struct cli *cli = call->host;
	const struct message_opts *o = call->opts;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	return send_message(cli, o, call->count, call->words);
}

/* -- the list ------------------------------------------------------------------------------------
 */

/* What the lines of the list may take, and whether one had to be cut. */
struct lines {
	struct buf *b;
	unsigned columns; /* 0: as many as it needs */
	bool cut;
};

/* A terminal shows a line a message; elsewhere a preview bounds them. */
static unsigned columns_of_output(void)
{
	struct winsize size = { 0 };

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void list_line(struct lines *l, const json_t *message, const char *word)
{
	AUTO_BUF line = BUF_INIT;
	AUTO_BUF plain = BUF_INIT;
	struct str summary = json_text_of(message, "summary"), type = json_text_of(message, "type");

	buf_printf(&line, "%.*s  %-8.*s  %.*s", STR(json_text_of(message, "ts")),
		STR(json_text_of(message, word)), STR(type));
	if (!str_eq(summary, type))
		buf_printf(&line, "  %.*s", STR(utf8_head(summary, MESSAGE_SUMMARY_SHOWN)));
	if (json_object_get(message, "body")) {
		buf_adds(&line, "  ");
		message_body_preview(&line, message);
	}
	text_plain(&plain, buf_str(&line));
	struct str text = buf_str(&plain), shown = text;
	if (l->columns && width_text(text) > l->columns)
		shown = width_cut(text, l->columns - 1, NULL);
	buf_add(l->b, shown);
	if (shown.len < text.len)
		buf_adds(l->b, "…");
	l->cut |= shown.len < text.len || str_ends(text, S("…"));
	buf_addc(l->b, '\n');
}

static void list(struct lines *l, const char *title, const json_t *all, const char *word)
{
	const json_t *message;
	size_t i;

	if (!json_array_size(all))
		return;
	buf_printf(l->b, "%s\n", title);
	json_array_foreach(all, i, message) list_line(l, message, word);
}

static void tell_skipped(struct buf *b, const char *file, size_t count)
{
	if (count)
		buf_printf(b, "roux: warning: %zu line%s of %s %s\n", count, count == 1 ? "" : "s",
			file, count == 1 ? "is not a message" : "are not messages");
}

static void tell_hidden(void)
{
	cli_say(S("roux: warning: what messages say is not shown: the secrets of the run, which "
		  "would be masked, are not all known here\n"
		  "     hint: one of --secret-env is read from the environment\n"));
}

static int print_view(const struct messages_view *v, bool json)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF aside = BUF_INIT;

	if (v->hidden)
		tell_hidden();
	if (json) {
		buf_adds(&text, "{\"inbox\":");
		json_write(&text, v->inbox, 0);
		buf_adds(&text, ",\"outbox\":");
		json_write(&text, v->outbox, 0);
		buf_printf(&text, ",\"skipped\":{\"inbox\":%zu,\"outbox\":%zu}}\n", v->skipped_in,
			v->skipped_out);
		return cli_print(buf_str(&text));
	}
	tell_skipped(&aside, "inbox.jsonl", v->skipped_in);
	tell_skipped(&aside, "outbox.jsonl", v->skipped_out);
	cli_say(buf_str(&aside));
	struct lines lines = { .b = &text, .columns = columns_of_output() };
	list(&lines, "to the run:", v->inbox, "status");
	list(&lines, "from the run:", v->outbox, "delivery");
	if (!text.len)
		buf_adds(&text, "No messages.\n");
	int status = cli_print(buf_str(&text));
	if (lines.cut)
		cli_say(S("roux: … is where a message was cut; --json has all of it\n"));
	return status;
}

/* -- following -----------------------------------------------------------------------------------
 */

struct messages_opts {
	bool follow;
	struct common_opts common;
};
static const struct opt messages_opts[] = {
	OPT_FLAG('f', "follow", struct messages_opts, follow,
		"follow until the run ends, one line per message"),
};
static const struct opt_set messages_sets[] = {
	OPT_SET("Options", messages_opts),
	COMMON_SET(struct messages_opts),
};

/* What has been shown of both boxes. */
struct following {
	struct cli *cli;
	const char *run;
	bool json, ended, hidden, unseen;
	size_t shown[2];
	int status;
};

/* The message with the name of its box as one line. */
static void add_followed(struct buf *b, bool out, json_t *message, bool json)
{
	if (json) {
		AUTO_JSON *line = json_copy(message);

		json_object_set_new(line, "box", json_string(out ? "outbox" : "inbox"));
		json_write(b, line, 0);
		buf_addc(b, '\n');
		return;
	}
	struct lines lines = { .b = b, .columns = 0 };
	buf_adds(b, out ? "from  " : "to    ");
	list_line(&lines, message, out ? "delivery" : "status");
}

static void show_new(void *data)
{
	struct following *f = data;
	struct messages_view view;
	AUTO_BUF text = BUF_INIT;

	if (f->status || !messages_read(cli_app(f->cli), f->run, &view, &f->cli->report)) {
		f->status = f->status ? f->status : 1;
		return;
	}
	for (int out = 0; out < 2; out++) {
		json_t *box = out ? view.outbox : view.inbox;

		for (; f->shown[out] < json_array_size(box); f->shown[out]++)
			add_followed(&text, out, json_array_get(box, f->shown[out]), f->json);
	}
	if (view.hidden && !f->hidden)
		tell_hidden();
	f->hidden = view.hidden;
	messages_view_done(&view);
	if (text.len)
		f->status = cli_print(buf_str(&text));
}

static void on_ended(void *data)
{
	((struct following *)data)->ended = true;
}

static void on_unseen(void *data)
{
	((struct following *)data)->unseen = true;
}

static int follow_messages(struct cli *cli, const struct messages_opts *o, const char *run)
{
	struct following f = { .cli = cli, .run = run, .json = o->common.json };
	int status;
	AUTO_RUN *h = run_operand(cli, &o->common, run, &status);

	if (!h)
		return status;
	int e = run_observe(h,
		&(struct observer){
			.changed = show_new, .ended = on_ended, .unseen = on_unseen, .data = &f });
	if (e < 0) {
		run_unobserved(h, e, &cli->report);
		return cli_refuse(cli, o->common.json);
	}
	show_new(&f);
	while (!f.ended && !f.unseen && !f.status && app_turn(cli_app(cli), -1) >= 0)
		;
	if (!f.unseen || run_wait(h, &cli->report))
		show_new(&f);
	return cli->report.errors ? cli_refuse(cli, o->common.json) : f.status;
}

static int messages(const struct call *call)
{
	struct cli *cli = call->host;
	const struct messages_opts *o = call->opts;
	struct messages_view view;

	if (o->follow)
		return follow_messages(cli, o, call->words[0]);
	if (!cli_enter(cli, &o->common) ||
		!messages_read(cli_app(cli), call->words[0], &view, &cli->report))
		return cli_refuse(cli, o->common.json);
	cli_warn(cli);
	int status = print_view(&view, o->common.json);
	messages_view_done(&view);
	return status;
}

const struct command cmd_message = {
	.name = "message",
	.operands = "RUN TYPE [BODY]",
	.summary = "send a message to a running run",
	.details =
		"The message is put into the inbox of the run and, when its program reads a "
		"FIFO or is connected to its socket, given to it as one line: the text of a "
		"`run.message`, anything else as JSON. A message that is not taken yet is "
		"queued, which is not an error.\n\n"
		"BODY is JSON; what is not JSON is a string. `-` is standard input. At most 1 MiB: "
		"put data into a file and send its path.\n\n"
		"The types control.kill, control.archive and control.prune are orders to roux; "
		"all others belong to the program.\n\n"
		"Exit status: 0 sent or queued, 2 refused (no such run, not running, another "
		"owner's, too many waiting).",
	EXAMPLES(message_examples),
	SETS(message_sets, struct message_opts),
	.min_operands = 0,
	.max_operands = 3,
	.complete = COMPLETE_RUN,
	.run = message,
};

const struct command cmd_messages = {
	.name = "messages",
	.operands = "RUN",
	.summary = "list the messages to and from a run",
	.details = "Each is a line with its time, what became of it, its type and the beginning of "
		   "what it says. --json has all of it; with -f it is one document a line, with "
		   "`box` inbox or outbox.",
	SETS(messages_sets, struct messages_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = messages,
};
