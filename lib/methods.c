// SPDX-License-Identifier: GPL-2.0-or-later
#include "methods.h"

#include "metrics.h"

/* clang-format off */
#define NETNS { "netns", "?string" }
#define PNET_PARAMS { NETNS, { "id", "string" }, { "interface", "?string" }, { "rdma", "?string" }, { "port", "?int" } }

const struct method methods[N_METHODS] = {
	[METHOD_GET_STATUS] = { "GetStatus", ACCESS_READ, { { 0 } }, "status: Status",
		"What smcd knows of itself, of the kernel and of the policy" },
	[METHOD_LIST_KNOBS] = { "ListKnobs", ACCESS_READ, { NETNS, { "names", "?[]string" } }, "netns: string, knobs: []Knob",
		"Knobs with their values in the running kernel; all, or those named" },
	[METHOD_SET_KNOBS] = { "SetKnobs", ACCESS_WRITE, { NETNS, { "values", "[string]string" }, { "save", "?bool" } },
		"netns: string, knobs: []Knob",
		"Override knobs until reboot or reset, all or none; values as people write them. With save also for later boots" },
	[METHOD_RESET_KNOBS] = { "ResetKnobs", ACCESS_WRITE, { NETNS, { "names", "[]string" }, { "to_default", "?bool" }, { "save", "?bool" } },
		"netns: string, knobs: []Knob",
		"Back to the policy's value, or to the kernel's default. With save the knobs are also taken out of the saved policy" },
	[METHOD_GET_STATS] = { "GetStats", ACCESS_READ, { NETNS }, "netns: string, stats: []Stats",
		"Counters: one record for each technology and one (tech null) for what is not split" },
	[METHOD_LIST_NOUN] = { "ListNOUN", ACCESS_READ, { NETNS }, NULL, NULL },
	[METHOD_GET_METRICS] = { "GetMetrics", ACCESS_READ, { NETNS }, "netns: string, metrics: string",
		"The exposition in Prometheus' text format 0.0.4" },
	[METHOD_GET_POLICY] = { "GetPolicy", ACCESS_READ, { { 0 } }, "files: []string, settings: []Setting",
		"The policy in force: every setting with the file and line it comes from" },
	[METHOD_EXPLAIN_CODE] = { "ExplainCode", ACCESS_READ, { { "code", "string" } }, "reason: Reason",
		"What a fallback code (0x03030000 or NOSMCDEV) means and what to do" },
	[METHOD_ADD_PNET] = { "AddPnet", ACCESS_WRITE, PNET_PARAMS, "",
		"Add an entry to the pnet table" },
	[METHOD_DELETE_PNET] = { "DeletePnet", ACCESS_WRITE, PNET_PARAMS, "",
		"Delete one entry, or with the id alone all entries of it" },
	[METHOD_FLUSH_PNET] = { "FlushPnet", ACCESS_WRITE, { NETNS }, "",
		"Delete all entries of the pnet table" },
	[METHOD_REPLACE_PNET] = { "ReplacePnet", ACCESS_WRITE, { NETNS, { "entries", "[]PnetEntry" } }, "",
		"Let these entries, of one target each, take the place of the whole pnet table, all at a time; needs smc_tune" },
	[METHOD_ADD_UEID] = { "AddUeid", ACCESS_WRITE, { { "eid", "string" } }, "",
		"Add a user-defined enterprise ID" },
	[METHOD_DELETE_UEID] = { "DeleteUeid", ACCESS_WRITE, { { "eid", "string" } }, "",
		"Delete a user-defined enterprise ID" },
	[METHOD_FLUSH_UEID] = { "FlushUeid", ACCESS_WRITE, { { 0 } }, "",
		"Delete all user-defined enterprise IDs" },
	[METHOD_SET_SEID] = { "SetSeid", ACCESS_WRITE, { { "enabled", "bool" } }, "",
		"Offer the system enterprise ID to peers or not" },
	[METHOD_RELOAD] = { "Reload", ACCESS_WRITE, { { 0 } }, "",
		"Read the policy again and apply it; an invalid one changes nothing" },
};
/* clang-format on */

/* Records that no noun's table describes. */
static const char *const record_types[] = {
	"type Status (version: string, netns: string, kernel: KernelState, policy: PolicyState)",
	"type KernelState (smc: ?bool, pnetid: ?bool, sysctl: ?bool, tune: ?bool, message: string)",
	"type PolicyState (files: []string, ok: bool, message: string, problems: []string, generation: int, settings: "
	"int, "
	"unsupported: []string, overrides: []Override, last_apply: ?string)",
	"type Override (netns: string, name: string, value: string, saved: bool)",
	"type Setting (netns: string, pointer: string, value: string, file: string, line: int, column: int, state: "
	"string)",
	"type Knob (name: string, supported: bool, value: ?object, unit: string, default: ?object, min: ?int, max: "
	"?int, "
	"choices: ?[]string, scope: string, takes_effect: string, surface: ?string, source: string, expected_smcd: "
	"?int, "
	"expected_smcr: ?int, known: bool, read_only: bool, doc: string)",
	"type Bucket (le: ?int, count: int)",
	"type Reason (code: string, name: ?string, meaning: ?string, action: ?string)",
	"type Totals (client: int, server: int)",
};

static const char *const errors[] = {
	"error NoSuchKnob (name: string, suggestion: ?string)",
	"error OutOfRange (name: string, allowed: string, message: string)",
	"error Unsupported (name: string, message: string)",
	"error Kernel (errno: int, errno_name: string, message: string, extended_ack: ?string)",
	"error NoSuchNamespace (netns: string, message: string)",
	"error PolicyInvalid (problems: []string)",
};

const struct method *method_find(const char *name, const struct noun **ret_noun)
{
	for (size_t i = 0; i < N_NOUNS; i++)
		if (str_eq(nouns[i].method, name)) {
			*ret_noun = &nouns[i];
			return &methods[METHOD_LIST_NOUN];
		}
	for (size_t i = 0; i < N_METHODS; i++)
		if (i != METHOD_LIST_NOUN && str_eq(methods[i].name, name)) {
			*ret_noun = NULL;
			return &methods[i];
		}
	return NULL;
}

static const char *varlink_type(enum value_type type)
{
	switch (type) {
	case TYPE_COUNT:
	case TYPE_SIZE:
	case TYPE_SECONDS:
	case TYPE_MSECONDS:
		return "?int";
	case TYPE_BOOL:
		return "?bool";
	case TYPE_CHOICE:
	case TYPE_STRING:
	case TYPE_HEX32:
	case TYPE_HEX64:
		return "?string";
	}
	return "?object";
}

static void describe_noun(const struct noun *n, struct text *t)
{
	text_add(t, "# %s\ntype %s (\n", n->doc, n->type);
	for (size_t i = 0; i < n->n_fields; i++)
		text_add(t, "  # %s\n  %s: %s%s\n", n->fields[i].doc, n->fields[i].name,
			 varlink_type(n->fields[i].spec.type), i + 1 < n->n_fields ? "," : "");
	text_add(t, ")\n\n");
}

/* Handshake errors are not split by technology and the rest is: every member is optional. */
static void describe_stats(struct text *t)
{
	text_add(t, "# Counters; null: not counted by this kernel, or not in this record\ntype Stats (\n  tech: "
		    "?string");
	for (size_t i = 0; i < n_stats; i++) {
		text_add(t, ",\n  # %s\n", metrics[stats_table[i].metric].help);
		text_add(t, "  %s: %s", stats_table[i].key, stats_table[i].histogram ? "?[]Bucket" : "?int");
	}
	text_add(t, "\n)\n\n");
}

static void describe_params(const struct param *p, size_t n, struct text *t)
{
	for (size_t i = 0; i < n && p[i].name; i++)
		text_add(t, "%s%s: %s", i ? ", " : "", p[i].name, p[i].type);
}

static void describe_method(const char *name, const struct method *m, const char *doc, struct text *t)
{
	text_add(t, "# %s%s\nmethod %s(", doc, m->access == ACCESS_WRITE ? " (needs write access)" : "", name);
	describe_params(m->in, ARRAY_SIZE(m->in), t);
	text_add(t, ") -> (");
}

void methods_describe(struct text *t)
{
	text_add(t, "# Management of SMC (Shared Memory Communications) on this host\ninterface " SMCD_INTERFACE "\n"
		    "\n");
	for (size_t i = 0; i < N_NOUNS; i++) {
		describe_noun(&nouns[i], t);
		for (size_t p = 0; p < nouns[i].n_parts; p++)
			describe_noun(&nouns[i].parts[p], t);
	}
	describe_stats(t);
	for (size_t i = 0; i < ARRAY_SIZE(record_types); i++)
		text_add(t, "%s\n\n", record_types[i]);
	for (size_t i = 0; i < N_NOUNS; i++) {
		describe_method(nouns[i].method, &methods[METHOD_LIST_NOUN], nouns[i].doc, t);
		text_add(t, "netns: string, %s: []%s", nouns[i].name, nouns[i].type);
		for (size_t p = 0; p < nouns[i].n_parts; p++)
			text_add(t, ", %s: []%s", nouns[i].parts[p].name, nouns[i].parts[p].type);
		text_add(t, ", incomplete: bool%s)\n\n", i == NOUN_FALLBACKS ? ", totals: Totals" : "");
	}
	for (size_t i = 0; i < N_METHODS; i++) {
		if (i == METHOD_LIST_NOUN)
			continue;
		describe_method(methods[i].name, &methods[i], methods[i].doc, t);
		text_add(t, "%s)\n\n", methods[i].out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		text_add(t, "%s\n", errors[i]);
}
