#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* What /proc/PID/stat says of a process, as far as it matters here. */
struct process_stat {
	pid_t pid, parent, group, session;
	uint64_t start; /* in ticks since the machine was started; with the pid it tells processes
			   apart */
	char state;     /* 'Z': it has ended */
};

/* -ESRCH: there is no such process; another -errno: that cannot be found out. */
int process_read(int64_t pid, struct process_stat *ret);

/* This process as /proc has it, which in a namespace of processes can be another number than
 * getpid(). -errno. */
int64_t process_self(void);

/* The ticks of `start` in milliseconds. */
uint64_t process_ticks_ms(uint64_t ticks);

/* Its environment, each entry ended by a NUL. -ESRCH: it has ended or has no memory of its own;
 * -EAGAIN: it is just now being replaced by another program, which does not have its environment
 * yet; another -errno: that is not for us to read. */
int process_environ(pid_t pid, struct buf *ret);
/* The same, but waits that long at most while it is being replaced. */
int process_environ_settled(pid_t pid, unsigned patience_ms, struct buf *ret);
