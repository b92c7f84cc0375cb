#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "data/doc.h"
#include "graph/graph.h"
#include "recipe/dirs.h"

/* Recipe files as read, with the files they import. */

enum { RECIPE_CHAIN_MAX = 32 };

enum recipe_format { RECIPE_JSON, RECIPE_MARKDOWN, RECIPE_YAML };

struct recipe_file;

/* One entry of `imports`. */
struct recipe_import {
	struct str alias;
	struct recipe_file *file;        /* NULL: it could not be loaded, and that was said */
	const json_t *defaults, *values; /* of the binding; may be NULL */
	json_t *bound; /* binding defaults < the file's values < binding values; owned */
};

struct recipe_file {
	struct str path; /* absolute */
	struct str id;   /* the file's name without its extension */
	enum recipe_format format;
	struct doc doc;
	/* Of YAML: what the reader made of the text (NULL: nothing; owned) and what it found, for
	 * the reader of the steps. */
	json_t *yaml;
	struct report yaml_found;
	json_t *object; /* what doc.root becomes when references are resolved; owned */
	struct place place;
	VEC(struct recipe_import) imports;
	struct map by_alias;       /* alias → its number in `imports`, from 1 */
	VEC(size_t) alias_lengths; /* those that there are, longest first */
	struct str
		way; /* who imported it first: a remark for what is wrong in it; empty: the entry */
	bool broken; /* has mistakes: can be looked at for more of them, not used */
	bool expanded;   /* some node of the graph stands for it */
	bool told;       /* of a step recipe: what it warns of is known */
	unsigned height; /* files on the longest chain below it, itself included */
};

/* Every file that one recipe needs, each read once. */
struct recipe_set {
	struct arena arena;
	struct recipe_dirs dirs;
	VEC(struct recipe_file *) files;
	struct map by_path; /* real path → file */
	struct report warnings;
	struct report extensions;  /* notes: what is not in the portable standard */
	VEC(struct graph *) calls; /* of step recipes, one for each node that imports one */
	struct map given; /* path → struct str *: files that are what they say, whatever the disk
			     has */
	bool sealed;      /* there are no other files: the recipe of a run, as it was started */
};

struct recipe_set *recipe_set_new(const struct recipe_dirs *dirs);
void recipe_set_free(struct recipe_set *set);

/* Reads the file and what it imports; `name` is what diagnostics call it. NULL with issues added; a
 * file with mistakes that can be looked at further is `broken`. It belongs to the set. */
struct recipe_file *recipe_file_load(
	struct recipe_set *set, struct str path, struct str name, struct report *r);
/* Its `defaults` or `values`; those of a step recipe are its `context`. May be NULL. */
const json_t *recipe_file_section(const struct recipe_file *f, bool values);
/* NULL: there is none of that alias. */
struct recipe_import *recipe_import_find(const struct recipe_file *f, struct str alias);
/* From now on the file `path` is what `text` says, whatever the disk says. */
void recipe_set_give(struct recipe_set *set, struct str path, struct str text);

/* Whether an import may be called that: [A-Za-z0-9_.-]+. */
bool recipe_alias_valid(struct str alias);
/* By the extension of its name; false for anything else. */
bool recipe_format_of(struct str name, enum recipe_format *ret);
struct str recipe_id_of(struct str path);
const char *recipe_format_name(enum recipe_format f);
/* The extensions in order of precedence; NULL past the last. */
const char *recipe_extension(size_t i);

/* The graph of a loaded file. Takes the set, also when it fails. NULL with issues added. */
struct graph *recipe_graph(struct recipe_set *set, struct recipe_file *entry, struct report *r);
