#include "app/launch/room.h"

#include "base/lang.h"

/* Descriptors of roux itself, and of each command: pipes, pidfd, files with its output. */
enum { OWN_DESCRIPTORS = 28, DESCRIPTORS_EACH = 5 };

void room_for_descriptors(struct manners *m, struct rlimit *before, uint64_t *jobs)
{
	rlim_t need = (rlim_t)*jobs * DESCRIPTORS_EACH + 64;

	if (!m->own_process || getrlimit(RLIMIT_NOFILE, before) < 0 || before->rlim_cur >= need)
		return;
	struct rlimit more = *before;
	more.rlim_cur = MIN(need, before->rlim_max);
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		m->nofile = before;
	else
		more = *before;
	if (more.rlim_cur < need) {
		uint64_t room = more.rlim_cur - MIN(more.rlim_cur, (rlim_t)OWN_DESCRIPTORS);

		*jobs = MIN(*jobs, MAX(room / DESCRIPTORS_EACH, 1UL));
	}
}
