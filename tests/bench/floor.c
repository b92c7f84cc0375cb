/*
 * The floor: the same spawns as a workload of roux, with nothing else around them, and the clock
 * that both are measured with.
 *
 *   floor spawn COUNT FLIGHT COMMAND...      COUNT times, FLIGHT of them at once
 *   floor chain COMMAND... -- COMMAND... ... each stage's output is a memfd, the next one's input
 *   floor time INPUT COMMAND...              runs it once and prints what it took
 *
 * Commands are given with their full path. `spawn` hands its own descriptors on; `chain` writes the
 * last stage's output to its own. Under `time` the command reads INPUT and prints to /dev/null.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 64 * 1024, FLIGHT_MAX = 1024 };

struct birth {
	char **argv;
	int fds[3]; /* -1: the caller's */
	int error;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Runs in the child, on our memory. */
static int begin(void *data)
{
	struct birth *b = data;

	for (int fd = 0; fd < 3; fd++)
		if (b->fds[fd] >= 0 && dup2(b->fds[fd], fd) < 0)
			goto failed;
	(void)execve(b->argv[0], b->argv, environ);
failed:
	b->error = errno;
	_exit(127);
}

static pid_t spawn(struct birth *b, int *pidfd)
{
	static char *stack;

	if (!stack) {
		stack = mmap(
			NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (stack == MAP_FAILED)
			die("mmap");
	}
	pid_t pid = clone(
		begin, stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, b, pidfd);
	if (pid < 0 || b->error) {
		errno = b->error ? b->error : errno;
		die(b->argv[0]);
	}
	return pid;
}

static int expect_success(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

/* -- spawn ---------------------------------------------------------------------------------------
 */

static int spawn_many(unsigned long count, unsigned long flight, char **argv)
{
	struct birth b = { argv, { -1, -1, -1 }, 0 };
	pid_t pids[FLIGHT_MAX] = { 0 };
	int pidfds[FLIGHT_MAX];
	unsigned long started = 0, running = 0;
	int failed = 0, status;

	while (started < count || running) {
		if (started < count && running < flight) {
			size_t i = 0;

			while (pids[i])
				i++;
			pids[i] = spawn(&b, &pidfds[i]);
			started++;
			running++;
			continue;
		}
		pid_t pid = wait4(-1, &status, 0, NULL);
		size_t i = 0;

		while (i < flight && pids[i] != pid)
			i++;
		if (i == flight)
			die("wait4");
		close(pidfds[i]);
		pids[i] = 0;
		running--;
		failed |= expect_success(status);
	}
	return failed;
}

/* -- chain ---------------------------------------------------------------------------------------
 */

static int run_stage(char **argv, int in, int out)
{
	struct birth b = { argv, { in, out, -1 }, 0 };
	int pidfd, status;
	pid_t pid = spawn(&b, &pidfd);

	if (wait4(pid, &status, 0, NULL) != pid)
		die("wait4");
	close(pidfd);
	return expect_success(status);
}

static int chain(char **argv)
{
	int in = -1, failed = 0;

	while (*argv) {
		char **next = argv;

		while (*next && strcmp(*next, "--") != 0)
			next++;
		if (*next)
			*next++ = NULL;
		int out = memfd_create("stage", MFD_CLOEXEC);
		if (out < 0)
			die("memfd_create");
		failed |= run_stage(argv, in, out);
		close(in);
		in = out;
		(void)lseek(in, 0, SEEK_SET);
		argv = next;
	}
	while (in >= 0) {
		ssize_t n = sendfile(STDOUT_FILENO, in, NULL, 1 << 30);

		if (n < 0)
			die("sendfile");
		if (n == 0)
			break;
	}
	return failed;
}

/* -- time ----------------------------------------------------------------------------------------
 */

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static long us(struct timeval t)
{
	return t.tv_sec * 1000000 + t.tv_usec;
}

/* Prints the exit status, nanoseconds by the clock, microseconds of the processor (the command's
 * and those of everything it waited for) and the most memory in KiB that the command or one of
 * these had. What is measured inherits the peak of the process that starts it, so that has to be
 * small: this program, not the script. */
static int measure(const char *input, char **argv)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct birth b = { argv, { open(input, O_RDONLY | O_CLOEXEC), null, null }, 0 };
	struct rusage used;
	int pidfd, status;

	if (b.fds[0] < 0 || null < 0)
		die(input);
	uint64_t begun = now_ns();
	pid_t pid = spawn(&b, &pidfd);
	if (wait4(pid, &status, 0, &used) != pid)
		die("wait4");
	uint64_t ended = now_ns();
	printf("%d %llu %ld %ld\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		(unsigned long long)(ended - begun), us(used.ru_utime) + us(used.ru_stime),
		used.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 4 && strcmp(argv[1], "spawn") == 0) {
		unsigned long flight = strtoul(argv[3], NULL, 10);

		if (flight >= 1 && flight <= FLIGHT_MAX)
			return spawn_many(strtoul(argv[2], NULL, 10), flight, argv + 4);
	} else if (argc > 2 && strcmp(argv[1], "chain") == 0) {
		return chain(argv + 2);
	} else if (argc > 3 && strcmp(argv[1], "time") == 0) {
		return measure(argv[2], argv + 3);
	}
	(void)fprintf(stderr, "usage: floor spawn COUNT FLIGHT COMMAND... | chain COMMAND... -- "
			      "COMMAND... | time INPUT COMMAND...\n");
	return 2;
}
