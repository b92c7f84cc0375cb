#include "template/scope.h"

#include "base/lang.h"

enum { PRESETS_MANY = 16 };

void preset_compile(
	struct arena *a, struct str name, const json_t *value, enum dialect d, struct preset *ret)
{
	struct part *parts;

	*ret = (struct preset){ .name = name, .value = value };
	if (!json_is_string(value) || d == DIALECT_0_9)
		return;
	size_t n = placeholder_cut(a, json_str(value), d, &parts, NULL, NULL);
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any |= parts[i].placeholder != NULL;
	if (any) {
		ret->parts = parts;
		ret->part_count = n;
	}
}

bool preset_passes(const struct preset *p)
{
	return p->part_count == 1 && p->parts[0].placeholder &&
	       p->parts[0].placeholder->kind == PLACEHOLDER_VALUE &&
	       str_eq(p->parts[0].placeholder->name, p->name);
}

void presets_index(struct presets *p, struct arena *a)
{
	if (p->count < PRESETS_MANY)
		return;
	p->index = arena_new(a, struct map);
	for (size_t i = 0; i < p->count; i++)
		*map_put(p->index, a, p->at[i].name) = &p->at[i]; /* the later wins */
}

const struct preset *presets_find(const struct presets *p, struct str name)
{
	if (p && p->index)
		return map_get(p->index, name);
	/* From the end: of two entries of one name the later wins. Lists are short. */
	for (size_t i = p ? p->count : 0; i > 0; i--)
		if (str_eq(p->at[i - 1].name, name))
			return &p->at[i - 1];
	return NULL;
}

const struct scope *scope_repeat(const struct scope *s)
{
	while (s && !s->repeats)
		s = s->up;
	return s;
}

static const struct scope *root_of(const struct scope *s)
{
	while (s->up)
		s = s->up;
	return s;
}

json_t *scope_vars(const struct scope *s)
{
	while (s && !s->vars)
		s = s->up;
	return s ? s->vars : NULL;
}

const json_t *scope_value(const struct scope *s, struct str name)
{
	const json_t *values = root_of(s)->values;

	return values ? json_object_getn(values, name.p, name.len) : NULL;
}

int64_t scope_generated(const struct scope *copy, struct str bare)
{
	switch (bare.p[0]) {
	case 'i':
		return copy->index;
	case 'p':
		return copy->index ? copy->index - 1 : copy->count - 1;
	case 'n':
		return copy->index + 1 == copy->count ? 0 : copy->index + 1;
	default:
		return copy->count;
	}
}

void scope_names(const struct scope *s, void (*see)(void *data, struct str name), void *data)
{
	bool args_seen = false;
	const char *key;
	json_t *value;

	for (; s; s = s->up) {
		for (size_t i = 0; s->defaults && i < s->defaults->count; i++)
			see(data, s->defaults->at[i].name);
		for (size_t i = 0; !args_seen && s->args && i < s->args->count; i++)
			see(data, s->args->at[i].name);
		args_seen |= s->args != NULL;
		if (s->values)
			json_object_foreach((json_t *)s->values, key, value) see(data, str_of(key));
	}
}
