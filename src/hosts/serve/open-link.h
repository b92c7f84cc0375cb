#pragma once

#include "hosts/serve/places.h"
#include "http/http.h"

/* Opens a browser at a fresh link. The link is in no process's arguments: a page of this user that
 * leads to it is opened, and removed after a minute, or when the server ends. */
void open_link(struct http *h, const struct serve_places *p, struct loop *loop);
void open_link_done(void);
