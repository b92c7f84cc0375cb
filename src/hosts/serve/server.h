#pragma once

struct http_request;

void server_health(struct http_request *q);
void server_api(struct http_request *q);
void server_openapi(struct http_request *q);
/* Over the socket only, for `roux serve link`, `status`, `stop` and `token`. */
void server_link(struct http_request *q);
void server_status(struct http_request *q);
void server_stop(struct http_request *q);
void server_reload(struct http_request *q);
