#include "render/picture/model.h"

/* Tooltips end here: Mermaid refuses a diagram of more than 50000 characters. */
enum { TIPS_MAX_BYTES = 40000, TIP_MAX_BYTES = 1200 };

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool numbers_list(struct str line)
{
	size_t n = 0;

	while (n < line.len && ascii_digit(line.p[n]))
		n++;
	return n < line.len && (line.p[n] == '.' || line.p[n] == ')');
}

/* Mermaid looks for directives, comments, icons, formulas, Markdown and HTML in a quoted label
 * before it decodes numbers such as #35; so whatever could belong to one is written as a number. */
static bool plain(struct str s, size_t at)
{
	static const char harmless[] = " /=,{}()[]|'+?!^-.";
	char c = s.p[at];
	bool begins = at == 0 || s.p[at - 1] == '\n';

	if (letter(c))
		return true;
	if (begins) /* "1." and "-" begin a list */
		return ascii_digit(c) && !numbers_list(str_from(s, at));
	if (str_starts(str_from(s, at), S("](")) || (c == '.' && s.p[at - 1] == 'w')) /* links */
		return false;
	return ascii_digit(c) || (c && strchr(harmless, c));
}

static void add_escaped(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '\n')
			buf_adds(b, "<br/>");
		else if (plain(s, i))
			buf_addc(b, s.p[i]);
		else
			buf_printf(b, "#%d;", s.p[i]);
	}
}

static void add_label(struct buf *b, const struct item *i)
{
	AUTO_BUF lines = BUF_INIT;

	item_lines(i, &lines);
	add_escaped(b, buf_str(&lines));
}

static void indent(struct buf *b, unsigned depth)
{
	buf_fill(b, ' ', 2 * (size_t)(depth + 1));
}

/* The shapes of steps. */
static const struct frame {
	const char *before, *after;
} frames[] = {
	[LOOK_PLAIN] = { "(\"", "\")" },
	[LOOK_BASH] = { "[\"", "\"]" },
	[LOOK_AGENT] = { "(\"", "\")" },
	[LOOK_RECIPE] = { "[[\"", "\"]]" },
	[LOOK_WAIT] = { "{{\"", "\"}}" },
	[LOOK_CONDITION] = { "{\"", "\"}" },
	[LOOK_GATE] = { "{\"", "\"}" },
};

static void put_leaf(struct buf *b, const struct item *i)
{
	/* What stands around the label. */
	static const struct {
		const char *before, *text, *after;
	} shapes[] = {
		[ITEM_START] = { "((\"", "start", "\"))" },
		[ITEM_END] = { "(((\"", "stop", "\")))" },
		[ITEM_BOX] = { "(\"", NULL, "\")" },
		[ITEM_MORE] = { "(\"", NULL, "\")" },
		[ITEM_FORK] = { "[/\"", "fork", "\"\\]" },
		[ITEM_JOIN] = { "[\\\"", "join", "\"/]" },
		[ITEM_CONDITION] = { "{\"", NULL, "\"}" },
		[ITEM_GATE] = { "{\"", NULL, "\"}" },
		[ITEM_SEQUENCE] = { "[\"", NULL, "\"]" },
		[ITEM_PARALLEL] = { "[\"", NULL, "\"]" },
	};
	const char *text = shapes[i->kind].text;
	const struct frame *f = i->look ? &frames[i->look] : NULL;

	indent(b, i->depth);
	buf_printf(b, "n%u%s", i->id, f ? f->before : i->copies ? "[[\"" : shapes[i->kind].before);
	if (text)
		buf_adds(b, text);
	else
		add_label(b, i);
	buf_printf(b, "%s\n", f ? f->after : i->copies ? "\"]]" : shapes[i->kind].after);
}

/* Start and end of a step recipe. */
static void put_oval(struct buf *b, const struct item *i)
{
	indent(b, 0);
	buf_printf(b, "n%u([\"%s\"])\n", i->id, i->kind == ITEM_START ? "start" : "#101;nd");
}

static void put_class(struct buf *b, const struct item *i)
{
	const char *class = i->recovery            ? "recovery"
			    : i->kind == ITEM_MORE ? "more"
			    : i->look              ? item_looks[i->look].name
			    : i->fork              ? "parallel"
						   : NULL;

	if (class)
		buf_printf(b, "  class %c%u %s\n", item_is_group(i) ? 'g' : 'n', i->id, class);
	if (i->state.known)
		buf_printf(b, "  class %c%u state-%s\n", item_is_group(i) ? 'g' : 'n', i->id,
			shown_state_word(i->state.state));
}

static void put_item(struct buf *b, const struct item *i, struct buf *classes)
{
	if (!i->bare)
		put_class(classes, i);
	if (!item_is_group(i)) {
		put_leaf(b, i);
	} else if (i->bare) {
		for (size_t c = 0; c < i->child_count; c++)
			put_item(b, i->children[c], classes);
	} else {
		indent(b, i->depth);
		buf_printf(b, "subgraph g%u [\"", i->id);
		add_label(b, i);
		buf_adds(b, "\"]\n");
		if (i->fork)
			put_leaf(b, i->fork);
		for (size_t c = 0; c < i->child_count; c++)
			put_item(b, i->children[c], classes);
		if (i->join)
			put_leaf(b, i->join);
		indent(b, i->depth);
		buf_adds(b, "end\n");
	}
	if (i->recover)
		put_item(b, i->recover, classes);
}

static void put_end(
	struct buf *b, const struct picture *p, const struct item *i, struct buf *classes)
{
	if (p->steps)
		put_oval(b, i);
	else
		put_item(b, i, classes);
}

static void put_arrow(struct buf *b, const struct picture *p, const struct arrow *a)
{
	static const char *const lines[] = {
		[ARROW_NEXT] = "-->",
		[ARROW_BRANCH] = "-->",
		[ARROW_AGAIN] = "-- \"next copy\" -->",
		[ARROW_ROUND] = "-. \"next round\" .->",
		[ARROW_SKIP] = "-. \"skip\" .->",
		[ARROW_RECOVER] = "<-. \"between attempts\" .->",
	};
	/* A group cannot have an arrow to itself: then the nodes in it have it. */
	bool self = a->from == a->to;
	const struct item *from = self ? item_exit(a->from) : a->from;
	const struct item *to = self ? item_entry(a->to) : a->to;

	buf_printf(b, "  %c%u %s %c%u\n", item_is_group(from) ? 'g' : 'n', from->id,
		p->steps && a->kind == ARROW_AGAIN ? "-- \"next item\" -->" : lines[a->kind],
		item_is_group(to) ? 'g' : 'n', to->id);
}

/* Mermaid has tooltips for nodes that can be clicked; the function need not exist. */
static void put_tips(struct buf *b, const struct item *i)
{
	if (i->text.cut && !item_is_group(i) && i->text.tip.len <= TIP_MAX_BYTES &&
		b->len < TIPS_MAX_BYTES) {
		buf_printf(b, "  click n%u callback \"", i->id);
		add_escaped(b, i->text.tip);
		buf_adds(b, "\"\n");
	}
	for (size_t c = 0; c < i->child_count; c++)
		put_tips(b, i->children[c]);
	if (i->recover)
		put_tips(b, i->recover);
}

static void put_legend_arrow(struct buf *b, unsigned which, unsigned before)
{
	buf_printf(b, "    legend%ufrom((\" \")) %s \"%s\" %s legend%u((\" \"))\n", which,
		which == LEGEND_EACH ? "--" : "-.", legend_entries[which].words,
		which == LEGEND_EACH ? "-->" : ".->", which);
	if (before < LEGEND_COUNT)
		buf_printf(b, "    legend%u ~~~ legend%ufrom\n", before, which);
}

static void put_legend(struct buf *b, const struct picture *p, struct buf *classes)
{
	unsigned before = LEGEND_COUNT;

	buf_adds(b, "  subgraph legend [\"legend\"]\n");
	for (unsigned i = 0; i < LEGEND_COUNT; i++) {
		const struct legend_entry *e = &legend_entries[i];
		const struct frame *f = &frames[e->look];

		if (!(p->legend & 1u << i))
			continue;
		if (e->kind == ITEM_MORE) {
			put_legend_arrow(b, i, before);
			before = i;
			continue;
		}
		buf_printf(b, "    legend%u%s%s%s\n", i, f->before, e->words, f->after);
		buf_printf(classes, "  class legend%u %s\n", i, item_looks[e->look].name);
		if (before < LEGEND_COUNT)
			buf_printf(b, "    legend%u ~~~ legend%u\n", before, i);
		before = i;
	}
	buf_adds(b, "  end\n");
}

static void put_step_styles(struct buf *b)
{
	for (unsigned i = LOOK_PLAIN; i < LOOK_COUNT; i++)
		buf_printf(b, "  classDef %s fill:%s,stroke:%s,color:#1c2330%s\n",
			item_looks[i].name, item_looks[i].light.fill, item_looks[i].light.line,
			i == LOOK_RECIPE ? ",stroke-dasharray:6 4" : "");
}

void mermaid_write(const struct picture *p, struct buf *ret)
{
	AUTO_BUF classes = BUF_INIT;

	buf_adds(ret, "flowchart TD\n");
	if (p->title.len) {
		buf_adds(ret, "  accTitle: ");
		add_escaped(ret, p->title);
		buf_addc(ret, '\n');
	}
	buf_adds(ret, "  accDescr: ");
	add_escaped(ret, p->description);
	buf_addc(ret, '\n');
	put_end(ret, p, p->start, &classes);
	put_item(ret, p->root, &classes);
	put_end(ret, p, p->end, &classes);
	vec_each (a, &p->arrows)
		put_arrow(ret, p, a);
	if (p->legend)
		put_legend(ret, p, &classes);
	if (p->steps)
		put_step_styles(ret);
	buf_adds(ret, "  classDef parallel stroke-width:4px\n"
		      "  classDef recovery stroke-dasharray:6 4\n"
		      "  classDef more stroke-dasharray:2 4\n");
	for (unsigned o = 0; p->run && o < SHOWN_STATES; o++) {
		const struct state_colours *c = &state_looks[o].light;

		buf_printf(ret, "  classDef state-%s fill:%s,stroke:%s,color:%s\n",
			shown_state_word(o), c->fill, c->line, c->text);
	}
	buf_add(ret, buf_str(&classes));
	put_tips(ret, p->root);
}
