#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/launch/here.h"
#include "runs/dir/open.h"
#include "runs/dir/orders.h"
#include "runs/mail/inbox.h"

/* One for all runs of an app. Without inotify the files are looked at now and then. */
struct hub {
	struct loop *loop;
	struct list entries;
	struct notify notify; /* not open: there is none */
	struct timer look;
};

enum { LOOK_MS = 250 };

static bool see_order(void *data, const struct followed_line *line)
{
	struct hub_entry *e = data;
	struct order order;

	if (order_read(line->text, &order))
		here_obey(e->handle, order.kind, order.grace_ms, 0);
	return true;
}

static void read_orders(struct hub_entry *e)
{
	(void)follower_read(&e->orders, see_order, e);
}

static void on_orders(struct notify_file *f, uint32_t events)
{
	(void)events;
	read_orders(container_of(f, struct hub_entry, orders_changes));
}

static void on_inbox(struct notify_file *f, uint32_t events)
{
	(void)events;
	here_ring(container_of(f, struct hub_entry, inbox_changes)->handle);
}

static void on_look(struct timer *t)
{
	struct hub *hub = container_of(t, struct hub, look);

	list_each_safe (link, &hub->entries) {
		struct hub_entry *e = list_entry(link, struct hub_entry, link);

		read_orders(e);
		here_ring(e->handle);
	}
	if (!list_empty(&hub->entries))
		timer_start(hub->loop, t, LOOK_MS);
}

static void hub_free(struct hub *hub)
{
	notify_close(&hub->notify);
	timer_stop(&hub->look);
	free(hub);
}

static struct hub *hub_of(struct app *a)
{
	if (a->hub)
		return a->hub;
	struct hub *hub = a->hub = mem_new(struct hub);

	a->hub_free = hub_free;
	hub->loop = app_loop(a);
	hub->look.fire = on_look;
	list_init(&hub->entries);
	notify_init(&hub->notify);
	if (notify_open(&hub->notify) == 0 && notify_start(hub->loop, &hub->notify) < 0)
		notify_close(&hub->notify);
	return hub;
}

bool hub_prepare(struct hub_entry *e, struct launch *l, struct report *r)
{
	follower_init(&e->orders, l->claim.dir.p, ORDERS_FILE, 0);
	e->inbox = run_file(&l->arena, l->claim.dir, INBOX_FILE);
	/* What was said before is of an earlier run. */
	const char *path = buf_cstr(&e->orders.path);
	AUTO_CLOSE int fd = run_open_path(path, O_WRONLY | O_CREAT | O_TRUNC);
	return fd >= 0 || report_errno(r, -fd, "cannot write %s", path);
}

/* The inbox is there once the record has begun. */
void hub_join(struct hub_entry *e, struct run_handle *h)
{
	struct hub *hub = hub_of(h->app);

	e->handle = h;
	e->orders_changes = (struct notify_file){ .wd = -1, .changed = on_orders };
	e->inbox_changes = (struct notify_file){ .wd = -1, .changed = on_inbox };
	list_append(&hub->entries, &e->link);
	int orders =
		notify_add(&hub->notify, &e->orders_changes, buf_cstr(&e->orders.path), IN_MODIFY);
	/* What came meanwhile, and all of it when the files cannot be watched. */
	if (orders < 0 || notify_add(&hub->notify, &e->inbox_changes, e->inbox, IN_MODIFY) < 0)
		timer_start(hub->loop, &hub->look, LOOK_MS);
	read_orders(e);
	here_ring(h);
}

void hub_leave(struct hub_entry *e)
{
	if (!e->inbox)
		return;
	if (list_linked(&e->link)) {
		struct hub *hub = e->handle->app->hub;

		list_remove(&e->link);
		notify_remove(&hub->notify, &e->orders_changes);
		notify_remove(&hub->notify, &e->inbox_changes);
	}
	follower_done(&e->orders);
	e->inbox = NULL;
}
