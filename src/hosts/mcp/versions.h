#pragma once

#include "data/json.h"

/* The revisions of the protocol that we speak, newest first; the first is the modern one. */
json_t *versions_supported(void);
/* Whether it is one of the legacy revisions. */
bool version_is_legacy(struct str version);
/* {"name":"roux","version":…}: a new reference. */
json_t *server_info(void);
