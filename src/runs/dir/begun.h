#pragma once

/* A run that is short keeps its readers waiting: what they look for (run.json, graph.json,
 * communication.json) is written while its first command runs. Before that start.json has it, as a
 * member that has a member for each file. A process that is killed in between leaves a run without
 * run.json, of which a command has begun. */
#define BEGUN_MEMBER "begun"

/* Writes those files of a run whose process was killed before it could. 1: it has; 0: nothing is
 * lacking, or it cannot be had from there. -EAGAIN: its process lives and is about to. -errno. */
int begun_mend(const char *dir);
