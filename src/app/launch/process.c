/* Signals of a process that is all roux's: what a terminal, a service manager or another roux sends
 * it becomes orders for its runs. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "app/launch/here.h"
#include "loop/signals.h"
#include "runs/dir/identity.h"

struct process {
	struct app *app;
	struct signals signals;
	bool (*came)(void *data, int signal);
	void *data;
	unsigned asked; /* how often a signal asked for the end */
};

static void obey_all(struct app *a, enum run_order order, int grace_ms, int signal)
{
	list_each_safe (link, &a->runs) {
		struct run_handle *h = list_entry(link, struct run_handle, link);

		if (handle_is_here(h))
			here_obey(h, order, grace_ms, signal);
	}
}

static void ring_all(struct app *a)
{
	list_each_safe (link, &a->runs) {
		struct run_handle *h = list_entry(link, struct run_handle, link);

		if (handle_is_here(h))
			here_ring(h);
	}
}

/* What another roux tells this one. */
static bool on_order(struct process *p, int signal, int value)
{
	for (enum run_order o = RUN_CANCEL; o < RUN_ORDERS; o++) {
		if (signal == ORDER_SIGNAL(o)) {
			obey_all(p->app, o, value, 0);
			return true;
		}
	}
	if (signal != RING_SIGNAL)
		return false;
	ring_all(p->app);
	return true;
}

static void on_signal(struct signals *s, int signal, int value)
{
	struct process *p = container_of(s, struct process, signals);

	if (on_order(p, signal, value) || (p->came && p->came(p->data, signal)))
		return;
	switch (signal) {
	case SIGINT:
	case SIGTERM:
	case SIGHUP:
	case SIGQUIT:
		if (p->asked++ == 0 && signal != SIGQUIT)
			obey_all(p->app, RUN_CANCEL, -1, signal);
		else
			obey_all(p->app, RUN_KILL, -1, signal);
		break;
	default:
		break; /* of SIGPIPE and SIGXFSZ the writer hears as EPIPE and EFBIG */
	}
}

int app_take_signals(struct app *a, bool (*came)(void *data, int signal), void *data)
{
	const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGWINCH,
		SIGTSTP, SIGCONT, ORDER_SIGNAL(RUN_CANCEL), ORDER_SIGNAL(RUN_FINISH),
		ORDER_SIGNAL(RUN_KILL), RING_SIGNAL, 0 };
	struct loop *loop = app_loop(a);

	if (!loop)
		return -errno;
	struct process *p = mem_new(struct process);
	p->app = a;
	p->came = came;
	p->data = data;
	p->signals.came = on_signal;
	int n = signals_start(loop, &p->signals, wanted);
	if (n < 0) {
		free(p);
		return n;
	}
	a->process = p;
	a->manners.mask = &p->signals.before;
	return 0;
}

void app_drop_signals(struct app *a)
{
	if (!a->process)
		return;
	/* Ignore orders from here on: by default they would kill this process. */
	for (enum run_order o = RUN_CANCEL; o <= RUN_ORDERS; o++)
		(void)signal(SIGRTMIN + 1 + (int)o, SIG_IGN);
	signals_stop(&a->process->signals);
	a->manners.mask = NULL;
	free(a->process);
	a->process = NULL;
}
