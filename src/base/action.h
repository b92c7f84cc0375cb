#pragma once

/* What a person or a program could do next about an issue. Modules below the hosts say it as data;
 * each host has its own words for it: a command to type, a tool to call, a button. `about` is what
 * the action is about: most often the id of a run. */
enum action {
	ACTION_NONE,
	/* About a run: */
	ACTION_RESUME,  /* continue it */
	ACTION_RERUN,   /* do it again as a new run */
	ACTION_APPROVE, /* answer its gate */
	ACTION_DENY,
	ACTION_WAIT, /* wait for its end */
	ACTION_CANCEL,
	ACTION_KILL,
	ACTION_END_LEFT, /* end processes that it left behind */
	ACTION_PRUNE,    /* delete it */
	ACTION_ARCHIVE,  /* put it away with all its generations */
	ACTION_STATUS,   /* look at it */
	ACTION_LOGS,
	ACTION_FOLLOW, /* its logs as they grow */
	ACTION_MESSAGES,
	ACTION_NODES,          /* see its nodes */
	ACTION_NAME_IT,        /* give the new run a name of its own */
	ACTION_OTHER_DIR,      /* name another working directory */
	ACTION_RERUN_ALL,      /* the same with all its commands, whatever is recorded */
	ACTION_RERUN_IN_DOUBT, /* resume, and run commands in doubt again */
	ACTION_NAME_NODE,      /* say at which node to begin */
	ACTION_WRITE_AS_RUN,   /* send the message in the name of a run */
	/* About all of them: */
	ACTION_LIST_RUNS,
	ACTION_LIST_PRUNABLE, /* see which runs could be deleted */
	ACTION_FORGET_GONE,
	ACTION_REBUILD, /* make the ledger anew from the run directories */
	/* About recipes: */
	ACTION_LIST_RECIPES,
	ACTION_SHOW_ARGUMENTS, /* about the recipe */
	ACTION_DOCTOR,
	ACTION_CHECK,       /* look for mistakes in one */
	ACTION_CHECK_ALL,   /* in everything that there is */
	ACTION_RUN_RECIPE,  /* about its file */
	ACTION_AS_TEMPLATE, /* take the word as a template */
	ACTION_READ_PIPE,   /* have the template read from a pipe */
	ACTION_OLD_DIALECT, /* read the form of 0.9 */
	ACTION_STEP_KEYS,   /* see all keys of step recipes */
	ACTION_SET_VARIABLE,
	ACTION_GIVE_COLLECTION, /* say for a run where a collection is */
	ACTION_ADD_TOOL,
	ACTION_UPDATE_TOOL,
	ACTION_LIST_TOOLS,
	ACTION_TRUST,        /* let agents and chats use a recipe */
	ACTION_INIT_PROJECT, /* have a first recipe of a project written */
	/* About agents and prompts: */
	ACTION_INIT, /* have a first configuration written */
	ACTION_LIST_AGENTS,
	ACTION_GIVE_AGENT,   /* give a run a command for this agent */
	ACTION_CHOOSE_AGENT, /* choose another one for a prompt */
	ACTION_GIVE_MODEL,
	ACTION_PLACEHOLDERS, /* see the names of placeholders in prompts */
	ACTION_COUNT,
};
