#pragma once

#include "base/arena.h"

/* Where the bridge finds its files, and what its environment says. */
struct places {
	struct arena arena;
	const char *dir;                    /* the agent directory */
	const char *config;                 /* telegram.json */
	const char *locks;                  /* locks.json */
	const char *temp;                   /* tmp/telegram: downloads and generated files */
	uint64_t inbound_max, outbound_max; /* bytes of one file */
	uint64_t clock; /* by how much the lives of buttons, menus and refusals are shorter; 1 */
};

void places_find(struct places *p, struct str agent_dir);
void places_done(struct places *p);

/* Makes the temporary directory, 0700, and deletes regular files in it that are older than a day.
 * -errno. */
int places_prepare_temp(const struct places *p);

/* A new path in the temporary directory: random, then `name` made harmless. */
struct str places_new_file(const struct places *p, struct arena *a, struct str name);

/* The token that the environment offers at setup; empty: none. Borrowed. */
struct str places_env_token(void);
/* Takes the variables that may hold a token out of this process's environment, and with it out of
 * that of every command: the four by name, and any whose value contains `token`. */
void places_scrub_environment(struct str token);
