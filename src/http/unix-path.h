#pragma once

#include <sys/socket.h>
#include <sys/un.h>

/* The address of a Unix socket. A path that is longer than such an address may be is reached by an
 * open directory, *ret_dir, which the caller closes when the socket is bound or connected; -1: none
 * is needed. -errno. */
int unix_path_address(const char *path, struct sockaddr_un *ret, int *ret_dir);
