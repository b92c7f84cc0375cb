#include "hosts/mcp/seal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "base/hmac.h"
#include "data/base64.h"

/* -- texts ---------------------------------------------------------------------------------------
 */

/* base64url without padding. */
static void encode(struct buf *b, struct str bytes)
{
	size_t from = b->len;

	base64_write(b, bytes);
	for (size_t i = from; i < b->len; i++)
		b->p[i] = b->p[i] == '+' ? '-' : b->p[i] == '/' ? '_' : b->p[i];
	while (b->len > from && b->p[b->len - 1] == '=')
		buf_truncate(b, b->len - 1);
}

static bool decode(struct str text, struct buf *ret)
{
	AUTO_BUF plain = BUF_INIT;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c == '+' || c == '/' || c == '=')
			return false;
		buf_addc(&plain, c == '-' ? '+' : c == '_' ? '/' : c);
	}
	while (plain.len % 4)
		buf_addc(&plain, '=');
	return base64_read(buf_str(&plain), ret);
}

static void seal(const unsigned char key[HMAC_KEY], struct str payload, struct buf *b)
{
	AUTO_BUF whole = BUF_INIT;
	unsigned char mac[SHA256_BYTES];

	hmac_sha256(key, payload, mac);
	buf_add(&whole, payload);
	buf_add(&whole, (struct str){ (const char *)mac, sizeof(mac) });
	encode(b, buf_str(&whole));
}

static bool unseal(const unsigned char key[HMAC_KEY], struct str text, struct buf *ret)
{
	unsigned char mac[SHA256_BYTES];

	if (!decode(text, ret) || ret->len < sizeof(mac))
		return false;
	struct str payload = str_sub(buf_str(ret), 0, ret->len - sizeof(mac));
	hmac_sha256(key, payload, mac);
	bool ok = hmac_equal(mac, (const unsigned char *)ret->p + payload.len, sizeof(mac));
	buf_truncate(ret, payload.len);
	return ok;
}

/* -- cursors -------------------------------------------------------------------------------------
 */

/* A cursor is only good in the process that made it. */
static const unsigned char *own_key(void)
{
	static unsigned char key[HMAC_KEY];
	static bool made;

	if (!made)
		made = getrandom(key, sizeof(key), 0) == (ssize_t)sizeof(key);
	return key;
}

void seal_cursor(
	const struct mcp *m, const char *list, uint64_t at, uint64_t generation, struct buf *b)
{
	AUTO_BUF payload = BUF_INIT;

	(void)m;
	buf_printf(&payload, "%s %llu %llu", list, (unsigned long long)generation,
		(unsigned long long)at);
	seal(own_key(), buf_str(&payload), b);
}

bool seal_cursor_open(const struct mcp *m, const char *list, struct str text, uint64_t generation,
	uint64_t *ret_at)
{
	AUTO_BUF payload = BUF_INIT;
	AUTO_BUF wanted = BUF_INIT;

	(void)m;
	buf_printf(&wanted, "%s %llu ", list, (unsigned long long)generation);
	return unseal(own_key(), text, &payload) &&
	       str_starts(buf_str(&payload), buf_str(&wanted)) &&
	       str_to_uint(str_from(buf_str(&payload), wanted.len), ret_at);
}

/* -- documents -----------------------------------------------------------------------------------
 */

static bool read_key(struct mcp *m, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	unsigned char fresh[HMAC_KEY];

	if (m->has_key)
		return true;
	buf_printf(&path, "%.*s/mcp.key", STR(app_state_root(m->app)));
	int n = file_read_regular(buf_cstr(&path), HMAC_KEY, &text);
	if (n == -ENOENT) {
		if (getrandom(fresh, sizeof(fresh), 0) != (ssize_t)sizeof(fresh))
			return report_errno(r, errno, "cannot make a key");
		(void)dir_make(app_state_root(m->app).p);
		/* Another server may make it at the same time: the first one counts. */
		n = atomic_write(buf_cstr(&path), (struct str){ (char *)fresh, sizeof(fresh) },
			&(struct atomic_options){ .exclusive = true });
		if (n == 0 || n == -EEXIST)
			n = file_read_regular(buf_cstr(&path), HMAC_KEY, &text);
	}
	if (n == 0 && text.len != HMAC_KEY)
		n = -EINVAL;
	if (n < 0)
		return report_errno(r, -n, "cannot use the key in the state directory");
	memcpy(m->key, text.p, HMAC_KEY);
	m->has_key = true;
	return true;
}

bool seal_state(struct mcp *m, const json_t *payload, struct buf *b, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	if (!read_key(m, r))
		return false;
	json_write(&text, payload, 0);
	seal(m->key, buf_str(&text), b);
	return true;
}

json_t *seal_state_open(struct mcp *m, struct str text, struct report *r)
{
	AUTO_BUF payload = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;

	if (!read_key(m, r) || !unseal(m->key, text, &payload))
		return NULL;
	return json_read(&(struct source){ S("state"), buf_str(&payload) }, &ignored);
}
