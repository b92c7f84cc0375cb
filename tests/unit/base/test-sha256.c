#include "base/sha256.h"

#include "base/buf.h"
#include "unit.h"

static void assert_sum(struct str data, const char *want)
{
	char hex[SHA256_HEX];

	sha256_hex(data, hex);
	assert_string_equal(hex, want);
}

static void the_sums_of_the_standard_come_out(void **state UNUSED)
{
	assert_sum(S(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_sum(S("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_sum(S("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	assert_sum(S("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		     "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
		"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
	assert_sum(S("\0"), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
}

static void a_million_letters_come_out(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;

	buf_fill(&text, 'a', 1000000);
	assert_sum(
		buf_str(&text), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Around the length where the padding needs a second block, and where a block is just full. */
static void every_length_near_a_block_comes_out(void **state UNUSED)
{
	static const struct {
		size_t len;
		const char *sum;
	} known[] = {
		{ 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
		{ 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
		{ 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34" },
		{ 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
		{ 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		AUTO_BUF text = BUF_INIT;

		buf_fill(&text, 'a', known[i].len);
		assert_sum(buf_str(&text), known[i].sum);
	}
}

static void it_does_not_matter_how_the_data_is_cut(void **state UNUSED)
{
	unsigned char whole[SHA256_BYTES], pieces[SHA256_BYTES];
	AUTO_BUF text = BUF_INIT;
	struct sha256 h;

	for (int i = 0; i < 1000; i++)
		buf_addc(&text, (char)(i * 7));
	sha256_init(&h);
	sha256_update(&h, buf_str(&text));
	sha256_final(&h, whole);
	for (size_t step = 1; step < 200; step++) {
		sha256_init(&h);
		for (size_t at = 0; at < text.len; at += step)
			sha256_update(&h, str_sub(buf_str(&text), at, MIN(step, text.len - at)));
		sha256_final(&h, pieces);
		assert_memory_equal(pieces, whole, SHA256_BYTES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sums_of_the_standard_come_out),
		cmocka_unit_test(a_million_letters_come_out),
		cmocka_unit_test(every_length_near_a_block_comes_out),
		cmocka_unit_test(it_does_not_matter_how_the_data_is_cut),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
