#include "base/file-system.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

static void types(void **state UNUSED)
{
	static const uint32_t shared[] = { 0x6969, 0xff534d42, 0x0bd00bd0, 0x47504653, 0x65735546 };
	static const uint32_t here[] = { 0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630,
		0 };

	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		assert_true(file_system_type_is_network(shared[i]));
	for (size_t i = 0; i < ARRAY_SIZE(here); i++)
		assert_false(file_system_type_is_network(here[i]));
}

static void places(void **state UNUSED)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_false(file_system_is_network("/proc"));
	assert_false(file_system_is_network_at(fd));
	(void)close(fd);
	/* It cannot be told. */
	assert_true(file_system_is_network("/not/there"));
	assert_true(file_system_is_network_at(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types),
		cmocka_unit_test(places),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("file-system", tests, NULL, NULL);
}
