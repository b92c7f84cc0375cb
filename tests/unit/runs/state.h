#pragma once

/* A state root made by hand, for tests of what reads run directories. */
#include "runs/dir/run-dir.h"
#include "runs/look/look.h"
#include "runs/root.h"

static UNUSED struct ledger *opened(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);

	assert_non_null(l);
	return l;
}

/* run.json of a run `id` in generation g1 whose supervisor is long gone. */
static void put_run(const char *id)
{
	put(arena_printf(&arena, "runs/%s/run.json", id).p,
		arena_printf(&arena,
			"{\"run\":\"%s\",\"generation\":\"g1\",\"started\":"
			"\"2026-01-02T03:04:05.006Z\",\"cwd\":\"/\",\"pid\":1,\"pid_start\":1,"
			"\"boot_id\":\"x\",\"detached\":true,\"owner\":\"me\"}",
			id)
			.p);
}

static UNUSED void put_result(const char *id, const char *status)
{
	put(arena_printf(&arena, "runs/%s/result.json", id).p,
		arena_printf(&arena,
			"{\"status\":\"%s\",\"code\":4,\"ended\":\"2026-01-02T03:04:06.007Z\"}",
			status)
			.p);
}
