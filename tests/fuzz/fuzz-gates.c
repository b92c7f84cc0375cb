/* gates.json of a run's directory: whatever is in it, what is shown of it is what it says. */
#include "app/record/gates-file.h"
#include "base/utf8.h"

#include "room.h"

static void shown(const json_t *document)
{
	AUTO_BUF text = BUF_INIT;

	if (!document)
		return;
	HOLDS(json_is_object(document));
	json_write(&text, document, 0);
	HOLDS(utf8_valid(buf_str(&text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str dir = str_of(room());
	const char *path;
	json_t *g;

	room_put(GATES_FILE, fuzz_str(data, size), NULL);
	AUTO_JSON *gates = gates_read(dir, &r);
	AUTO_JSON *pending = gates_pending(dir, &r);
	AUTO_JSON *answered = gates_answered(dir, &r);
	HOLDS(!pending || !answered); /* one that waits hides the others */
	json_object_foreach(gates, path, g)
		HOLDS(gate_answer_of(g) == GATE_PENDING ? pending != NULL : true);
	if (pending)
		HOLDS(json_is_string(json_object_get(pending, "path")));
	shown(pending);
	shown(answered);
	return 0;
}
