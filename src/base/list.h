#pragma once

#include <stdbool.h>

#include "base/lang.h"

/* A ring of objects that embed their link. An unlinked link is zeroed or points at itself. */
struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return !l->next || l->next == l;
}

static inline bool list_linked(const struct list *l)
{
	return !list_empty(l);
}

static inline void list_insert_before(struct list *place, struct list *item)
{
	item->prev = place->prev;
	item->next = place;
	place->prev->next = item;
	place->prev = item;
}

static inline void list_append(struct list *head, struct list *item)
{
	list_insert_before(head, item);
}

static inline void list_prepend(struct list *head, struct list *item)
{
	list_insert_before(head->next, item);
}

/* Harmless when it is on no list. */
static inline void list_remove(struct list *item)
{
	if (!item->next)
		return;
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}

#define list_entry(link, type, member) container_of(link, type, member)
#define list_each(link, head) \
	for (struct list *link = (head)->next; link != (head); link = link->next)
/* The current item may be removed inside. */
#define list_each_safe(link, head)                                                        \
	for (struct list *link = (head)->next, *link##_next = link->next; link != (head); \
		link = link##_next, link##_next = link->next)
