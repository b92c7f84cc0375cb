#include "graph/graph.h"

#include "graph/step.h"

struct graph *graph_ref(struct graph *g)
{
	g->references++;
	return g;
}

void graph_unref(struct graph *g)
{
	if (!g || --g->references)
		return;
	doc_done(&g->doc);
	json_decref(g->made);
	json_decref(g->values);
	if (g->steps) {
		json_decref(g->steps->context);
		json_decref(g->steps->metadata);
	}
	vec_done(&g->arguments);
	report_done(&g->warnings);
	report_done(&g->extensions);
	arena_done(&g->arena);
	if (g->keep_free)
		g->keep_free(g->keep);
	free(g);
}
