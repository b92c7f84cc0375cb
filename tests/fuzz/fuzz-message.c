/* Lines of an inbox or outbox: whatever they hold, each is skipped or becomes a complete message,
 * and the mailbox of a supervisor and the readers of the file agree about what is there. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "runs/mail/inbox.h"
#include "runs/mail/outbox.h"

#include "fuzz.h"

static char dir[64];

static void put(const char *name, struct str text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	HOLDS(fd >= 0 && fd_write_all(fd, text) == 0);
	(void)close(fd);
}

static void finish(void)
{
	static const char *const names[] = { INBOX_FILE, OUTBOX_FILE };
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(dir);
}

static void begin(void)
{
	if (dir[0])
		return;
	(void)snprintf(dir, sizeof(dir), "%s/roux-fuzz-message-%d", file_temp_dir(), (int)getpid());
	HOLDS(mkdir(dir, 0700) == 0 && atexit(finish) == 0);
}

/* Complete: completing it again changes nothing, and its line reads back equal. */
static void check_complete(const json_t *m, const struct message_frame *f)
{
	static const char *const texts[] = { "type", "event", "run", "to", "from", "summary", "ts",
		"id" };
	AUTO_BUF line = BUF_INIT;
	AUTO_BUF given = BUF_INIT;
	AUTO_BUF shown = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		HOLDS(json_is_string(json_object_get(m, texts[i])));
	AUTO_JSON *again = message_complete(m, f, 99);
	HOLDS(json_equal((json_t *)m, again));
	json_write(&line, m, 0);
	HOLDS(str_find(buf_str(&line), '\n', 0) == line.len && utf8_valid(buf_str(&line)));
	AUTO_JSON *back = message_line_read(buf_str(&line));
	HOLDS(back);
	message_program_line(&given, m);
	HOLDS(str_find(buf_str(&given), '\n', 0) == given.len);
	message_preview(&shown, m);
	HOLDS(shown.len <= MESSAGE_PREVIEW && utf8_valid(buf_str(&shown)));
	(void)message_is_stop(m);
}

struct seen {
	struct message_frame frame;
	size_t count;
};

static void see(void *data, const json_t *m)
{
	struct seen *s = data;
	struct str delivery = json_str(json_object_get(m, "delivery"));

	s->count++;
	HOLDS(str_eq(delivery, S("log")) || str_eq(delivery, S("notify")) ||
		str_eq(delivery, S("followup")));
	HOLDS(json_is_string(json_object_get(m, "level")));
	check_complete(m, &s->frame);
}

static void check_envelope(struct str text, const struct message_frame *f)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *given = message_line_read(text);
	AUTO_BUF shown = BUF_INIT;

	if (!given)
		return;
	AUTO_JSON *m = message_compose(given, S(""), NULL, f, &r);
	HOLDS(!m == (r.errors > 0));
	report_text(&r, REPORT_ALL, &shown);
	HOLDS(utf8_valid(buf_str(&shown)));
	if (m)
		check_complete(m, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct seen out = { { OUTBOX, S("r"), S("s1") }, 0 };
	struct message_frame in = { INBOX, S("r"), S("") };
	size_t skipped = 0, waiting = 0;
	struct inbox inbox;

	begin();
	put(OUTBOX_FILE, text);
	put(INBOX_FILE, text);
	HOLDS(outbox_each(dir, &out.frame, see, &out, &skipped) == 0);
	HOLDS(out.count + skipped <= size);
	HOLDS(inbox_read(dir, &in, &inbox) == 0);
	HOLDS(inbox.messages.len <= out.count);
	vec_each (m, &inbox.messages) {
		check_complete(*m, &in);
		waiting += inbox_status_of(*m) == INBOX_QUEUED;
	}
	HOLDS(waiting == inbox.waiting);
	inbox_done(&inbox);
	check_envelope(text, &out.frame);
	check_envelope(text, &in);
	return 0;
}
