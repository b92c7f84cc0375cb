#include "render/web/run-tree.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/human.h"
#include "render/web/html.h"

enum { COMMAND_SHOWN = 120, LABEL_SHOWN = 80 };

void state_html(struct buf *b, enum shown_state s)
{
	buf_printf(b, "<span class=\"st\" data-s=\"%s\">%s</span>", shown_state_word(s),
		shown_state_word(s));
}

void tree_counts(struct buf *b, const uint64_t *counts)
{
	static const enum shown_state order[] = { STATE_DONE, STATE_RUNNING, STATE_RETRYING,
		STATE_PAUSED, STATE_FAILED, STATE_TIMEOUT, STATE_TOLERATED, STATE_SKIPPED,
		STATE_DENIED, STATE_CANCELLED, STATE_KILLED, STATE_EXITED, STATE_WAITING,
		STATE_UNREACHED };
	size_t from = b->len;

	for (size_t i = 0; counts && i < ARRAY_SIZE(order); i++) {
		if (!counts[order[i]])
			continue;
		if (b->len > from)
			buf_adds(b, " · ");
		human_number(b, counts[order[i]]);
		buf_printf(b, " %s", shown_state_word(order[i]));
	}
}

void tree_node_url(struct buf *b, struct str run, struct str path)
{
	buf_adds(b, "/runs/");
	html_url(b, run);
	buf_adds(b, "/nodes/");
	if (str_eq(path, S(".")))
		buf_adds(b, "root");
	else
		html_url(b, path);
}

/* -- one item ------------------------------------------------------------------------------------
 */

/* Label, or command, or what kind of group it is. */
static void put_name(struct buf *b, const struct node_view *v)
{
	if (v->label.len)
		html_cut(b, v->label, LABEL_SHOWN);
	else if (!v->group && v->text.len)
		html_cut(b, v->text, LABEL_SHOWN);
	else
		buf_adds(b, v->kind);
}

static void put_took(struct buf *b, const struct node_view *v)
{
	if (v->timed && v->reached)
		clock_duration(b, v->ms);
}

static void put_details(struct buf *b, const struct node_view *v)
{
	buf_printf(b, "<span class=\"w\">%s</span><span class=\"t\">", shown_state_word(v->state));
	put_took(b, v);
	buf_adds(b, "</span><span class=\"a\">");
	if (v->attempts > 1)
		buf_printf(b, "×%" PRIu64, v->attempts);
	if (v->coded && v->code && !v->group)
		buf_printf(b, "%sexit %d", v->attempts > 1 ? " " : "", v->code);
	buf_adds(b, "</span>");
	if (v->group && v->counts) {
		buf_adds(b, "<span class=\"c\">");
		tree_counts(b, v->counts);
		buf_adds(b, "</span>");
	}
}

static void put_item(struct buf *b, const struct tree_item *item, const struct tree_links *links)
{
	const struct node_view *v = &item->view;

	buf_adds(b, "<li data-p=\"");
	html_attr(b, v->path);
	buf_printf(b, "\" data-s=\"%s\"><a href=\"", shown_state_word(v->state));
	tree_node_url(b, links->run, v->path);
	buf_adds(b, "\">");
	put_name(b, v);
	buf_adds(b, "</a>");
	put_details(b, v);
	if (!v->group && v->text.len && v->label.len) {
		buf_adds(b, "<code>");
		html_cut(b, v->text, COMMAND_SHOWN);
		buf_adds(b, "</code>");
	}
}

/* A link to this page with another set of open groups. */
static void put_link(struct buf *b, const struct tree_links *links, struct str open,
	const struct node_view *v, uint64_t from)
{
	buf_adds(b, "<a class=\"more\" href=\"?");
	html_attr(b, links->query);
	buf_adds(b, "open=");
	if (open.len) {
		html_url(b, open);
		buf_adds(b, "%2C");
	}
	html_url(b, str_eq(v->path, S(".")) ? S("root") : v->path);
	if (from)
		buf_printf(b, "%%3A%" PRIu64, from);
	buf_adds(b, "#n-");
	html_attr(b, v->path);
	buf_adds(b, "\">");
}

static void put_more(struct buf *b, const struct tree_item *item, const struct tree_links *links)
{
	const struct node_view *v = &item->view;
	uint64_t behind = item->from + TREE_PAGE;

	if (!item->hidden || links->print)
		return;
	buf_adds(b, "<p class=\"pages\">");
	if (!item->from && item->hidden == v->children) {
		put_link(b, links, links->open, v, 0);
		buf_adds(b, "show all ");
		human_number(b, v->children);
		buf_adds(b, "</a>");
	} else {
		if (item->from) {
			put_link(b, links, S(""), v,
				item->from - MIN(item->from, (uint64_t)TREE_PAGE));
			buf_adds(b, "← earlier</a> ");
		}
		if (behind < v->children) {
			put_link(b, links, S(""), v, behind);
			buf_adds(b, "show more →</a> ");
		}
		human_number(b, v->children);
		buf_adds(b, " in all");
	}
	buf_adds(b, "</p>");
}

/* -- all of them ---------------------------------------------------------------------------------
 */

struct level {
	bool at_once;
	const struct tree_item *group;
};

void tree_html(
	struct buf *b, const struct tree_item *items, size_t count, const struct tree_links *links)
{
	struct level levels[64];
	unsigned depth = 0; /* lists that are open */

	if (!count)
		return;
	buf_adds(b, "<ol class=\"tree\">");
	for (size_t i = 0; i < count; i++) {
		unsigned want = MIN(items[i].depth, (unsigned)ARRAY_SIZE(levels));

		for (; depth > want; depth--) {
			buf_adds(b, levels[depth - 1].at_once ? "</ul>" : "</ol>");
			put_more(b, levels[depth - 1].group, links);
			buf_adds(b, "</li>");
		}
		put_item(b, &items[i], links);
		bool has = i + 1 < count && items[i + 1].depth > items[i].depth;
		if (has && depth < ARRAY_SIZE(levels)) {
			levels[depth] = (struct level){ items[i].view.at_once, &items[i] };
			buf_adds(b, items[i].view.at_once ? "<ul>" : "<ol>");
			depth++;
		} else {
			put_more(b, &items[i], links);
			buf_adds(b, "</li>");
		}
	}
	for (; depth; depth--) {
		buf_adds(b, levels[depth - 1].at_once ? "</ul>" : "</ol>");
		put_more(b, levels[depth - 1].group, links);
		buf_adds(b, "</li>");
	}
	buf_adds(b, "</ol>");
}

void tree_table(
	struct buf *b, const struct tree_item *items, size_t count, const struct tree_links *links)
{
	buf_adds(b,
		"<div class=\"scroll\" role=\"region\" aria-label=\"Nodes\" tabindex=\"0\"><table "
		"class=\"nodes\"><thead><tr><th>State<th>Path<th>Node<th>Took<th>Tries"
		"<th>Command</tr></thead><tbody>");
	for (size_t i = 0; i < count; i++) {
		const struct node_view *v = &items[i].view;

		buf_adds(b, "<tr data-p=\"");
		html_attr(b, v->path);
		buf_printf(b, "\" data-s=\"%s\"><td class=\"st\"><span class=\"w\">%s</span><td>",
			shown_state_word(v->state), shown_state_word(v->state));
		html_attr(b, v->path);
		buf_adds(b, "<td><a href=\"");
		tree_node_url(b, links->run, v->path);
		buf_adds(b, "\">");
		put_name(b, v);
		buf_adds(b, "</a><td class=\"t\">");
		put_took(b, v);
		buf_adds(b, "<td class=\"a\">");
		if (v->attempts)
			buf_printf(b, "%" PRIu64, v->attempts);
		if (v->group && v->counts) {
			buf_adds(b, "<td class=\"c\">");
			tree_counts(b, v->counts);
		} else {
			buf_adds(b, "<td><code>");
			html_cut(b, v->text, COMMAND_SHOWN);
			buf_adds(b, "</code>");
		}
		buf_adds(b, "</tr>");
	}
	buf_adds(b, "</tbody></table></div>");
	for (size_t i = 0; i < count; i++)
		if (items[i].hidden && items[i].view.group)
			put_more(b, &items[i], links);
}
