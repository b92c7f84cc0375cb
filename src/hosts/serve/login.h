#pragma once

struct http_request;

/* /login and /logout. */
void login_page(struct http_request *q);
void login_post(struct http_request *q);
void logout_post(struct http_request *q);
