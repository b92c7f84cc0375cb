#include "engine/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#include "unit.h"

/* A text of `size` bytes that differs everywhere. */
static void pattern(struct buf *b, size_t size)
{
	while (b->len < size)
		buf_printf(b, "%zu,", b->len);
	buf_truncate(b, size);
}

static struct content *in_memory(size_t size)
{
	struct buf b = BUF_INIT;

	pattern(&b, size);
	return content_from_buf(&b);
}

/* A file with something before it. */
static struct content *in_file(size_t size)
{
	AUTO_BUF b = BUF_INIT;
	int fd = file_temp();

	assert_true(fd >= 0);
	pattern(&b, size);
	assert_int_equal(fd_write_all(fd, S("before")), 0);
	assert_int_equal(fd_write_all(fd, buf_str(&b)), 0);
	return content_from_fd(fd, 6, size);
}

static int ends;

static int write_pieces(void *data, struct content_out *out)
{
	AUTO_BUF b = BUF_INIT;

	pattern(&b, *(size_t *)data);
	int r = content_put_str(out, str_sub(buf_str(&b), 0, b.len / 2));
	return r < 0 ? r : content_put_str(out, str_from(buf_str(&b), b.len / 2));
}

static void pieces_done(void *data UNUSED)
{
	ends++;
}

static struct content *in_pieces(const size_t *size)
{
	return content_from_pieces(&(struct content_pieces){
		.size = *size, .write = write_pieces, .done = pieces_done, .data = (void *)size });
}

static void assert_readers(struct content *c, struct store *s, size_t size)
{
	AUTO_BUF want = BUF_INIT;
	int fds[3];
	bool owned[3];

	pattern(&want, size);
	assert_int_equal(content_size(c), size);
	for (size_t i = 0; i < 3; i++) {
		fds[i] = content_reader(c, s, &owned[i]);
		assert_true(fds[i] >= 0);
		assert_true(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
	}
	/* Each from the beginning, in any order, whatever the others have read. */
	char first;
	if (size)
		assert_int_equal(read(fds[1], &first, 1), 1);
	for (size_t i = 0; i < 3; i++) {
		AUTO_BUF got = BUF_INIT;

		if (i == 1 && size)
			buf_addc(&got, first);
		assert_int_equal(fd_read_all(fds[i], size + 10, &got), 0);
		assert_bytes(buf_str(&got), buf_str(&want));
		if (owned[i])
			close_fd(&fds[i]);
	}
}

static void assert_written(struct content *c, size_t size)
{
	AUTO_BUF want = BUF_INIT;
	AUTO_BUF got = BUF_INIT;
	AUTO_BUF ends_of_it = BUF_INIT;
	AUTO_CLOSE int fd = file_temp();

	pattern(&want, size);
	assert_int_equal(content_write(c, fd), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(fd, size + 10, &got), 0);
	assert_bytes(buf_str(&got), buf_str(&want));
	buf_reset(&got);
	assert_int_equal(content_put(&(struct content_out){ -1, &got }, c), 0);
	assert_bytes(buf_str(&got), buf_str(&want));
	assert_int_equal(content_head(c, 10, &ends_of_it), 0);
	assert_int_equal(content_tail(c, 10, &ends_of_it), 0);
	buf_reset(&got);
	for (size_t at = 0; at <= size; at += 1000)
		assert_int_equal(content_part(c, at, 1000, &got), 0);
	assert_bytes(buf_str(&got), buf_str(&want));
	size_t end = MIN(size, (size_t)10);
	assert_bytes(str_sub(buf_str(&ends_of_it), 0, end), str_sub(buf_str(&want), 0, end));
	assert_bytes(str_from(buf_str(&ends_of_it), end), str_from(buf_str(&want), size - end));
}

static const size_t sizes[] = { 1, 1000, CONTENT_PIPE_MAX, CONTENT_PIPE_MAX + 1,
	CONTENT_MEMORY_MAX + 1 };

static void every_kind_reads_the_same_for_every_reader(void **state UNUSED)
{
	struct store s = STORE_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct content *kinds[] = { in_memory(sizes[i]), in_file(sizes[i]),
			in_pieces(&sizes[i]) };

		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			assert_written(kinds[k], sizes[i]);
			assert_readers(kinds[k], &s, sizes[i]);
			assert_written(kinds[k], sizes[i]);
			content_unref(kinds[k]);
		}
	}
	store_done(&s);
}

static void no_content_is_empty(void **state UNUSED)
{
	struct store s = STORE_INIT;
	struct buf none = BUF_INIT;

	assert_null(content_from_buf(&none));
	assert_null(content_ref(NULL));
	content_unref(NULL);
	assert_null(content_keep(NULL, &s));
	assert_written(NULL, 0);
	assert_readers(NULL, &s, 0);
	store_done(&s);
	store_done(&s);
}

static void an_empty_file_is_empty_content(void **state UNUSED)
{
	struct store s = STORE_INIT;
	struct content *c = content_from_fd(file_temp(), 0, 0);

	assert_written(c, 0);
	assert_readers(c, &s, 0);
	content_unref(c);
	store_done(&s);
}

static void pieces_end_with_their_last_reference(void **state UNUSED)
{
	size_t size = 10;
	struct content *c = in_pieces(&size);

	ends = 0;
	content_unref(content_ref(c));
	assert_int_equal(ends, 0);
	content_unref(c);
	assert_int_equal(ends, 1);
}

static void what_is_kept_goes_to_one_file_past_the_budget(void **state UNUSED)
{
	enum { COUNT = 40, SIZE = 100 * 1024 };
	struct store s = STORE_INIT;
	struct content *kept[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		kept[i] = content_keep(in_memory(SIZE), &s);
	assert_true(s.memory_bytes <= STORE_MEMORY_MAX);
	assert_true(s.spool >= 0);
	size_t memory = s.memory_bytes, spooled = (size_t)s.spool_bytes;
	assert_true(memory + spooled >= (size_t)COUNT * SIZE);
	assert_int_equal(s.error, 0);
	for (size_t i = 0; i < COUNT; i++) {
		assert_written(kept[i], SIZE);
		assert_readers(kept[i], &s, SIZE);
		kept[i] = content_keep(kept[i], &s);
	}
	/* Keeping what is kept changes nothing. */
	assert_int_equal(s.memory_bytes, memory);
	assert_int_equal(s.spool_bytes, spooled);
	for (size_t i = 0; i < COUNT; i++)
		content_unref(kept[i]);
	assert_int_equal(s.memory_bytes, 0);
	store_done(&s);
}

static void few_descriptors_are_kept_for_long(void **state UNUSED)
{
	enum { COUNT = STORE_FILES_MAX + 5 };
	struct store s = STORE_INIT;
	struct content *kept[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		kept[i] = content_keep(in_file(1000 + i), &s);
	assert_int_equal(s.file_count, STORE_FILES_MAX);
	for (size_t i = 0; i < COUNT; i++) {
		assert_written(kept[i], 1000 + i);
		content_unref(kept[i]);
	}
	assert_int_equal(s.file_count, 0);
	store_done(&s);
}

static void a_file_that_was_cut_is_an_error(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;
	int fd = file_temp();
	struct content *c = content_from_fd(fd, 0, 100);

	assert_int_equal(content_put(&(struct content_out){ -1, &b }, c), -EIO);
	assert_int_equal(content_head(c, 10, &b), -EIO);
	content_unref(c);
}

/* -- files that are written over -----------------------------------------------------------------
 */

static struct content *in_temp(struct store *s, const char *text, int *ret)
{
	*ret = store_file(s);
	assert_true(*ret >= 0);
	assert_int_equal(fd_write_all(*ret, str_of(text)), 0);
	return content_from_temp(*ret, strlen(text), s);
}

static void a_file_is_written_over_when_nobody_has_it_any_more(void **state)
{
	struct store s = STORE_INIT;
	AUTO_BUF text = BUF_INIT;
	struct stat st;
	int first, second;

	(void)state;
	content_unref(in_temp(&s, "a long text", &first));
	if (s.spare < 0) {
		print_message("# left out: a file system without leases\n");
		store_done(&s);
		return;
	}
	struct content *c = in_temp(&s, "short", &second);
	assert_int_equal(first, second);
	assert_int_equal(fstat(second, &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(content_head(c, 100, &text), 0);
	assert_string_equal(buf_cstr(&text), "short");
	content_unref(c);
	store_done(&s);
}

static void a_file_that_somebody_reads_is_left_to_him(void **state)
{
	struct store s = STORE_INIT;
	char path[40], seen[16] = { 0 };
	int first, second;

	(void)state;
	struct content *c = in_temp(&s, "his", &first);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", first);
	AUTO_CLOSE int reader = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(reader >= 0);
	content_unref(c);
	assert_int_equal(s.spare, -1);
	content_unref(in_temp(&s, "not", &second));
	assert_int_equal(read(reader, seen, sizeof(seen)), 3);
	assert_string_equal(seen, "his");
	store_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_reads_the_same_for_every_reader),
		cmocka_unit_test(no_content_is_empty),
		cmocka_unit_test(an_empty_file_is_empty_content),
		cmocka_unit_test(pieces_end_with_their_last_reference),
		cmocka_unit_test(what_is_kept_goes_to_one_file_past_the_budget),
		cmocka_unit_test(few_descriptors_are_kept_for_long),
		cmocka_unit_test(a_file_that_was_cut_is_an_error),
		cmocka_unit_test(a_file_is_written_over_when_nobody_has_it_any_more),
		cmocka_unit_test(a_file_that_somebody_reads_is_left_to_him),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
