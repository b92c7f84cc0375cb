#pragma once

#include "app/app.h"

/* Questions that runs wait at (docs/steps.md, "Stages and approvals"), over all runs, and the
 * answers. The file gates.json of a run is the only truth about them. */

/* An open one. Borrowed during the call. */
struct gate {
	struct str run;  /* its id */
	struct str path; /* the gate's node: its id within the run */
	struct str stage, prompt;
	uint64_t since_ms, timeout_ms; /* 0: it waits for ever */
	bool approves;                 /* what a timeout answers */
};

/* False: enough. */
typedef bool gate_fn(void *data, const struct gate *g);

/* The open gates of one run, or of all that wait (NULL). False with an issue. */
bool gates_each(struct app *a, const char *run, gate_fn *see, void *data, struct report *r);

struct run_handle;
/* Whether its recipe has gates, or calls others that may have some. */
bool run_may_ask(struct run_handle *h);

/* Says that the caller asks the question of a run in person and continues the run once it is
 * answered, whichever door answers. The descriptor stands for that until it is closed. -errno. */
int gate_ask(struct app *a, const char *run);
/* Whether another process does. */
bool gate_is_asked(struct app *a, const char *run);

/* Why an answer would be refused now, and by whom it was given: false with that in the report.
 * True: it would be taken. */
bool gate_refused(struct app *a, const char *run, struct report *r);

struct gate_decision {
	const char *run;
	const char
		*stage; /* the gate that is meant, by its stage or its path; NULL: the open one */
	bool approve;
	struct str text; /* what later steps read, or the reason of a denial */
	struct str by;   /* who has answered: kept with the answer */
	/* Of the plan that was approved (plans.h), kept with the answer; empty: none was shown. */
	struct str digest;
};

struct gate_decided { /* texts are in the arena of the app */
	struct str run, generation, stage, path;
	uint64_t events; /* that the run had with the answer */
	/* Another process has taken the run up since it was asked and has not come to the gate yet:
	 * that one hears the answer and acts on it. Else nothing is run: runs_resume() continues.
	 */
	bool under_way;
};

/* Answers once: false with a refusal when the run waits for nothing, or has its answer already. */
bool gate_decide(
	struct app *a, const struct gate_decision *d, struct gate_decided *ret, struct report *r);

/* What has become of an answer that another process is to hear, which has the run. */
enum gate_fate {
	GATE_HEARD,       /* it continues the run, or has */
	GATE_LET_GO,      /* it has let go of the run, or there is none: nothing continues it */
	GATE_NOT_REACHED, /* it has the run, and has not come to the gate yet */
};
/* Waits for that, so long. */
enum gate_fate gate_await(struct app *a, const struct gate_decided *d, unsigned ms);
