#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether a file is on a file system that other machines may write to as well: what one of them has
 * written another sees late, and memory that is shared through a file is not. */

/* When it cannot be told, it is. */
bool file_system_is_network(const char *path);
bool file_system_is_network_at(int fd);
/* `f_type` of statfs(2). */
bool file_system_type_is_network(uint32_t type);
