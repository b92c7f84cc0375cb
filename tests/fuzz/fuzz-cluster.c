/* What comes from the other side of an exchange and from the programs of a batch system: whatever
 * it is, what was accepted of it can be said again. */
#include "remote/exchange.h"
#include "remote/lines.h"
#include "remote/table.h"

#include "fuzz.h"

static void check_order(struct str line)
{
	struct order o;
	bool unknown;

	if (!order_line_read(line, &o, &unknown))
		return;
	HOLDS(o.kind != ORDER_RUN || (o.n && o.run.argv[0] && o.run.path.len));
	order_done(&o);
}

static bool same_output(const struct said_output *a, const struct said_output *b)
{
	return a->size == b->size && a->file == b->file &&
	       str_eq(buf_str(&a->bytes), buf_str(&b->bytes));
}

static bool same_end(const struct said_end *a, const struct said_end *b)
{
	return a->code == b->code && a->signal == b->signal && a->error == b->error &&
	       a->why == b->why && a->ms == b->ms && same_output(&a->out, &b->out) &&
	       same_output(&a->err, &b->err) && a->user_us == b->user_us &&
	       a->system_us == b->system_us && a->memory_kib == b->memory_kib &&
	       a->held == b->held && a->cut == b->cut && a->keep_error == b->keep_error;
}

/* What is read directly is what JSON's reader says, to whom a line with a space before it is left.
 */
static void check_direct(struct str line, const struct said *s)
{
	AUTO_BUF spaced = BUF_INIT;
	struct said json;
	bool unknown, read;

	buf_addc(&spaced, ' ');
	buf_add(&spaced, line);
	if (spaced.len >= LINE_MAX_BYTES)
		return;
	read = said_read(buf_str(&spaced), &json, &unknown);
	HOLDS(read == (s != NULL));
	if (!s)
		return;
	HOLDS(json.kind == s->kind && json.n == s->n && json.pid == s->pid &&
		json.start == s->start && same_end(&json.end, &s->end));
	said_done(&json);
}

static void check_said(struct str line)
{
	AUTO_BUF again = BUF_INIT;
	struct said s, back;
	bool unknown;

	if (!said_read(line, &s, &unknown)) {
		check_direct(line, NULL);
		return;
	}
	check_direct(line, &s);
	said_write(&again, &s);
	HOLDS(again.len && again.p[again.len - 1] == '\n');
	if (again.len < LINE_MAX_BYTES &&
		said_read(str_sub(buf_str(&again), 0, again.len - 1), &back, &unknown)) {
		HOLDS(back.kind == s.kind && back.n == s.n);
		said_done(&back);
	}
	said_done(&s);
}

static void see_piece(void *data, struct str line)
{
	buf_add(data, line);
	buf_addc(data, '\n');
}

static void see_line(void *data, struct str line)
{
	see_piece(data, line);
	check_order(line);
	check_said(line);
}

static void see_job(void *data, const struct table_job *job)
{
	(void)data;
	HOLDS(job->id.len && job->id.len <= 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct table *slurm;
	struct str text = fuzz_str(data, size);
	struct line_reader whole = { 0 }, pieces = { 0 };
	struct exchange_info info;
	struct arena a = ARENA_INIT;
	const char *const *env;
	AUTO_BUF one = BUF_INIT;
	AUTO_BUF two = BUF_INIT;

	if (!slurm) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_JSON *resolved = table_resolve(NULL, S("slurm"), &r);

		slurm = table_load(resolved, S("slurm"), &r);
	}
	(void)line_reader_take(&whole, text, see_line, &one);
	for (size_t at = 0; at < text.len; at += 7)
		(void)line_reader_take(
			&pieces, str_sub(text, at, MIN((size_t)7, text.len - at)), see_piece, &two);
	HOLDS(str_eq(buf_str(&one), buf_str(&two)) && whole.offset == pieces.offset);
	line_reader_done(&whole);
	line_reader_done(&pieces);
	if (exchange_info_read(text, &a, &info))
		HOLDS(info.cwd.p[0] == '/');
	(void)exchange_env_read(text, &a, &env);
	(void)table_job_id(text);
	table_jobs(slurm, text, see_job, NULL);
	arena_done(&a);
	return 0;
}
