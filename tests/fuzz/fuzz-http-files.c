/* tokens.json and sessions.json of a server: whatever is in them lets in only who has the secret,
 * and what is written back reads the same. */
#include "http/http.h"
#include "http/sessions.h"
#include "http/tokens.h"

#include "room.h"

static void check_tokens(struct str text)
{
	AUTO_REPORT r = REPORT_INIT;
	struct tokens t;
	unsigned mask;

	room_put("tokens.json", text, NULL);
	bool ok = tokens_open(&t, str_of(room()), &r);
	HOLDS(ok == !r.errors && (ok || !t.at.len) && t.at.len <= 256);
	vec_each (one, &t.at) {
		HOLDS(!((*one)->scopes & ~(unsigned)(HTTP_READ | HTTP_RUN | HTTP_ANSWER)));
		HOLDS(strlen((*one)->sum) <= SHA256_HEX - 1 && !(*one)->given);
	}
	HOLDS(!tokens_find(&t, text, 1));
	HOLDS(!tokens_find(&t, S(""), 1));
	size_t count = t.at.len;
	if (ok)
		HOLDS(tokens_reload(&t, &r) && t.at.len == count && t.old.len == count);
	tokens_close(&t);
	if (scopes_read(text, &mask, &r)) {
		AUTO_BUF written = BUF_INIT;
		unsigned again;

		scopes_write(&written, mask);
		HOLDS(scopes_read(buf_str(&written), &again, &r) && again == mask);
	}
}

static void check_sessions(struct str text)
{
	struct sessions s, again;
	struct str dir = str_of(room());

	room_put("sessions.json", text, NULL);
	sessions_init(&s, dir);
	HOLDS(s.at.len <= SESSIONS_MAX && !s.changed);
	HOLDS(!sessions_find(&s, text, 1));
	s.changed = true;
	HOLDS(sessions_save(&s) == 0);
	sessions_init(&again, dir);
	HOLDS(again.at.len == s.at.len);
	for (size_t i = 0; i < s.at.len; i++)
		HOLDS(strcmp(again.at.at[i]->name, s.at.at[i]->name) == 0);
	sessions_done(&again);
	sessions_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);

	check_tokens(text);
	check_sessions(text);
	return 0;
}
