// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * commands.c - the table of commands and the table of options: parser, help, completion, manual and tests walk these.
 */
#include <limits.h>

#include "smcctl.h"
#include "policy.h"

const struct exit_code exit_codes[] = {
	{ CTL_OK, "done, or shown" },
	{ CTL_FAILED, "failed, or a value was refused; nothing was changed by the command" },
	{ CTL_USAGE, "the command line is wrong" },
	{ CTL_UNREACHABLE, "smcd cannot be reached and the command needs it, or it does not answer" },
	{ CTL_DENIED, "not permitted" },
};
const size_t n_exit_codes = ARRAY_SIZE(exit_codes);

const struct option_row option_table[N_OPTIONS] = {
	[OPT_NETNS] = { "netns", 'n', "NETNS",
			"Work in the network namespace NETNS, a name in /run/netns (default: for smcd the initial one; without "
			"smcd the one smcctl runs in)." },
	[OPT_JSON] = { "json", 'j', NULL, "Print JSON with exact values; failures too, as an object with error." },
	[OPT_WIDE] = { "wide", 'w', NULL, "Show every column." },
	[OPT_NO_COLOR] = { "no-color", 0, NULL,
			   "No colours; so too when NO_COLOR is set or the output is no terminal." },
	[OPT_SOCKET] = { "socket", 0, "PATH", "Where smcd listens (default: " SMCD_SOCKET ")." },
	[OPT_DIRECT] = { "direct", 0, NULL,
			 "Without smcd: read from the kernel, for commands that only show; for set: all or nothing, and only "
			 "where the kernel has smc_tune." },
	[OPT_HELP] = { "help", 'h', NULL, "Help for smcctl or for the command before it." },
	[OPT_VERSION] = { "version", 0, NULL, "Version of smcctl." },
	[OPT_SAVE] = { "save", 0, NULL,
		       "Also for later boots: set writes the values to " POLICY_SAVED_FILE
		       ", reset takes them out of it." },
	[OPT_DEFAULT] = { "default", 0, NULL, "To the kernel's default instead of the policy's value." },
	[OPT_RDMA] = { "rdma", 0, NULL,
		       "Also the ports of all RDMA devices of this host, those SMC does not use as well." },
};

const char filter_details[] =
	"Only what matches every FIELD=VALUE (also written --FIELD VALUE) is shown. FIELD is a field's name; addr and port mean "
	"either end of a connection; the same FIELD again is an alternative. Text may have * and ?, an address a prefix length "
	"(10.0.0.0/8), and - means absent.";

/* A noun that is listed by smcctl NOUN show with filters. */
#define SHOW(id, ...)                                                                                                  \
	{                                                                                                              \
		.noun = &nouns[id], .verb = "show", .args = "[FIELD=VALUE]...", .kind = ARGS_FILTER,                   \
		.max_args = ARGS_MAX, .access = ACCESS_READ, .run = cmd_list, __VA_ARGS__                              \
	}

const struct command commands[] = {
	{ .name = "status",
	  .host_wide = true,
	  .summary = "Is SMC there, is it used, is the policy applied",
	  .run = cmd_status,
	  .details = "It tells of the host, of smcd and of the policy, so it takes no --netns." },
	{ .name = "knobs",
	  .verb = "show",
	  .args = "[NAME]...",
	  .kind = ARGS_KNOBS,
	  .max_args = ARGS_MAX,
	  .summary = "Tunables with values, defaults and effect",
	  .run = cmd_knobs_show,
	  .details =
		  "EXPECTED is what the kernel makes of a buffer size: rounded up to 16K times a power of two and capped, "
		  "for SMC-D and SMC-R. SOURCE says who set the value as far as smcd knows." },
	{ .name = "knobs",
	  .verb = "set",
	  .args = "NAME=VALUE...",
	  .kind = ARGS_ASSIGN,
	  .min_args = 1,
	  .max_args = ARGS_MAX,
	  .options = OPTION(OPT_SAVE),
	  .access = ACCESS_WRITE,
	  .direct = true,
	  .run = cmd_knobs_set,
	  .summary = "Set tunables until reboot or reset",
	  .details =
		  "Several assignments are all applied, or none is. Sizes may be written 64K, 1M or 1G, times 30s, 5m "
		  "or 1h, switches on and off. A value out of range or an unknown name changes nothing and ends with exit "
		  "code 1; an argument without = is a usage error." },
	{ .name = "knobs",
	  .verb = "reset",
	  .args = "NAME...",
	  .kind = ARGS_KNOBS,
	  .min_args = 1,
	  .max_args = ARGS_MAX,
	  .options = OPTION(OPT_DEFAULT) | OPTION(OPT_SAVE),
	  .access = ACCESS_WRITE,
	  .run = cmd_knobs_reset,
	  .summary = "Back to the policy's value" },
	{ .name = "show",
	  .args = "[NAME]...",
	  .kind = ARGS_KNOBS,
	  .max_args = ARGS_MAX,
	  .summary = "Short for knobs show",
	  .run = cmd_knobs_show },
	{ .name = "set",
	  .args = "NAME=VALUE...",
	  .kind = ARGS_ASSIGN,
	  .min_args = 1,
	  .max_args = ARGS_MAX,
	  .options = OPTION(OPT_SAVE),
	  .access = ACCESS_WRITE,
	  .direct = true,
	  .run = cmd_knobs_set,
	  .summary = "Short for knobs set" },
	{ .name = "stats",
	  .verb = "show",
	  .summary = "Counters and histograms of the namespace",
	  .run = cmd_stats_show },
	SHOW(NOUN_FALLBACKS),
	{ .name = "explain",
	  .args = "CODE...",
	  .kind = ARGS_CODES,
	  .min_args = 1,
	  .max_args = ARGS_MAX,
	  .local = true,
	  .summary = "What a fallback code means and what to do",
	  .run = cmd_explain,
	  .details = "CODE is hexadecimal, with or without 0x, as the kernel prints it, or a name such as NOSMCDEV." },
	SHOW(NOUN_LINKGROUPS),
	SHOW(NOUN_LINKS),
	SHOW(NOUN_DEVICES, .options = OPTION(OPT_RDMA)),
	SHOW(NOUN_SOCKETS),
	SHOW(NOUN_POOLS),
	SHOW(NOUN_CORK),
	SHOW(NOUN_HANDSHAKES),
	SHOW(NOUN_PNET),
	{ .noun = &nouns[NOUN_PNET],
	  .verb = "add",
	  .args = "ID [interface=NAME] [rdma=NAME [port=N]]",
	  .kind = ARGS_ENTRY,
	  .min_args = 2,
	  .max_args = 4,
	  .access = ACCESS_WRITE,
	  .run = cmd_pnet_add,
	  .summary = "Give an interface or an RDMA or ISM device a physical network ID",
	  .details =
		  "ID is 1 to 16 letters and digits; the kernel keeps capitals. Devices with the same ID are on the same "
		  "physical network. An entry that is there already is an error and changes nothing." },
	{ .noun = &nouns[NOUN_PNET],
	  .verb = "delete",
	  .args = "ID [interface=NAME] [rdma=NAME [port=N]]",
	  .kind = ARGS_ENTRY,
	  .min_args = 1,
	  .max_args = 4,
	  .access = ACCESS_WRITE,
	  .run = cmd_pnet_delete,
	  .summary = "Delete all entries of an ID, or one of them" },
	{ .noun = &nouns[NOUN_PNET],
	  .verb = "flush",
	  .access = ACCESS_WRITE,
	  .run = cmd_pnet_flush,
	  .summary = "Delete all entries" },
	{ .noun = &nouns[NOUN_PNET],
	  .verb = "replace",
	  .args = "FILE",
	  .kind = ARGS_FILES,
	  .min_args = 1,
	  .max_args = 1,
	  .access = ACCESS_WRITE,
	  .run = cmd_pnet_replace,
	  .summary = "Let the pnet entries of a policy file take the place of the whole table",
	  .details =
		  "All entries are exchanged at a time, or none is where one of them is refused. Only pnet of the file counts. "
		  "It needs a kernel with smc_tune." },
	SHOW(NOUN_UEID),
	{ .noun = &nouns[NOUN_UEID],
	  .verb = "add",
	  .args = "EID",
	  .kind = ARGS_WORDS,
	  .min_args = 1,
	  .max_args = 1,
	  .access = ACCESS_WRITE,
	  .host_wide = true,
	  .run = cmd_ueid_add,
	  .summary = "Add a user-defined enterprise ID (at most 4)",
	  .details =
		  "EID is 1 to 32 of A-Z, 0-9, . and -, the first a letter or digit. Peers that share one can use SMC "
		  "version 2." },
	{ .noun = &nouns[NOUN_UEID],
	  .verb = "delete",
	  .args = "EID",
	  .kind = ARGS_WORDS,
	  .min_args = 1,
	  .max_args = 1,
	  .access = ACCESS_WRITE,
	  .host_wide = true,
	  .run = cmd_ueid_delete,
	  .summary = "Delete a user-defined enterprise ID" },
	{ .noun = &nouns[NOUN_UEID],
	  .verb = "flush",
	  .access = ACCESS_WRITE,
	  .host_wide = true,
	  .run = cmd_ueid_flush,
	  .summary = "Delete all user-defined enterprise IDs" },
	SHOW(NOUN_SEID),
	{ .noun = &nouns[NOUN_SEID],
	  .verb = "enable",
	  .access = ACCESS_WRITE,
	  .host_wide = true,
	  .run = cmd_seid_enable,
	  .summary = "Use the system enterprise ID (s390 only)" },
	{ .noun = &nouns[NOUN_SEID],
	  .verb = "disable",
	  .access = ACCESS_WRITE,
	  .host_wide = true,
	  .run = cmd_seid_disable,
	  .summary = "Do not use the system enterprise ID (s390 only)" },
	{ .name = "metrics", .summary = "All metrics in Prometheus' text format", .run = cmd_metrics },
	{ .name = "monitor",
	  .args = "[KIND]...",
	  .kind = ARGS_EVENTS,
	  .max_args = N_EVENTS,
	  .summary = "Show what changes, as it happens",
	  .run = cmd_monitor,
	  .details =
		  "Changes of knobs and of the pnet table, whoever makes them, link groups and links that come and go, and "
		  "connections that fall back to TCP; with KIND only knob, pnet, link or fallback. It needs a kernel with "
		  "smc_tune, and no smcd. It ends with Ctrl-C, or when nobody reads its output any more. With --json each "
		  "line is a document. Where events were lost, it says so and shows the knobs that have other values by "
		  "now." },
	{ .name = "policy",
	  .verb = "check",
	  .args = "FILE...",
	  .kind = ARGS_FILES,
	  .min_args = 1,
	  .max_args = ARGS_MAX,
	  .local = true,
	  .summary = "Check policy files; needs neither smcd nor SMC",
	  .run = cmd_policy_check,
	  .details = "Several files are laid one over the other in the order given. Every problem is printed as "
		     "FILE:LINE:COLUMN: with what was found and what is allowed." },
	{ .name = "version", .local = true, .summary = "Versions of smcctl and of smcd", .run = cmd_version },
	{ .name = "shell",
	  .local = true,
	  .summary = "Read commands, with completion and history",
	  .run = cmd_shell,
	  .details =
		  "Each line is a command without the leading smcctl; quotes are as in sh. quit, exit or end of file "
		  "leaves; the exit code is that of the last command that failed, or 0. History is kept in "
		  "${XDG_STATE_HOME:-~/.local/state}/smcctl_history when a person types." },
	{ .name = "help",
	  .args = "[COMMAND]",
	  .kind = ARGS_COMMAND,
	  .max_args = 2,
	  .local = true,
	  .summary = "Help for smcctl or for a command",
	  .run = cmd_help },
};
const size_t n_commands = ARRAY_SIZE(commands);

const char *command_name(const struct command *c)
{
	return c->name ? c->name : c->noun->name;
}

const char *command_summary(const struct command *c)
{
	return c->summary ? c->summary : c->noun->doc;
}

void command_title(const struct command *c, struct text *t)
{
	text_add(t, "%s", command_name(c));
	if (c->verb)
		text_add(t, " %s", c->verb);
}

const struct command *command_find(const char *name, const char *verb)
{
	for (size_t i = 0; i < n_commands; i++) {
		const struct command *c = &commands[i];

		if (str_eq(command_name(c), name) && str_eq(c->verb, verb))
			return c;
	}
	return NULL;
}

bool command_name_known(const char *name)
{
	for (size_t i = 0; i < n_commands; i++)
		if (str_eq(command_name(&commands[i]), name))
			return true;
	return false;
}

bool command_takes(const struct command *c, enum option_id o)
{
	return o < N_COMMON_OPTIONS || (c->options & OPTION(o));
}

static bool key_equal(const char *name, const char *key, size_t len)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] != key[i] && !(name[i] == '_' && key[i] == '-'))
			return false;
	return true;
}

/* The first field of an entry is its ID, which is written without a key. */
static size_t command_first_key(const struct command *c)
{
	return c->kind == ARGS_ENTRY ? 1 : 0;
}

/* "port" of "local_port" and "peer_port": what names either end of a connection. NULL: not a field of one end. */
static const char *end_key(const char *field)
{
	static const char *const ends[] = { "local_", "peer_" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (strncmp(field, ends[i], strlen(ends[i])) == 0)
			return field + strlen(ends[i]);
	return NULL;
}

uint64_t command_key_fields(const struct command *c, const char *key, size_t len)
{
	uint64_t fields = 0;

	if (!len || !c->noun || (c->kind != ARGS_FILTER && c->kind != ARGS_ENTRY))
		return 0;
	for (size_t i = command_first_key(c); i < c->noun->n_fields; i++)
		if (key_equal(c->noun->fields[i].name, key, len))
			return UINT64_C(1) << i;
	for (size_t i = 0; i < c->noun->n_fields && c->kind == ARGS_FILTER; i++) {
		const char *tail = end_key(c->noun->fields[i].name);

		if (tail && key_equal(tail, key, len))
			fields |= UINT64_C(1) << i;
	}
	return fields;
}

void command_short_keys(const struct command *c, struct text *t, const char *separator)
{
	const char *between = "";

	if (!c->noun || c->kind != ARGS_FILTER)
		return;
	for (size_t i = 0; i < c->noun->n_fields; i++) {
		const char *tail = end_key(c->noun->fields[i].name);
		uint64_t fields = tail ? command_key_fields(c, tail, strlen(tail)) : 0;

		/* Named once, at the first of its fields, and only where it says more than a field's name would. */
		if (__builtin_popcountll(fields) < 2 || (size_t)__builtin_ctzll(fields) != i)
			continue;
		text_add(t, "%s%s", between, tail);
		between = separator;
	}
}
