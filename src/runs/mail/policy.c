#include "runs/mail/policy.h"

static const char *const deliveries[] = {
	[DELIVERY_LOG] = "log",
	[DELIVERY_NOTIFY] = "notify",
	[DELIVERY_FOLLOWUP] = "followup",
};

static const char *const levels[] = {
	[LEVEL_INFO] = "info",
	[LEVEL_WARNING] = "warning",
	[LEVEL_ERROR] = "error",
};

const char *delivery_name(enum delivery d)
{
	return deliveries[d];
}

const char *level_name(enum level l)
{
	return levels[l];
}

bool delivery_read(struct str word, enum delivery *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(deliveries); i++) {
		if (!str_eq(word, str_of(deliveries[i])))
			continue;
		*ret = (enum delivery)i;
		return true;
	}
	return false;
}

bool level_read(struct str word, enum level *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (!str_eq(word, str_of(levels[i])))
			continue;
		*ret = (enum level)i;
		return true;
	}
	return false;
}

/* -- the table -----------------------------------------------------------------------------------
 */

static bool command_failed(const struct policy_facts *f)
{
	return f->has_code && f->code != 0;
}

static bool command_among_others(const struct policy_facts *f)
{
	return f->has_code && f->others;
}

static bool command_alone(const struct policy_facts *f)
{
	return f->has_code;
}

static bool wants_response(const struct policy_facts *f)
{
	return f->wants_response;
}

static bool to_owner(const struct policy_facts *f)
{
	struct address a;

	return f->owner.len && address_read(f->to, &a) && a.kind == ADDRESS_SESSION &&
	       str_eq(a.name, f->owner);
}

static bool to_coordinator(const struct policy_facts *f)
{
	return str_eq(f->to, S("coordinator"));
}

static bool anything(const struct policy_facts *f)
{
	(void)f;
	return true;
}

static const struct {
	const char *type; /* NULL: any */
	bool (*applies)(const struct policy_facts *f);
	enum delivery delivery;
	enum level level;
} rules[] = {
	{ "command.done", command_failed, DELIVERY_FOLLOWUP, LEVEL_ERROR },
	{ NULL, wants_response, DELIVERY_FOLLOWUP, LEVEL_INFO },
	{ "command.done", command_among_others, DELIVERY_FOLLOWUP, LEVEL_INFO },
	{ "command.done", command_alone, DELIVERY_LOG, LEVEL_INFO },
	{ NULL, to_owner, DELIVERY_FOLLOWUP, LEVEL_INFO },
	{ NULL, to_coordinator, DELIVERY_NOTIFY, LEVEL_INFO },
	{ NULL, anything, DELIVERY_LOG, LEVEL_INFO },
};

static size_t rule_of(const struct policy_facts *f)
{
	size_t i = 0;

	while ((rules[i].type && !str_eq(f->type, str_of(rules[i].type))) || !rules[i].applies(f))
		i++; /* the last applies to all */
	return i;
}

enum delivery policy_delivery(const struct policy_facts *f)
{
	return rules[rule_of(f)].delivery;
}

enum level policy_level(const struct policy_facts *f)
{
	return rules[rule_of(f)].level;
}
