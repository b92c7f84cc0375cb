#pragma once

#include "hosts/serve/places.h"
#include "http/http.h"

/* Opens a browser at a fresh link. The link is in no process's arguments: a page of this user that
 * leads to it is opened. It is removed when the link was used, after a minute, or when the server
 * ends. */
void open_link(struct http *h, const struct serve_places *p, struct loop *loop);
/* That token has logged a browser in. */
void open_link_used(struct str once);
void open_link_done(void);
