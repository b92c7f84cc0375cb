#include "engine/join.h"

#include <stdlib.h>

#include "base/plain-text.h"
#include "base/utf8.h"

enum { STDERR_CHARACTERS = 1000 };

struct join *join_new(const struct node *node, struct str path)
{
	struct join *j = mem_new(struct join);

	j->references = 1;
	j->node = node;
	j->copies = node->kind == NODE_EACH;
	j->path = (struct str){ mem_dup(path.p, path.len), path.len };
	return j;
}

static struct join *join_ref(struct join *j)
{
	j->references++;
	return j;
}

static void forget_bodies(struct join *j)
{
	vec_each (b, &j->branches) {
		content_unref(b->body);
		b->body = NULL;
	}
}

void join_unref(struct join *j)
{
	if (!j || --j->references)
		return;
	forget_bodies(j);
	vec_each (b, &j->branches) {
		if (b->nested)
			join_list_done(b->nested);
		free(b->nested);
		free(b->label);
	}
	vec_done(&j->branches);
	free((char *)j->path.p);
	free(j);
}

struct branch *join_branch(struct join *j, size_t index)
{
	while (j->branches.len <= index)
		vec_push(&j->branches, (struct branch){ 0 });
	return &j->branches.at[index];
}

/* The label of a repeated node stands on what is repeated. */
static struct str label_in_graph(const struct join *j, size_t index)
{
	return j->node ? node_body(j->node->children[j->copies ? 0 : index])->label : S("");
}

void join_label(const struct join *j, size_t index, struct buf *b)
{
	struct str label = label_in_graph(j, index);

	if (index < j->branches.len && j->branches.at[index].label)
		buf_adds(b, j->branches.at[index].label);
	else if (label.len)
		buf_add(b, label);
	else
		buf_printf(b, "branch %zu", index + 1);
}

const char *branch_status_name(enum branch_status status)
{
	static const char *const names[] = { "pending", "done", "failed", "timeout" };

	return names[status];
}

/* It stands in a line, and values may have others in them. */
static void add_label(const struct join *j, size_t i, struct buf *b)
{
	AUTO_BUF label = BUF_INIT;

	join_label(j, i, &label);
	if (j->branches.at[i].resolved)
		text_escaped(b, buf_str(&label));
	else
		buf_add(b, buf_str(&label));
}

/* Everything of a part but the body itself. */
static void head(const struct join *j, size_t i, struct buf *b)
{
	const struct branch *branch = &j->branches.at[i];

	if (i)
		buf_addc(b, '\n');
	buf_adds(b, "--- branch: ");
	add_label(j, i, b);
	buf_printf(b, " status: %s ---\n", branch_status_name(branch->status));
	if (branch->status == BRANCH_DONE)
		return;
	buf_printf(b, "exit: %d", branch->code);
	if (branch->body)
		buf_adds(b, "\nstderr: ");
}

static int put_body(const struct branch *branch, struct content_out *out)
{
	if (branch->status == BRANCH_DONE)
		return content_put(out, branch->body);
	AUTO_BUF text = BUF_INIT;
	int r = content_head(branch->body, (size_t)STDERR_CHARACTERS * 4, &text);
	if (r < 0)
		return r;
	return content_put_str(out, utf8_head(buf_str(&text), STDERR_CHARACTERS));
}

static int write_all(void *data, struct content_out *out)
{
	const struct join *j = data;
	AUTO_BUF text = BUF_INIT;
	int r = 0;

	for (size_t i = 0; i < j->branches.len && r == 0; i++) {
		const struct branch *branch = &j->branches.at[i];

		head(j, i, &text);
		/* Small things are collected, so that a thousand branches are not two thousand
		 * writes. */
		bool small = content_size(branch->body) < 4096;
		if (small)
			r = put_body(branch, &(struct content_out){ -1, &text });
		if (r == 0 && (!small || text.len > 60000 || i + 1 == j->branches.len)) {
			r = content_put_str(out, buf_str(&text));
			buf_reset(&text);
		}
		if (r == 0 && !small)
			r = put_body(branch, out);
	}
	return r;
}

static void done(void *data)
{
	/* There is one text for each join: with it goes the only use of what the branches printed.
	 */
	forget_bodies(data);
	join_unref(data);
}

static uint64_t total_size(const struct join *j)
{
	AUTO_BUF text = BUF_INIT;
	uint64_t size = 0;

	for (size_t i = 0; i < j->branches.len; i++) {
		const struct branch *branch = &j->branches.at[i];

		buf_reset(&text);
		head(j, i, &text);
		if (branch->status == BRANCH_DONE)
			size += content_size(branch->body);
		else
			(void)put_body(branch, &(struct content_out){ -1, &text });
		size += text.len;
	}
	return size;
}

struct content *join_content(struct join *j)
{
	return content_from_pieces(&(struct content_pieces){
		.size = total_size(j),
		.write = write_all,
		.done = done,
		.data = join_ref(j),
	});
}

void join_list_add(struct join_list *list, struct join *j)
{
	vec_push(list, j);
}

void join_list_move(struct join_list *list, struct join_list *from)
{
	if (!list->len) {
		struct join_list t = *list;

		*list = *from;
		*from = t;
		return;
	}
	for (size_t i = 0; i < from->len; i++)
		vec_push(list, from->at[i]);
	from->len = 0;
}

static char *kept_label(struct str label)
{
	AUTO_BUF text = BUF_INIT;

	buf_add(&text, label);
	(void)buf_cstr(&text);
	return buf_take(&text);
}

void join_list_outlive(struct join_list *list)
{
	for (size_t k = 0; k < list->len; k++) {
		struct join *j = list->at[k];

		for (size_t i = 0; i < j->branches.len; i++) {
			struct branch *b = &j->branches.at[i];
			struct str label = label_in_graph(j, i);

			if (!b->label && label.len)
				b->label = kept_label(label);
			if (b->nested)
				join_list_outlive(b->nested);
		}
		j->node = NULL;
	}
}

void join_list_done(struct join_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		join_unref(list->at[i]);
	vec_done(list);
}
