#pragma once

/* Deletes a directory with everything in it. Links are deleted and never followed, also
 * when a directory is replaced by one meanwhile; a file system that is mounted inside is not
 * touched: -EXDEV. *failed, when not
 * NULL, gets the name of what could not be deleted, for the caller to free. -errno; what could be
 * deleted is then gone. */
int remove_tree(int dirfd, const char *name, char **failed);
