#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/press.h"

/* The new model holds from the next turn on, or, for an agent that can continue, from now on. */
static void use_model(struct pressed *o, const json_t *model)
{
	struct bridge *b = o->bridge;
	bool running = turns_running(&b->turns) && !b->turns.paused;

	o->ok = store_set(&b->store, "model", json_object_get(model, "id"));
	o->answer = running ? S("It is used from the next turn on.") : S("It is used now.");
	if (!running || !conf_truth(&b->config, "agent.resumable"))
		return;
	o->ok = o->ok && chat_continuation(b);
	(void)turns_abort(b);
	o->answer = S("The turn continues with it.");
}

static void change_scope(struct pressed *o, const json_t *model, enum callback_action how)
{
	struct bridge *b = o->bridge;
	AUTO_JSON *scope = store_get(&b->store, "scope");
	AUTO_JSON *changed = json_array();
	json_t *id = json_object_get(model, "id"), *s;
	bool was = false;
	size_t i;

	json_array_foreach(scope, i, s)
	{
		if (json_equal(s, id))
			was = true;
		else
			json_array_append(changed, s);
	}
	if (how == MODEL_SCOPE_ENABLE || (how == MODEL_SCOPE_TOGGLE && !was))
		json_array_append(changed, id);
	o->ok = store_set(&b->store, "scope", changed);
}

void press_model(struct pressed *o)
{
	struct bridge *b = o->bridge;
	const struct callback *c = o->callback;
	struct model_view *m = &o->menu->models;
	AUTO_JSON *models = models_of(b, m->scoped);
	json_t *model = json_array_get(
		models, c->action == MODEL_OPEN || c->action == MODEL_PICK ? c->number : m->open);
	bool same = models_sum(models) == o->menu->sum;

	switch ((int)c->action) { /* those of this menu */
	case MODEL_NOOP:
		return;
	case MODEL_SCOPE:
		m->scoped = str_eq(c->text, S("scoped"));
		m->page = 0;
		break;
	case MODEL_PAGE:
		m->page = c->number;
		m->open = UINT64_MAX;
		break;
	case MODEL_PAGES:
		view_model_pages(b, &o->view, m);
		return;
	case MODEL_PAGES_BACK:
		break;
	case MODEL_OPEN:
		m->open = same && model ? c->number : UINT64_MAX;
		break;
	case MODEL_PICK:
	case MODEL_PICK_SELECTED:
		if (same && model)
			use_model(o, model);
		else
			o->answer = S("The list has changed.");
		m->open = same ? m->open : UINT64_MAX;
		break;
	default:
		if (same && model)
			change_scope(o, model, c->action);
		else
			o->answer = S("The list has changed.");
		m->open = same ? m->open : UINT64_MAX;
	}
	AUTO_JSON *now = models_of(b, m->scoped);
	o->menu->sum = models_sum(now);
	view_models(b, &o->view, m);
}

void press_thinking(struct pressed *o)
{
	struct bridge *b = o->bridge;
	const struct callback *c = o->callback;
	json_t *levels = conf_get(&b->config, "agent.thinking"), *l;
	size_t i;

	json_array_foreach(levels, i, l) if (json_is_string(l) && str_eq(json_str(l), c->text))
	{
		o->ok = store_set(&b->store, "thinking", l);
		o->answer = S("Set.");
		view_thinking(b, &o->view);
		return;
	}
	o->answer = S("There is no such level.");
}
