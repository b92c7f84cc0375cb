/* A line of leaves.jsonl: what is read directly says the same as JSON, and what a line says can be
 * written and read again. */
#include "runs/dir/leaf-line.h"

#include "fuzz.h"

static bool same(const struct leaf_line *a, const struct leaf_line *b)
{
	const struct leaf_record *x = &a->record, *y = &b->record;

	return a->kind == b->kind && str_eq(a->path, b->path) && a->ts == b->ts &&
	       a->used == b->used && a->usage.user_us == b->usage.user_us &&
	       a->usage.system_us == b->usage.system_us &&
	       a->usage.memory_kib == b->usage.memory_kib && x->number == y->number &&
	       x->started == y->started && x->ended == y->ended && x->lost == y->lost &&
	       x->code == y->code && x->signal == y->signal && x->timed_out == y->timed_out &&
	       x->cancelled == y->cancelled && x->gone == y->gone && str_eq(x->limit, y->limit) &&
	       x->ms == y->ms && x->out_bytes == y->out_bytes && x->err_bytes == y->err_bytes &&
	       x->pid == y->pid && x->pid_start == y->pid_start && str_eq(x->on, y->on) &&
	       x->worker == y->worker && x->grant == y->grant;
}

/* Numbers that a line can have when roux has written it. */
static bool ordinary(const struct leaf_line *l)
{
	const struct leaf_record *r = &l->record;
	uint64_t all = l->ts | r->number | r->ms | r->out_bytes | r->err_bytes | l->usage.user_us |
		       l->usage.system_us | l->usage.memory_kib;

	return all < UINT64_C(1) << 62;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct leaf_line plain, json, again;
	AUTO_JSON *kept = NULL;
	AUTO_JSON *kept_again = NULL;
	AUTO_BUF written = BUF_INIT;
	bool is_json = leaf_line_read_json(text, &json, &kept);

	if (leaf_line_read_plain(text, &plain))
		HOLDS(is_json && same(&plain, &json));
	if (!is_json || json.kind != LEAF_EXIT || !ordinary(&json))
		return 0;
	leaf_exit_line(&written, json.path, &json.record, json.used ? &json.usage : NULL, json.ts);
	HOLDS(leaf_line_read(buf_str(&written), &again, &kept_again) && same(&again, &json));
	return 0;
}
