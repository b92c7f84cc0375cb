/* What commands read: in their orders, in files that are there, or in the exchange. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "remote/remote-own.h"

void remote_input_release(struct remote_job *j)
{
	struct remote *r = container_of(j->job.executor, struct remote, executor);
	struct remote_input *in = j->input;
	char name[64];

	j->input = NULL;
	if (!in || --in->readers)
		return;
	(void)snprintf(name, sizeof(name), "in/%" PRIu64, in->number);
	(void)unlinkat(r->x.fd, name, 0);
	content_unref(in->content);
	list_remove(&in->link);
	free(in);
}

/* Written once, however many commands read it. -errno. */
static int input_share(struct remote *r, struct content *c, struct remote_input **ret)
{
	char name[64];

	list_each (link, &r->inputs) {
		*ret = list_entry(link, struct remote_input, link);
		if ((*ret)->content == c) {
			(*ret)->readers++;
			return 0;
		}
	}
	uint64_t number = ++r->next_input;
	(void)snprintf(name, sizeof(name), "in/%" PRIu64, number);
	AUTO_CLOSE int fd =
		openat(r->x.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int n = fd < 0 ? -errno : content_write(c, fd);
	if (n == 0 && r->x.network && fsync(fd) < 0)
		n = -errno;
	if (n < 0)
		return n;
	*ret = mem_new(struct remote_input);
	**ret = (struct remote_input){ .content = content_ref(c), .number = number, .readers = 1 };
	list_append(&r->inputs, &(*ret)->link);
	return 0;
}

bool remote_below(struct str path, struct str dir)
{
	return str_starts(path, dir) && path.len > dir.len && path.p[dir.len] == '/' &&
	       !str_ends(path, S(" (deleted)"));
}

int remote_input_take(
	struct remote_job *j, const struct job_spec *spec, struct order_run *run, struct buf *room)
{
	struct remote *r = container_of(j->job.executor, struct remote, executor);

	if (!content_size(spec->in))
		return 0;
	if (content_size(spec->in) <= INLINE_MAX) {
		int n = content_head(spec->in, INLINE_MAX, room);

		run->in = INPUT_INLINE;
		run->in_bytes = buf_str(room);
		return n;
	}
	run->in = INPUT_FILE;
	run->in_size = content_size(spec->in);
	content_place(spec->in, room);
	if (remote_below(buf_str(room), r->run_dir) ||
		remote_below(buf_str(room), str_of(r->x.path))) {
		run->in_file = buf_str(room);
		return 0;
	}
	int n = input_share(r, spec->in, &j->input);
	buf_reset(room);
	if (n == 0)
		buf_printf(room, "in/%" PRIu64, j->input->number);
	run->in_file = buf_str(room);
	return n;
}
