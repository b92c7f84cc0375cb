#include "steps/compile/ops.h"

#include "steps/compile/compile.h"
#include "steps/language/answer.h"
#include "steps/language/condition.h"
#include "steps/language/text.h"
#include "steps/language/value.h"

static enum step_made make(const struct node *n, const struct scope *s,
	const struct step_call *call, const struct step_host *host, struct step_command *ret,
	struct arena *a, struct report *r)
{
	if (step_of(n)->type != STEP_AGENT)
		return bash_make(n, s, call, host, ret, a, r);
	if (host->agent)
		return host->agent(host->data, n, s, call, ret, a, r);
	buf_printf(&ret->why, "step '%.*s' needs an agent, and none can be started here",
		STR(step_of(n)->id));
	ret->code = 127;
	return STEP_CANNOT;
}

/* What the parser found says neither that the command itself has succeeded nor who wanted JSON. Of
 * a text with a secret in it the parser may have found a piece that no mask knows. */
static json_t *parsed(
	const struct step *s, struct str printed, const struct step_host *host, struct report *r)
{
	AUTO_BUF name = BUF_INIT;
	AUTO_REPORT found = REPORT_INIT;

	buf_printf(&name, "the output of step '%.*s'", STR(s->id));
	json_t *value = s->type == STEP_AGENT
				? answer_json(printed, buf_str(&name), &found)
				: step_value_from_json(printed, buf_str(&name), &found);
	if (value || !found.issues.len)
		return value;
	bool hide = host->has_secret && host->has_secret(host->data, printed);
	report_error(r, (struct where){ 0 },
		"the %s ended with code 0, but `parse_json` asks for JSON: %.*s",
		s->type == STEP_RECIPE ? "recipe" : "command",
		STR(hide ? S("not valid JSON") : found.issues.at[0].message));
	if (!hide)
		report_advise(r, &found.issues.at[0]);
	return NULL;
}

static json_t *result(
	const struct node *n, struct str printed, const struct step_host *host, struct report *r)
{
	const struct step *s = step_of(n);

	if (s->type != STEP_AGENT)
		return s->parse_json ? parsed(s, printed, host, r) : json_from_str(printed);
	struct str answer = answer_text(printed);
	if (s->output.text.len && !step_value_trim(answer).len) {
		report_error(r, (struct where){ 0 }, "the agent's answer is empty");
		report_hint(r, "an answer is needed because the step has `output`");
		return NULL;
	}
	return s->parse_json ? parsed(s, answer, host, r) : json_from_str(answer);
}

static json_t *said(const struct node *n, struct str printed)
{
	if (step_of(n)->type != STEP_AGENT)
		return json_from_str(printed);
	struct str answer = answer_text(printed);
	return step_value_trim(answer).len ? json_from_str(answer) : NULL;
}

static json_t *list(const struct node *n, const struct scope *s, struct report *r)
{
	return step_text_list(n->step->loop.list, s, r);
}

static bool decide(
	const struct text *t, const struct scope *s, bool *ret, bool *mistake, struct report *r)
{
	enum condition c = condition_decide(t->raw, t->place, scope_vars(s), r);

	*ret = c == CONDITION_TRUE;
	*mistake = c == CONDITION_BAD;
	return c == CONDITION_TRUE || c == CONDITION_FALSE;
}

const struct step_ops step_ops = {
	.make = make,
	.result = result,
	.said = said,
	.list = list,
	.decide = decide,
	.call = call_open,
	.import = call_import,
	.returned = call_returned,
	.text = step_value_render,
};
