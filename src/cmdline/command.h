#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/lang.h"
#include "base/str.h"

struct report;

/* What a command is called, what it takes and what it says about itself. Parsing, help,
 * completion and the man page all read this one table, so they cannot disagree. Tables are
 * constant data; nothing here is freed. */

enum opt_kind {
	OPT_KIND_FLAG,   /* a bool */
	OPT_KIND_NUMBER, /* an unsigned or a uint64_t */
	OPT_KIND_TEXT,   /* a const char *, NULL when not given */
	OPT_KIND_CHOICE, /* an unsigned or an enum: the index in `choices` */
	OPT_KIND_LIST,   /* a struct opt_list: may be given again and again */
};

/* The values of an option that may be repeated, in order of appearance. */
struct opt_list {
	const char **at;
	size_t len;
};

/* Names and choices are made of ASCII letters, digits, dots, dashes and underscores: they stand
 * unquoted in completion scripts. */
struct opt {
	enum opt_kind kind;
	char letter;      /* 0: it has none */
	const char *name; /* without the dashes; NULL: it has none */
	const char *arg;  /* what its value is called; FILE, DIR, RUN and others are completed */
	const char *help; /* one clause, lower case */
	size_t offset;    /* of the field, in the struct its opt_set stands for */
	size_t size;      /* of a number's field */
	const char *const *choices; /* ends with NULL */
	uint64_t min, max;          /* of a number */
};

/* The offset of a field, of which the type is checked. */
#define OPT_FIELD(type, T, field) _Generic(((T *)0)->field, type : offsetof(T, field))
#define OPT_FIELD_EITHER(one, other, T, field) \
	_Generic(((T *)0)->field, one : offsetof(T, field), other : offsetof(T, field))

/* `T` is the struct that the set of these options stands for. */
#define OPT_FLAG(letter_, name_, T, field, help_)                                             \
	{                                                                                     \
		.kind = OPT_KIND_FLAG, .letter = (letter_), .name = (name_), .help = (help_), \
		.offset = OPT_FIELD(bool, T, field)                                           \
	}
#define OPT_NUMBER(letter_, name_, arg_, T, field, min_, max_, help_)                         \
	{                                                                                     \
		.kind = OPT_KIND_NUMBER, .letter = (letter_), .name = (name_), .arg = (arg_), \
		.help = (help_), .offset = OPT_FIELD_EITHER(unsigned, uint64_t, T, field),    \
		.size = sizeof(((T *)0)->field), .min = (min_), .max = (max_)                 \
	}
#define OPT_TEXT(letter_, name_, arg_, T, field, help_)                                     \
	{                                                                                   \
		.kind = OPT_KIND_TEXT, .letter = (letter_), .name = (name_), .arg = (arg_), \
		.help = (help_), .offset = OPT_FIELD(const char *, T, field)                \
	}
#define OPT_CHOICE(letter_, name_, choices_, T, field, help_)                                   \
	{                                                                                       \
		.kind = OPT_KIND_CHOICE, .letter = (letter_), .name = (name_),                  \
		.choices = (choices_), .help = (help_), .offset = OPT_FIELD(unsigned, T, field) \
	}
#define OPT_LIST(letter_, name_, arg_, T, field, help_)                                     \
	{                                                                                   \
		.kind = OPT_KIND_LIST, .letter = (letter_), .name = (name_), .arg = (arg_), \
		.help = (help_), .offset = OPT_FIELD(struct opt_list, T, field)             \
	}

/* Options that belong together. Commands share a set by embedding its struct, each at an offset
 * of its own. A set without a title continues the one before it. */
struct opt_set {
	const struct opt *opts;
	size_t count;
	size_t base; /* where the struct of these options begins in the command's */
	const char *title;
};

/* `array` must be in sight as an array. The first is for options that are fields of the command's
 * own struct, the second for those of the struct it has as `member`. */
#define OPT_SET(title_, array)                                                 \
	{                                                                      \
		.opts = (array), .count = ARRAY_SIZE(array), .title = (title_) \
	}
#define OPT_SET_IN(title_, array, T, member)                                    \
	{                                                                       \
		.opts = (array), .count = ARRAY_SIZE(array), .title = (title_), \
		.base = offsetof(T, member)                                     \
	}

/* What a shell offers where an operand or a value is due. */
enum complete_kind {
	COMPLETE_NONE,
	COMPLETE_FILE,
	COMPLETE_DIR,
	COMPLETE_TEMPLATE, /* a file, after `@` too */
	COMPLETE_RECIPE,   /* what `roux complete recipes` lists, or else as a template */
	COMPLETE_RUN,      /* what `roux complete runs` lists for the command */
	COMPLETE_NODE,     /* what `roux complete nodes` lists for the words before it */
	COMPLETE_TOOL,     /* what `roux complete tools` lists for the words before it */
	COMPLETE_STATUS,   /* what `roux complete statuses` lists, with commas between them */
	COMPLETE_COMMAND,
	COMPLETE_WORDS, /* those that the operand is written as: "svg|dot" */
};

struct command_example {
	const char *line; /* as it would be typed */
	const char *what; /* what it does; may be NULL */
};

enum { OPERANDS_ANY = 0x7fffffff };

struct command;

/* One call of a command: what was parsed. */
struct call {
	void *host;
	const struct command *command;
	const void *opts; /* the struct that parsing has filled */
	size_t count;     /* of operands */
	const char *const *words;
	const char *const *line; /* what stood behind the command's name, as it was typed; may be
				    NULL */
	size_t line_count;
};

struct command {
	const char *name;
	const char *heading;  /* of the commands from here on in the overview; NULL: as before */
	const char *operands; /* one word for each: "RECIPE [name=value]..."; NULL: none */
	const char *wants;    /* the first operand, said when it is left out; NULL: its word */
	const char *summary;  /* one clause, lower case, no full stop */
	const char *details;  /* paragraphs between empty lines, those indented kept as they are */
	const struct command_example *examples;
	size_t example_count;
	const struct opt_set *sets;
	size_t set_count;
	size_t options_size;  /* of the struct that parsing fills */
	const void *defaults; /* such a struct, copied before parsing; NULL: all zero */
	unsigned min_operands, max_operands;
	enum complete_kind complete; /* of the first operand; of all when its word ends with ... */
	bool hidden;                 /* works, but is shown nowhere */
	/* Hints at what an option that does not exist may have been meant for; false: no idea. */
	bool (*unknown_option)(struct str name, struct report *r);
	int (*run)(const struct call *call);
};

/* Members of a command whose tables have a length. */
#define EXAMPLES(table) .examples = (table), .example_count = ARRAY_SIZE(table)
#define SETS(table, T) .sets = (table), .set_count = ARRAY_SIZE(table), .options_size = sizeof(T)

/* The command called `name`, hidden or not, or NULL. */
const struct command *command_find(
	const struct command *const *commands, size_t count, struct str name);

/* What every command has besides its own sets: --help. Its field is in struct cmdline_result. */
extern const struct opt_set command_help;

/* Walks through the sets of `c`: the first after NULL, command_help last, then NULL. */
const struct opt_set *command_next_set(const struct command *c, const struct opt_set *set);

/* "roux run [OPTION]... RECIPE [name=value]..." */
void command_usage(const struct command *c, struct buf *b);
/* The word for operand `i` in the usage, without brackets and dots; empty when there is none. */
struct str command_operand(const struct command *c, size_t i);
/* Whether `complete` is for every operand and not for the first alone. */
bool command_completes_all(const struct command *c);

/* The spellings of an option, as typed: "-j", "--jobs". */
enum opt_form { OPT_FORM_LETTER, OPT_FORM_NAME, OPT_FORM_COUNT };
/* Puts a spelling into `ret`; false and empty when the option has none of that form. */
bool opt_spelling(const struct opt *o, enum opt_form form, struct buf *ret);
/* Adds what its value is called: "N", "svg|dot|mermaid". Nothing for a flag. */
void opt_value_name(const struct opt *o, struct buf *b);
/* What a shell offers for its value, besides the words of a choice. */
enum complete_kind opt_complete(const struct opt *o);
