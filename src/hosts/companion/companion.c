#include "hosts/companion/companion.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "app/answers.h"
#include "app/app.h"
#include "base/file.h"
#include "cmdline/help.h"
#include "cmdline/parse.h"
#include "cmdline/suggest.h"

const struct opt companion_common_opts[2] = {
	OPT_TEXT('C', "directory", "DIR", struct companion_common, dir, "go to DIR first"),
	OPT_FLAG(0, "json", struct companion_common, json, "answer with one JSON document"),
};

/* A process is one program: what it says begins with this. */
static const char *own_name = "";

void companion_begin(const struct companion *p)
{
	own_name = p->name;
}

void companion_done(struct companion *p)
{
	report_done(&p->report);
	app_close(p->app);
	arena_done(&p->arena);
}

static void write_line(int fd, struct buf *text, const char *fmt, va_list args)
{
	buf_vprintf(text, fmt, args);
	buf_addc(text, '\n');
	(void)fd_write_all(fd, buf_str(text));
}

void companion_say(const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	buf_printf(&text, "roux %s: ", own_name);
	va_start(args, fmt);
	write_line(STDERR_FILENO, &text, fmt, args);
	va_end(args);
}

void companion_print(const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	write_line(STDOUT_FILENO, &text, fmt, args);
	va_end(args);
}

void companion_print_json(const json_t *document)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, document, 0);
	buf_addc(&text, '\n');
	(void)fd_write_all(STDOUT_FILENO, buf_str(&text));
}

int companion_refuse(struct companion *p, bool json)
{
	AUTO_BUF text = BUF_INIT;

	/* None of these commands acts on a run: every next step stands in a hint. */
	report_word(&p->report, (const action_words){ NULL });
	report_sort(&p->report);
	if (json) {
		answer_document(&p->report, &text);
		(void)fd_write_all(STDOUT_FILENO, buf_str(&text));
	} else {
		report_text(&p->report, REPORT_ERRORS, &text);
		(void)fd_write_all(STDERR_FILENO, buf_str(&text));
	}
	return report_has_system(&p->report) ? 1 : 2;
}

bool companion_enter(struct companion *p, const struct companion_common *o)
{
	return !o->dir || chdir(o->dir) == 0 ||
	       report_errno(&p->report, errno, "cannot go to '%s'", o->dir);
}

/* What is typed behind the program's own name. */
static const char *short_name(const struct companion *p, size_t i)
{
	return p->commands[i]->name + strlen(p->name) + 1;
}

const struct command *companion_find(const struct companion *p, const char *name)
{
	for (size_t i = 0; i < p->command_count; i++)
		if (strcmp(short_name(p, i), name) == 0)
			return p->commands[i];
	return NULL;
}

int companion_unknown(struct companion *p, const char *name)
{
	const char **names = arena_array(&p->arena, const char *, p->command_count + 1);

	for (size_t i = 0; i < p->command_count; i++)
		names[i] = short_name(p, i);
	names[p->command_count] = NULL;
	report_error(&p->report, (struct where){ 0 }, "unknown command '%s %s'", p->name, name);
	if (!suggest_word(names, str_of(name), &p->report))
		report_hint(&p->report, "'roux help %s' lists the commands", p->name);
	return companion_refuse(p, false);
}

int companion_run(struct companion *p, void *host, const struct command *cmd, size_t argc,
	const char *const *argv)
{
	void *opts = arena_alloc(&p->arena, cmd->options_size);
	struct cmdline_result parsed = { 0 };
	AUTO_BUF text = BUF_INIT;
	bool json = false;

	for (size_t i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		json |= strcmp(argv[i], "--json") == 0;
	if (!cmdline_parse(cmd, argc, argv, &p->arena, opts, &parsed, &p->report))
		return companion_refuse(p, json);
	if (parsed.help) {
		help_command(cmd, &text);
		return fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0;
	}
	return cmd->run(&(struct call){
		host, cmd, opts, parsed.operand_count, parsed.operands, argv, argc });
}
