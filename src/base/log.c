#include "base/log.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

static bool wanted(const char *subject)
{
	const char *list = getenv("ROUX_DEBUG");
	struct str s = str_of(subject);

	for (const char *p = list; p && *p;) {
		size_t n = strcspn(p, ",");

		if (str_eq((struct str){ p, n }, s) || str_eq((struct str){ p, n }, S("all")))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}

void log_debug(const char *subject, const char *fmt, ...)
{
	va_list args;

	if (!wanted(subject))
		return;
	AUTO_BUF line = BUF_INIT;
	buf_printf(&line, "roux: %llu %s: ", (unsigned long long)clock_mono_ms(), subject);
	va_start(args, fmt);
	buf_vprintf(&line, fmt, args);
	va_end(args);
	buf_addc(&line, '\n');
	(void)fd_write_all(2, buf_str(&line));
}
