/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smcctl.h - the command line's parts and who may use which: args and complete know only the tables; output turns JSON
 * into text; client gets JSON from smcd or from the kernel; show and change are the commands; shell runs them line by
 * line.
 *
 * Functions that carry out a command return an exit code (enum ctl_exit) and have reported every failure themselves;
 * all others follow the house rules (0, positive or -errno).
 */
#pragma once

#include <json-c/json.h>

#include "methods.h"
#include "readers.h"

static inline void json_freep(struct json_object **o)
{
	json_object_put(*o);
	*o = NULL;
}
#define CLEANUP_JSON CLEANUP(json_freep)

enum ctl_exit {
	CTL_OK = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
	CTL_UNREACHABLE = 4,
	CTL_DENIED = 77,
};

struct exit_code {
	enum ctl_exit code;
	const char *doc;
};
extern const struct exit_code exit_codes[];
extern const size_t n_exit_codes;

/* ---- options: one row each; those before N_COMMON_OPTIONS go with every command ---- */
enum option_id {
	OPT_NETNS,
	OPT_JSON,
	OPT_WIDE,
	OPT_NO_COLOR,
	OPT_SOCKET,
	OPT_DIRECT,
	OPT_HELP,
	OPT_VERSION,
	N_COMMON_OPTIONS,
	OPT_SAVE = N_COMMON_OPTIONS,
	OPT_DEFAULT,
	OPT_RDMA,
	N_OPTIONS,
};
#define OPTION(o) (1u << (o))

struct option_row {
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	const char *arg;  /* NULL: takes none */
	const char *doc;
};
extern const struct option_row option_table[N_OPTIONS];

/* ---- commands ---- */
/* What a command's arguments are: how they are read, completed and documented. */
enum arg_kind {
	ARGS_NONE,
	ARGS_KNOBS,  /* names of knobs */
	ARGS_ASSIGN, /* NAME=VALUE of knobs */
	ARGS_FILTER, /* FIELD=VALUE of the noun's fields, also as --FIELD VALUE */
	ARGS_ENTRY,  /* an ID, then FIELD=VALUE of the noun's other fields, also as --FIELD VALUE */
	ARGS_CODES,  /* fallback codes or their names */
	ARGS_FILES,
	ARGS_WORDS,
	ARGS_COMMAND, /* the words of a command */
	ARGS_EVENTS,  /* kinds of events */
};

struct ctl;
struct request;
struct varlink;

struct command {
	const char *name;        /* first word; NULL: the noun's name */
	const char *verb;        /* second word; NULL: a command of one word */
	const struct noun *noun; /* what is listed or changed; NULL: nothing of the tables of nouns */
	const char *args;        /* synopsis of the arguments; NULL: there are none */
	const char *summary;     /* one line; NULL: what the noun says of itself */
	const char *details;     /* a paragraph for help and manual; NULL: nothing */
	enum arg_kind kind;
	unsigned int min_args, max_args;
	uint32_t options; /* OPTION() bits beside the common ones */
	enum access access;
	bool local;     /* works with neither daemon nor kernel */
	bool direct;    /* takes --direct although it changes something: the kernel does it all or not at all */
	bool host_wide; /* about the whole host: --netns is refused */
	int (*run)(struct ctl *c, const struct request *r);
};
extern const struct command commands[];
extern const size_t n_commands;
extern const char filter_details[]; /* how ARGS_FILTER works */
#define ARGS_MAX 1000               /* arguments of one command */

const char *command_name(const struct command *c);
const char *command_summary(const struct command *c);
/* "knobs set" */
void command_title(const struct command *c, struct text *t);
/* Exact match; verb is NULL for commands of one word. NULL: no such command. */
const struct command *command_find(const char *name, const char *verb);
/* Is there any command with this first word? */
bool command_name_known(const char *name);
bool command_takes(const struct command *c, enum option_id o);

/*
 * The fields that a key (len bytes) of FIELD=VALUE means for a command: the field of that name, or those of either end
 * of a connection (port: local_port and peer_port).
 * '-' and '_' are the same. Bit i of the result is field i; 0: the command has no such key.
 */
uint64_t command_key_fields(const struct command *c, const char *key, size_t len);
/* The keys that are no field's name and stand for both ends of a connection: "addr", "port". */
void command_short_keys(const struct command *c, struct text *t, const char *separator);

/* ---- args.c: the command line ---- */
struct arg {
	const char *word; /* as written; for --KEY VALUE the value only */
	const char *key;  /* what stands before '=' (key_len bytes, not terminated), or after "--"; NULL: neither */
	size_t key_len;
	const char *value; /* with key */
};

struct request {
	const struct command *command; /* NULL with help or version only */
	const char *name;              /* first word, for the help of a noun; NULL */
	uint32_t given;                /* OPTION() bits */
	const char *value[N_OPTIONS];  /* of those that take one */
	struct arg *args;
	size_t n_args;
};

static inline bool request_has(const struct request *r, enum option_id o)
{
	return r->given & OPTION(o);
}

/* Read the words after the program's name. Strings stay borrowed. -EINVAL with e for people, -ENOMEM. */
int request_parse(int n, char *const *words, struct request *ret, struct err *e);
void request_done(struct request *r);
#define CLEANUP_REQUEST CLEANUP(request_done)

/* ---- words.c: a line to words, quotes as in a shell ---- */
#define WORDS_LINE_MAX 65536 /* bytes of a line */
struct words {
	char **v; /* NULL-terminated */
	size_t n, size;
};
void words_done(struct words *w);
#define CLEANUP_WORDS CLEANUP(words_done)
int words_add(struct words *w, const char *s);
/*
 * Blanks divide; '...' and "..." and \ quote as in sh (no expansion); # at a word's start begins a comment. -EINVAL: a
 * quote that is not closed, a backslash at the end; -E2BIG: more than ARGS_MAX words or WORDS_LINE_MAX bytes.
 */
int words_split(const char *line, struct words *ret, struct err *e);

/* ---- complete.c: what can come next; the shell's completion ---- */
/* Candidates that begin with partial, after the n words that stand before it. Those ending in '=' take no blank. */
int complete(char *const *words, size_t n, const char *partial, struct words *ret);

/* ---- filter.c ---- */
struct filter {
	uint64_t fields; /* one of them has to match */
	const struct arg *arg;
};
/* Check the request's FIELD=VALUE arguments against the noun. -EINVAL, -ERANGE, -ENOMEM. */
int filters_check(const struct noun *n, const struct request *r, struct err *e);
/*
 * Take out of the array (objects of the noun) what does not match. Filters of the same key are alternatives, those of
 * different keys must all match. Strings match without regard to case and with * and ?; addresses with a prefix length;
 * "-" matches what is absent.
 */
int filters_apply(const struct noun *n, const struct request *r, struct json_object *array, struct err *e);

/* ---- procs.c ---- */
/* Fill pid and program of each socket object from /proc/PID/fd, as far as the caller may look. */
int procs_resolve(const char *proc, struct json_object *sockets);

/* ---- table.c: aligned columns ---- */
#define TABLE_COLUMNS_MAX 32
struct table {
	size_t n_cols, n_cells, size;
	struct text *cells; /* the first n_cols are the head */
	uint32_t right;     /* bit: right-aligned column */
	bool failed;
};
/* titles: n_cols strings. */
void table_init(struct table *t, size_t n_cols, const char *const *titles, uint32_t right);
void table_done(struct table *t);
#define CLEANUP_TABLE CLEANUP(table_done)
/* The next cell, to be filled with text_add(); never NULL. Valid until the next call. */
struct text *table_cell(struct table *t);
/* "-" where a cell is empty. */
void table_render(const struct table *t, struct text *out);

/* ---- output.c: from JSON to text; pure ---- */
/* A member that is there and not null, or NULL. */
struct json_object *member(struct json_object *o, const char *name);
/* The value of a place of a table, back from its JSON. Strings are borrowed from o. Absent where it does not fit. */
struct value value_of_json(const struct value_spec *spec, struct json_object *o);
void knobs_text(struct json_object *knobs, bool wide, struct text *t);
/* A noun's array as a table. wide: also fields without a title. */
void noun_text(const struct noun *n, struct json_object *array, bool wide, struct text *t);
void stats_text(struct json_object *stats, struct text *t);
void reason_text(struct json_object *reason, struct text *t);
void status_text(struct json_object *status, struct text *t);
/* The same in one line. */
void document_line(struct json_object *o, struct text *t);
/* JSON as text for files and terminals alike: DEL and C1 controls, which json-c leaves, are written as \u escapes. */
void document_text(struct json_object *o, struct text *t);

/* ---- help.c ---- */
void help_all(struct text *t);
void help_name(const char *name, struct text *t); /* all verbs of a first word */
void help_command(const struct command *c, struct text *t);
/* {"help": ...}: one command, or all of a first word, or (both NULL) all. */
struct json_object *help_json(const char *name, const struct command *only);

/* ---- client.c: one command under way ---- */
/* What lasts over the commands of a shell. */
struct session {
	FILE *out, *err;
	bool tty;         /* out is a terminal */
	bool interactive; /* a person types */
	bool no_color;
	bool said_direct;
	bool in_shell;
	bool leave; /* quit */
};

struct ctl {
	struct session *session;
	const struct request *req;
	struct varlink *daemon; /* connected by the first call */
	int daemon_error;       /* why there is no connection: smcd is absent, or lets the caller not in */
	struct kernel *kernel;  /* opened by the first direct read */
	struct offered offered; /* what the kernel offers, from when a knob was looked for that no table has */
	bool offered_read;
	struct text failures; /* messages so far, one a line: for --json */
};

/* Run one command line (without the program's name): what main() and the shell do. */
int ctl_run(struct session *s, int n, char *const *words);

/* Report a failure on stderr; with --json it is also in the object {"error": ...} that ends the output. Returns code.
 */
int ctl_fail(struct ctl *c, enum ctl_exit code, const char *fmt, ...) PRINTF(3, 4);
/* The same for an error of the library; EPERM and EACCES become CTL_DENIED, with what to do. */
int ctl_fail_err(struct ctl *c, const struct err *e);
/*
 * Ask smcd, or the kernel where smcd does not run or lets the caller not in, which is said on stderr. A smcd that does
 * not answer is a failure. params is taken over, may be NULL.
 */
int ctl_read(struct ctl *c, enum method_id m, const struct noun *noun, struct json_object *params,
	     struct json_object **ret);
/* Have smcd change something. params is taken over. */
int ctl_write(struct ctl *c, enum method_id m, struct json_object *params, struct json_object **ret);
/* *ret is smcd's org.varlink.service.GetInfo reply, or NULL where it is not there, no access, or not to be asked. */
int ctl_daemon_info(struct ctl *c, struct json_object **ret);
/* *ret is smcd's GetStatus reply, or NULL (said on stderr) where the kernel is to be read directly. */
int ctl_status(struct ctl *c, struct json_object **ret);
/* After one of these: "running", "not running", "no access", "not asked". */
const char *ctl_daemon_state(const struct ctl *c);
/* The kernel, directly. */
int ctl_kernel(struct ctl *c, struct kernel **ret);
void ctl_note(struct ctl *c, const char *fmt, ...) PRINTF(2, 3);
/* {"schema": 1} and the members of reply. */
int ctl_print_json(struct ctl *c, struct json_object *reply);
/* Help for a command, for all of a first word, or (both NULL) for all; as JSON where that was asked for. */
int ctl_print_help(struct ctl *c, const char *name, const struct command *command);
/* Text whose first line is the head of a table (bold on a terminal). */
int ctl_print(struct ctl *c, const struct text *t, bool head);

/* A knob that is in no table and that the kernel offers. NULL: it does not, or cannot be asked. */
const struct offered_knob *ctl_offered(struct ctl *c, const char *name);
/* There is no knob of this name; with the nearest one. */
int ctl_fail_knob(struct ctl *c, const char *name);
/* Are all arguments names of knobs? Reports every one that is not. */
int ctl_check_knob_names(struct ctl *c, const struct request *r);
/* The "knobs" of a reply, as the options say. */
int ctl_print_knobs(struct ctl *c, struct json_object *reply);
/* ---- devices.c: ports of RDMA devices by libibverbs ---- */
/* Add the member "rdma" to a reply: an array of ports. */
int ctl_add_rdma(struct ctl *c, struct json_object *reply);
void rdma_text(struct json_object *ports, struct text *t);

/* ---- the commands ---- */
int cmd_status(struct ctl *c, const struct request *r);
int cmd_knobs_show(struct ctl *c, const struct request *r);
int cmd_knobs_set(struct ctl *c, const struct request *r);
int cmd_knobs_reset(struct ctl *c, const struct request *r);
int cmd_stats_show(struct ctl *c, const struct request *r);
int cmd_list(struct ctl *c, const struct request *r);
int cmd_explain(struct ctl *c, const struct request *r);
int cmd_pnet_add(struct ctl *c, const struct request *r);
int cmd_pnet_delete(struct ctl *c, const struct request *r);
int cmd_pnet_replace(struct ctl *c, const struct request *r);
int cmd_pnet_flush(struct ctl *c, const struct request *r);
int cmd_ueid_add(struct ctl *c, const struct request *r);
int cmd_ueid_delete(struct ctl *c, const struct request *r);
int cmd_ueid_flush(struct ctl *c, const struct request *r);
int cmd_seid_enable(struct ctl *c, const struct request *r);
int cmd_seid_disable(struct ctl *c, const struct request *r);
int cmd_metrics(struct ctl *c, const struct request *r);
int cmd_monitor(struct ctl *c, const struct request *r);
int cmd_policy_check(struct ctl *c, const struct request *r);
int cmd_version(struct ctl *c, const struct request *r);
int cmd_shell(struct ctl *c, const struct request *r);
int cmd_help(struct ctl *c, const struct request *r);
