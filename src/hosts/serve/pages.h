#pragma once

struct http_request;

void page_home(struct http_request *q);
