#include "app/catalog/source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "app/catalog/secrets.h"
#include "base/file.h"
#include "base/utf8.h"
#include "recipe/file.h"

/* Read as a command line it would be one long command that its author did not write. */
static bool is_recipe(const char *path, struct report *r)
{
	enum recipe_format format;

	if (!recipe_format_of(str_of(path), &format) || format == RECIPE_JSON)
		return false;
	report_error(r, (struct where){ 0 },
		"'%s' is a recipe written in %s, expected a template: JSON or a command line", path,
		format == RECIPE_YAML ? "YAML" : "Markdown");
	report_action(r, ACTION_RUN_RECIPE, str_of(path));
	return true;
}

static struct graph *from_file(const char *path, enum dialect d, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	bool standard_input = strcmp(path, "-") == 0;

	if (!*path) {
		report_error(r, (struct where){ 0 }, "@ needs the name of a file");
		return NULL;
	}
	int n = standard_input ? fd_read_all(STDIN_FILENO, SOURCE_MAX_BYTES, &text)
			       : file_read(path, SOURCE_MAX_BYTES, &text);

	if (n < 0) {
		report_errno(r, -n, "cannot read %s%s%s", standard_input ? "standard input" : "'",
			standard_input ? "" : path, standard_input ? "" : "'");
		if (n == -ENOENT)
			report_hint(r, "@FILE reads a template from FILE");
		return NULL;
	}
	if (!standard_input && is_recipe(path, r))
		return NULL;
	return secrets_graph_read(
		standard_input ? S("<stdin>") : str_of(path), buf_str(&text), d, r);
}

struct graph *source_template(const char *operand, enum dialect d, struct report *r)
{
	if (strcmp(operand, "-") == 0)
		return from_file(operand, d, r);
	if (operand[0] == '@')
		return from_file(operand + 1, d, r);
	return secrets_graph_read(S("<template>"), str_of(operand), d, r);
}

static bool has_blank(struct str s)
{
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		i += utf8_decode(s, i, &c);
		if (utf8_blank(c))
			return true;
	}
	return false;
}

bool source_reads_template(const char *operand, const char *path)
{
	if (strcmp(operand, "-") == 0 || operand[0] == '@')
		return true;
	bool like = (operand[0] && strchr("{[\"", operand[0])) || has_blank(str_of(operand));
	return like && access(path, F_OK) < 0;
}
