#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What /proc/PID/stat says of a process, as far as it matters here. */
struct process_stat {
	pid_t pid, parent, group, session;
	uint64_t start; /* in ticks since the machine was started; with the pid it tells processes
			   apart */
	char state;     /* 'Z': it has ended */
};

/* -ESRCH: there is no such process; another -errno: that cannot be found out. */
int process_read(int64_t pid, struct process_stat *ret);

/* The ticks of `start` in milliseconds. */
uint64_t process_ticks_ms(uint64_t ticks);
