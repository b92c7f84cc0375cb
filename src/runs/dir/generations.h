#pragma once

#include "base/buf.h"
#include "base/report.h"

/* The generations of one run: each start of an id makes one. The current one has its files in the
 * run's directory DIR, the earlier ones have theirs in DIR/generations/N, the newest with the
 * largest N. People count them from the newest: ID~1 is the one before the current. Whatever else
 * is in DIR is the recipe's own and belongs to no generation. All calls that move files want the
 * lock of DIR held, unless they say otherwise. */
#define GENERATIONS_DIR "generations"

/* How many earlier ones are there. -errno: that cannot be found out. */
int generations_count(const char *dir, size_t *ret);
/* N of the earlier one that is called ID~`back`; 0: there is none. -errno as above. */
int generation_number(const char *dir, uint64_t back, uint64_t *ret);
/* Adds DIR/generations/N. */
void generation_directory(struct buf *b, const char *dir, uint64_t number);

/* Makes the current one the newest of the earlier ones; *ret is its N, also when only a part of it
 * could be moved, and 0 when there was nothing to put away. False with an issue. */
bool generation_put_away(const char *dir, uint64_t *ret, struct report *r);
/* Makes the earlier one current again; there must be no files of another. -errno: nothing is moved.
 */
int generation_bring_back(const char *dir, uint64_t number);
/* A start or a prune that was killed while it moved files may have left the current one in two
 * parts, or none in its place: puts the newest there as it was. Takes the lock itself. Whether
 * there was anything to do. */
bool generation_mend(const char *dir);
/* Moves the files of the current one into another directory of the same file system. -errno:
 * nothing is moved, unless moving back fails too. */
int generation_move_out(const char *dir, const char *to);
/* Deletes the files of the current one. */
void generation_delete_files(const char *dir);
