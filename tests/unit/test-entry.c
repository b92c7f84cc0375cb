/* What a program may rely on when main() begins, and when it ends. Linked as the program is, with
 * src/entry.c where that takes part. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int number, failures;
static char order[16]; /* who was called, before main() */
static int environment_was_there;

static void check(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++number, what);
	failures += !ok;
}

static __attribute__((constructor(102))) void second(void)
{
	strcat(order, "b");
}

static __attribute__((constructor(101))) void first(int argc, char **argv, char **env)
{
	strcat(order, "a");
	environment_was_there = argc > 0 && argv[0] && env && getenv("PATH");
}

/* -- what another process sees of this program ---------------------------------------------------
 */

static void say_at_exit(void)
{
	printf("at exit, ");
}

static __attribute__((destructor)) void last(void)
{
	if (number < 0)
		printf("last");
}

static uintptr_t stack_guard(void)
{
	uintptr_t guard;

	__asm__("movq %%fs:0x28, %0" : "=r"(guard));
	return guard;
}

static uintptr_t pointer_guard(void)
{
	uintptr_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return guard;
}

/* The words are: what to do, and what comes along. */
static int as_other(char **argv)
{
	number = -1;
	if (strcmp(argv[1], "guards") == 0) {
		printf("%" PRIxPTR " %" PRIxPTR, stack_guard(), pointer_guard());
		number = 0;
	} else if (strcmp(argv[1], "words") == 0) {
		printf("%s|%s|%s", argv[2], argv[3], getenv("ENTRY_TEST"));
		number = 0;
	} else {
		/* Not flushed: the end does that. */
		atexit(say_at_exit);
		printf("main, ");
	}
	return 7;
}

/* What this program prints when it is started with `word`; its status must be 7. */
static const char *other(const char *word, char text[static 256])
{
	size_t len = 0;
	int fds[2], status = -1;
	ssize_t n;

	text[0] = '\0';
	if (pipe(fds) < 0)
		return text;
	(void)fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		char *const argv[] = { (char[]){ "entry" }, strdup(word), (char[]){ "" },
			(char[]){ "a b" }, NULL };
		char *const env[] = { (char[]){ "ENTRY_TEST=x=y" }, NULL };

		(void)dup2(fds[1], STDOUT_FILENO);
		(void)execve("/proc/self/exe", argv, env);
		_exit(1);
	}
	(void)close(fds[1]);
	while ((n = read(fds[0], text + len, 255 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	(void)close(fds[0]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		text[0] = '\0';
	return text;
}

static void test_processes(void)
{
	char one[256], two[256];

	check(strcmp(other("words", one), "|a b|x=y") == 0, "words and environment arrive");
	check(strcmp(other("end", one), "main, at exit, last") == 0,
		"the end calls what was asked for, and what is printed is written");
	check(*other("guards", one) && *other("guards", two) && strcmp(one, two) != 0,
		"the guards of another process are others");
}

/* -- what this one sees --------------------------------------------------------------------------
 */

static _Thread_local int own = 3;

static void *in_thread(void *data)
{
	char *block = malloc(100000);
	bool ok = own == 3 && block;

	own = 4;
	errno = EDOM;
	free(block);
	*(bool *)data = ok && own == 4;
	return data;
}

static void test_threads(void)
{
	pthread_t threads[8];
	bool ok[8] = { false }, all = true;

	own = 5;
	errno = 0;
	for (int i = 0; i < 8; i++)
		all &= pthread_create(&threads[i], NULL, in_thread, &ok[i]) == 0;
	for (int i = 0; i < 8; i++)
		all &= pthread_join(threads[i], NULL) == 0 && ok[i];
	check(all && own == 5 && errno == 0, "each thread has its own variables");
}

/* Copies byte by byte, whatever the compiler would like to call. */
static void copy_slowly(volatile unsigned char *to, const volatile unsigned char *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}

/* Every way to copy begins at another size. */
static const unsigned sizes[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128,
	129, 255, 256, 257, 511, 512, 513, 2047, 2048, 2049, 4095, 4096, 4097, 65535, 65536, 65537,
	786431, 786432, 786433, 1048575, 1048577, 3145729, 16777213 };

static bool copies(unsigned char *block, unsigned char *want, unsigned size, size_t from, size_t to)
{
	size_t all = (size_t)size + 128;

	for (size_t i = 0; i < all; i++)
		block[i] = want[i] = (unsigned char)(i * 167 + i / 251);
	unsigned char *moved = malloc((size_t)size + 1);
	copy_slowly(moved, block + from, size);
	copy_slowly(want + to, moved, size);
	free(moved);
	memmove(block + to, block + from, size);
	for (size_t i = 0; i < all; i++)
		if (block[i] != want[i])
			return false;
	memset(want, 0, all);
	memcpy(want + to, block, size);
	bool same = memcmp(want + to, block, size) == 0;
	memset(want + to, 'x', size);
	for (size_t i = 0; i < all; i++)
		if (want[i] != (i >= to && i < to + size ? 'x' : 0))
			return false;
	want[to + size] = '\0';
	return same && strlen((char *)want + to) == size &&
	       memchr(want + to, 0, (size_t)size + 1) == want + to + size;
}

static void test_memory(void)
{
	size_t largest = (size_t)sizes[sizeof(sizes) / sizeof(*sizes) - 1] + 128;
	unsigned char *block = malloc(largest), *want = malloc(largest);
	bool ok = block && want;

	for (size_t i = 0; ok && i < sizeof(sizes) / sizeof(*sizes); i++)
		ok = copies(block, want, sizes[i], 0, 0) && copies(block, want, sizes[i], 5, 64) &&
		     copies(block, want, sizes[i], 64, 5) && copies(block, want, sizes[i], 1, 0);
	free(block);
	free(want);
	check(ok, "memory of every size is copied, filled and searched");
}

static void test_library(void)
{
	struct timespec now;
	char text[64];

	check(strcmp(order, "ab") == 0 && environment_was_there,
		"what comes before main() comes in order, with words and environment");
	check(stack_guard() && !(stack_guard() & 0xff) && pointer_guard(),
		"both guards are set, and that of the stack ends strings");
	check(getauxval(AT_PAGESZ) == (unsigned long)sysconf(_SC_PAGESIZE) &&
			getauxval(AT_RANDOM) && sysconf(_SC_NPROCESSORS_ONLN) > 0,
		"what the kernel handed over is known");
	check(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && (now.tv_sec || now.tv_nsec),
		"the clock goes");
	(void)snprintf(text, sizeof(text), "%.17g %g %s", sqrt(2), pow(2, 0.5) - exp(log(2) / 2),
		strstr("a needle", "need"));
	check(strncmp(text, "1.4142135623730951 ", 19) == 0 && strstr(text, "needle"),
		"numbers are worked out and printed");
}

int main(int argc, char **argv)
{
	if (argc == 4)
		return as_other(argv);
	test_library();
	test_processes();
	test_threads();
	test_memory();
	printf("1..%d\n", number);
	return failures != 0;
}
