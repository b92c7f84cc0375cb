#include "runs/dir/orders.h"

#include <limits.h>

#include "data/json.h"
#include "runs/dir/lines.h"

static const char *const names[] = {
	[RUN_CANCEL] = "cancel", [RUN_FINISH] = "finish", [RUN_KILL] = "kill"
};

int order_post(const char *dir, const struct order *o)
{
	struct line_log log;
	AUTO_BUF line = BUF_INIT;

	buf_printf(&line, "{\"order\":\"%s\"", names[o->kind]);
	if (o->grace_ms >= 0)
		buf_printf(&line, ",\"grace_ms\":%d", o->grace_ms);
	buf_addc(&line, '}');
	line_log_init(&log, dir, ORDERS_FILE, LINES_MAX_BYTES);
	int r = line_log_append(&log, buf_str(&line));
	line_log_done(&log);
	return r;
}

bool order_read(struct str line, struct order *ret)
{
	AUTO_JSON *order = json_loadb(line.p, line.len, 0, NULL);
	const json_t *name = json_object_get(order, "order");
	const json_t *grace = json_object_get(order, "grace_ms");

	for (size_t i = 0; json_is_string(name) && i < ARRAY_SIZE(names); i++) {
		if (!str_eq(json_str(name), str_of(names[i])))
			continue;
		json_int_t ms = json_is_integer(grace) ? json_integer_value(grace) : -1;

		*ret = (struct order){ (enum run_order)i, ms < 0 || ms > INT_MAX ? -1 : (int)ms };
		return true;
	}
	return false;
}
