#include "hosts/serve/open-link.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "hosts/serve/cli.h"

enum { REMOVE_MS = 60000 };

extern char **environ;

static struct {
	struct buf path, url;
	struct timer remove;
} opened;

void open_link_done(void)
{
	timer_stop(&opened.remove);
	if (opened.path.len)
		(void)unlink(buf_cstr(&opened.path));
	buf_done(&opened.path);
	buf_done(&opened.url);
	opened.path = opened.url = BUF_INIT;
}

void open_link_used(struct str once)
{
	if (once.len && str_ends(buf_str(&opened.url), once))
		open_link_done();
}

static void on_remove(struct timer *t)
{
	(void)t;
	open_link_done();
}

/* The viewer may stay in the foreground: nothing waits for it but the kernel. */
static bool show(const char *path)
{
	posix_spawn_file_actions_t files;
	const char *const argv[] = { "xdg-open", path, NULL };
	posix_spawnattr_t attributes;
	sigset_t none, all;
	pid_t pid;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int n = posix_spawnp(&pid, argv[0], &files, &attributes, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return n == 0;
}

void open_link(struct http *h, const struct serve_places *p, struct loop *loop)
{
	AUTO_BUF page = BUF_INIT;
	uint64_t random = 0;

	open_link_done();
	(void)!getrandom(&random, sizeof(random), 0);
	http_login_url(h, &opened.url);
	buf_printf(&page,
		"<!doctype html>\n<meta charset=\"utf-8\"><title>roux</title>\n"
		"<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<a href=\"%s\">roux</a>\n",
		buf_cstr(&opened.url), buf_cstr(&opened.url));
	buf_printf(&opened.path, "%.*s/open-%016llx.html", STR(p->runtime),
		(unsigned long long)random);
	int n = atomic_write(buf_cstr(&opened.path), buf_str(&page),
		&(struct atomic_options){ .exclusive = true, .quick = true });
	if (n < 0 || !show(buf_cstr(&opened.path))) {
		companion_say("no browser could be opened: use the link");
		open_link_done();
		return;
	}
	opened.remove.fire = on_remove;
	timer_start(loop, &opened.remove, REMOVE_MS);
}
