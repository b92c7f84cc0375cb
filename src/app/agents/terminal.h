#pragma once

/* An agent that is given the terminal. */
struct terminal_spec {
	const char *program;
	const char *const *argv;
	const char *const *envp;
	const char *cwd;
	int in; /* its standard input; -1: ours */
};

/* Signals wait from here on, until the process ends: a caller that makes files for an agent begins
 * here, so that they are deleted whatever comes. */
void terminal_hold_signals(void);

/* Starts it in our own process group, on our streams, and waits until it has ended. INT and QUIT of
 * the terminal are the agent's alone, TERM, HUP and CONT are passed on, and so are INT and QUIT
 * that another process sent to us; when it stops, so do we. After a signal that asked for the end
 * nothing that it started is left. Returns its exit status, 128+n after signal n, or -errno. */
int terminal_run(const struct terminal_spec *spec);
