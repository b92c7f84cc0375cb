/* Script, style and icon: bytes of the program, made by embed-assets at the build. */
#include <string.h>

#include "hosts/serve/site/site.h"

#define ASSET(symbol)                                                              \
	extern const char symbol##_plain[], symbol##_plain_end[], symbol##_gzip[], \
		symbol##_gzip_end[], symbol##_url[]

ASSET(asset_css);
ASSET(asset_js);
ASSET(asset_svg);

static const struct asset {
	const char *name, *type, *url; /* url: /assets/roux.HASH.css */
	const char *plain, *plain_end, *gzip, *gzip_end;
} assets[] = {
	{ "roux.css", "text/css; charset=utf-8", asset_css_url, asset_css_plain,
		asset_css_plain_end, asset_css_gzip, asset_css_gzip_end },
	{ "roux.js", "text/javascript; charset=utf-8", asset_js_url, asset_js_plain,
		asset_js_plain_end, asset_js_gzip, asset_js_gzip_end },
	{ "icon.svg", "image/svg+xml", asset_svg_url, asset_svg_plain, asset_svg_plain_end,
		asset_svg_gzip, asset_svg_gzip_end },
};

struct str asset_url(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(assets); i++)
		if (strcmp(assets[i].name, name) == 0)
			return str_of(assets[i].url);
	return S("");
}

static bool takes_gzip(struct http_request *q)
{
	return str_contains(http_request_header(q, "Accept-Encoding"), S("gzip"));
}

void page_asset(struct http_request *q)
{
	struct str name = http_param(q, "name");
	size_t prefix = strlen("/assets/");

	for (size_t i = 0; i < ARRAY_SIZE(assets); i++) {
		const struct asset *a = &assets[i];
		bool gzip = takes_gzip(q);

		if (!str_eq(name, str_of(a->url + prefix)))
			continue;
		http_add_header(q, "Vary", S("Accept-Encoding"));
		http_reply_static(q,
			&(struct http_content){
				.type = a->type, .immutable = true, .gzipped = gzip },
			gzip ? (struct str){ a->gzip, (size_t)(a->gzip_end - a->gzip) }
			     : (struct str){ a->plain, (size_t)(a->plain_end - a->plain) });
		return;
	}
	http_refuse(q, 404, "no such asset", NULL, "there is no such file");
}

void page_favicon(struct http_request *q)
{
	http_reply_static(q, &(struct http_content){ .type = "image/svg+xml" },
		(struct str){ asset_svg_plain, (size_t)(asset_svg_plain_end - asset_svg_plain) });
}
