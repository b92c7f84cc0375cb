#include "base/hmac.h"

#include "base/buf.h"
#include "unit.h"

static void assert_mac(struct str data, const char *want)
{
	unsigned char key[HMAC_KEY], mac[SHA256_BYTES];
	AUTO_BUF hex = BUF_INIT;

	for (unsigned char i = 0; i < HMAC_KEY; i++)
		key[i] = i;
	hmac_sha256(key, data, mac);
	for (size_t i = 0; i < sizeof(mac); i++)
		buf_printf(&hex, "%02x", mac[i]);
	assert_str(buf_str(&hex), want);
}

/* As other programs compute them, with the bytes 0 to 31 as the key. */
static void the_sums_are_those_of_others(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;

	assert_mac(S(""), "d38b42096d80f45f826b44a9d5607de72496a415d3f4a1a8c88e3bb9da8dc1cb");
	assert_mac(S("what do ya want for nothing?"),
		"099805f4ac310786968565c098db515cc50862b420ae31e20238312344bed36a");
	buf_fill(&text, 'a', 200);
	assert_mac(
		buf_str(&text), "70034faebea699a3b6a78ec372b97a83906134874545455329c0dea5eccde6ee");
}

static void sums_are_compared_to_their_last_byte(void **state UNUSED)
{
	const unsigned char a[] = "0123456789", b[] = "0123456780";

	assert_true(hmac_equal(a, b, 9));
	assert_false(hmac_equal(a, b, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sums_are_those_of_others),
		cmocka_unit_test(sums_are_compared_to_their_last_byte),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("hmac", tests, NULL, NULL);
}
