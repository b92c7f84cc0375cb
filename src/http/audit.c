#include "http/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "data/json-out.h"

/* `SPARE` is left behind a line for what is known only afterwards: the run's name, the outcome. */
enum { ROTATE_BYTES = 16 << 20, KEPT = 4, SPARE = 320 };

void audit_init(struct audit *a, struct str dir)
{
	*a = (struct audit){ .dir = dir, .fd = -1 };
	list_init(&a->refused);
}

void audit_done(struct audit *a)
{
	audit_flush(a);
	close_fd(&a->fd);
}

static void path_of(const struct audit *a, int number, struct buf *b)
{
	buf_printf(b, "%.*s/audit.jsonl", STR(a->dir));
	if (number)
		buf_printf(b, ".%d", number);
}

static void rotate(struct audit *a)
{
	for (int i = KEPT - 1; i > 0; i--) {
		AUTO_BUF from = BUF_INIT;
		AUTO_BUF to = BUF_INIT;

		path_of(a, i - 1, &from);
		path_of(a, i, &to);
		(void)rename(buf_cstr(&from), buf_cstr(&to));
	}
	close_fd(&a->fd);
}

/* A line that a killed server has left half written is ended, or the next would be part of it. */
static void end_last_line(struct audit *a)
{
	char last = '\n';

	if (a->size && pread(a->fd, &last, 1, (off_t)a->size - 1) == 1 && last != '\n' &&
		pwrite(a->fd, "\n", 1, (off_t)a->size) == 1)
		a->size++;
}

static int open_file(struct audit *a)
{
	AUTO_BUF path = BUF_INIT;
	struct stat st;

	if (!a->dir.len)
		return -EROFS;
	if (a->fd >= 0 && fstat(a->fd, &st) == 0 && st.st_nlink == 0)
		close_fd(&a->fd);
	if (a->fd >= 0 && a->size > ROTATE_BYTES)
		rotate(a);
	if (a->fd >= 0)
		return 0;
	path_of(a, 0, &path);
	a->fd = open(buf_cstr(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (a->fd < 0)
		return -errno;
	if (fstat(a->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close_fd(&a->fd);
		return -EINVAL;
	}
	a->size = (uint64_t)st.st_size;
	end_last_line(a);
	return 0;
}

static int write_at(int fd, struct str text, uint64_t at)
{
	for (size_t done = 0; done < text.len;) {
		ssize_t n = pwrite(fd, text.p + done, text.len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

struct audit_line *audit_line_new(
	struct str who, const char *via, struct str session, struct str action)
{
	struct audit_line *l = mem_new(struct audit_line);

	l->since_ms = clock_mono_ms();
	l->ts = clock_real_ms();
	l->via = via;
	l->count = 1;
	buf_add(&l->who, who);
	buf_add(&l->session, session);
	buf_add(&l->action, action);
	return l;
}

void audit_line_free(struct audit_line *l)
{
	if (!l)
		return;
	list_remove(&l->link);
	buf_done(&l->who);
	buf_done(&l->session);
	buf_done(&l->action);
	buf_done(&l->note);
	free(l);
}

void audit_line_note(struct audit_line *l, const char *name, struct str value)
{
	buf_addc(&l->note, ',');
	json_write_str(&l->note, str_of(name));
	buf_addc(&l->note, ':');
	json_write_str(&l->note, value);
}

/* Without its end. `outcome` empty: it is about to happen. */
static void compose(const struct audit_line *l, struct str outcome, bool with_note, struct buf *b)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_time(&o, "ts", l->ts);
	json_out_str(&o, "who", buf_str(&l->who));
	json_out_str(&o, "via", str_of(l->via));
	json_out_str_or_null(&o, "session", buf_str(&l->session));
	json_out_str(&o, "action", buf_str(&l->action));
	if (with_note)
		buf_add(b, buf_str(&l->note));
	json_out_str(&o, "outcome", outcome.len ? outcome : S("begun"));
	if (outcome.len)
		json_out_uint(&o, "ms", clock_mono_ms() - l->since_ms);
	if (l->count > 1)
		json_out_uint(&o, "count", l->count);
	json_out_object_end(&o);
}

static int append(struct audit *a, struct audit_line *l, struct buf *text)
{
	int n = open_file(a);

	if (n == 0)
		n = write_at(a->fd, buf_str(text), a->size);
	if (n < 0) {
		/* Half a line must not stay. */
		if (a->fd >= 0)
			(void)!ftruncate(a->fd, (off_t)a->size);
		return n;
	}
	l->at = a->size;
	l->room = text->len;
	l->written = true;
	a->size += text->len;
	return 0;
}

int audit_begin(struct audit *a, struct audit_line *l)
{
	AUTO_BUF text = BUF_INIT;

	compose(l, S(""), true, &text);
	buf_fill(&text, ' ', SPARE);
	buf_addc(&text, '\n');
	return append(a, l, &text);
}

void audit_end(struct audit *a, struct audit_line *l, struct str outcome, struct buf *ret_lost)
{
	AUTO_BUF text = BUF_INIT;

	compose(l, outcome, true, &text);
	if (l->written && text.len + 1 > l->room) {
		buf_reset(&text);
		compose(l, outcome, false, &text);
	}
	if (l->written && text.len + 1 <= l->room) {
		buf_fill(&text, ' ', l->room - 1 - text.len);
		buf_addc(&text, '\n');
		/* A file that was rotated since has been begun anew: the line stays as it was. */
		if (a->fd >= 0 && l->at + l->room <= a->size &&
			write_at(a->fd, buf_str(&text), l->at) == 0)
			return;
	} else if (!l->written) {
		buf_addc(&text, '\n');
		if (append(a, l, &text) == 0)
			return;
	}
	buf_add(ret_lost, str_trim(buf_str(&text)));
}

bool audit_refused(struct audit *a, struct audit_line *l, struct str outcome)
{
	audit_line_note(l, "refused", outcome);
	list_each (link, &a->refused) {
		struct audit_line *other = list_entry(link, struct audit_line, link);

		if (other->via == l->via && str_eq(buf_str(&other->who), buf_str(&l->who)) &&
			str_eq(buf_str(&other->action), buf_str(&l->action)) &&
			str_eq(buf_str(&other->note), buf_str(&l->note))) {
			other->count++;
			audit_line_free(l);
			return false;
		}
	}
	list_append(&a->refused, &l->link);
	return true;
}

void audit_flush(struct audit *a)
{
	list_each_safe (link, &a->refused) {
		struct audit_line *l = list_entry(link, struct audit_line, link);
		AUTO_BUF lost = BUF_INIT;

		audit_end(a, l, S("refused"), &lost);
		audit_line_free(l);
	}
}
