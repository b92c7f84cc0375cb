#include "app/answers.h"

#include "base/run-status.h"
#include "data/json.h"

static void issue_json(const struct issue *i, struct buf *b)
{
	buf_adds(b, "{\"file\":");
	json_write_str_or_null(b, i->file);
	if (i->file.len)
		buf_printf(b, ",\"line\":%zu,\"column\":%zu", i->line, i->column);
	else
		buf_adds(b, ",\"line\":null,\"column\":null");
	buf_adds(b, ",\"message\":");
	json_write_str(b, i->message);
	buf_adds(b, ",\"hint\":");
	json_write_str_or_null(b, i->hint);
	if (i->field.len) {
		buf_adds(b, ",\"field\":");
		json_write_str(b, i->field);
	}
	buf_addc(b, '}');
}

void issues_json(const struct report *r, unsigned kinds, struct buf *b)
{
	bool first = true;

	buf_addc(b, '[');
	vec_each (i, &r->issues) {
		if (!(kinds & 1u << i->kind))
			continue;
		if (!first)
			buf_addc(b, ',');
		first = false;
		issue_json(i, b);
	}
	buf_addc(b, ']');
}

static const struct issue *first_error(const struct report *r)
{
	vec_each (i, &r->issues)
		if (issue_is_error(i))
			return i;
	return NULL;
}

static void refusal_document(const struct issue *i, struct buf *b)
{
	buf_adds(b, "{\"ok\":false,\"status\":\"refused\",\"run\":");
	json_write_str_or_null(b, i->run);
	buf_adds(b, ",\"error\":");
	json_write_str(b, i->message);
	buf_adds(b, ",\"reason\":");
	json_write_str(b, str_of(i->reason));
	buf_adds(b, ",\"hint\":");
	json_write_str_or_null(b, i->hint);
	buf_adds(b, "}\n");
}

void answer_document(const struct report *r, struct buf *b)
{
	enum roux_status status = report_has_system(r) ? ROUX_FAILED : ROUX_INVALID;
	const struct issue *refused = report_refusal(r), *first = first_error(r);

	if (refused) {
		refusal_document(refused, b);
		return;
	}
	buf_printf(
		b, "{\"ok\":false,\"status\":\"%s\",\"run\":null,\"error\":", status_name(status));
	json_write_str(b, first ? first->message : S(""));
	buf_adds(b, ",\"errors\":");
	issues_json(r, REPORT_ERRORS, b);
	buf_adds(b, "}\n");
}
