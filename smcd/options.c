/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - see options.h. */
#include <getopt.h>
#include <stddef.h>

#include "methods.h"
#include "options.h"

const struct smcd_option smcd_options[] = {
	{ "check", "FILE", "validate the policy file and exit: 0 valid, 1 not", KIND_STRING,
	  offsetof(struct options, check) },
	{ "reload", NULL, "make the running smcd reload its policy and exit: 0 applied, 1 not", KIND_FLAG,
	  offsetof(struct options, reload) },
	{ "policy", "FILE", "read this policy file instead of the installed layers", KIND_STRING,
	  offsetof(struct options, policy) },
	{ "policy-dir", "DIR", "read DIR/*.json after it, and save settings there", KIND_STRING,
	  offsetof(struct options, policy_dir) },
	{ "state-dir", "DIR", "keep state.json here (" SMCD_RUN_DIR ")", KIND_STRING,
	  offsetof(struct options, state_dir) },
	{ "socket", "PATH", "listen here, or with --reload connect (" SMCD_SOCKET ")", KIND_STRING,
	  offsetof(struct options, socket) },
	{ "netns-helper", "PATH", "program or socket that opens other network namespaces", KIND_STRING,
	  offsetof(struct options, netns_helper) },
	{ "admin-group", "GROUP", "members may change things, as root may", KIND_STRING,
	  offsetof(struct options, admin_group) },
	{ "help", NULL, "show this", KIND_HELP, 0 },
	{ "version", NULL, "show the version", KIND_VERSION, 0 },
};
const size_t n_smcd_options = ARRAY_SIZE(smcd_options);

void options_help(FILE *out)
{
	fprintf(out,
		"Usage: smcd [OPTION]...\n"
		"Applies the policy for SMC (Shared Memory Communications) and answers smcctl. See smcd.service(8).\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(smcd_options); i++) {
		char head[40];

		snprintf(head, sizeof(head), "--%s%s%s", smcd_options[i].name, smcd_options[i].arg ? "=" : "",
			 smcd_options[i].arg ?: "");
		fprintf(out, "  %-22s  %s\n", head, smcd_options[i].doc);
	}
}

static enum options_result wrong(void)
{
	fprintf(stderr, "smcd: see smcd --help\n");
	return OPTIONS_WRONG;
}

/* OPTIONS_RUN: go on with the next one. */
static enum options_result take(const struct smcd_option *row, const char *arg, struct options *o)
{
	void *place = (char *)o + row->offset;

	switch (row->kind) {
	case KIND_HELP:
		options_help(stdout);
		return OPTIONS_DONE;
	case KIND_VERSION:
		printf("smcd " SMCD_VERSION "\n");
		return OPTIONS_DONE;
	case KIND_FLAG:
		*(bool *)place = true;
		return OPTIONS_RUN;
	case KIND_STRING:
		if (!*arg) {
			fprintf(stderr, "smcd: --%s: %s is empty\n", row->name, row->arg);
			return wrong();
		}
		*(const char **)place = arg;
		return OPTIONS_RUN;
	}
	return OPTIONS_WRONG;
}

enum options_result options_parse(int argc, char **argv, struct options *ret)
{
	struct option longs[ARRAY_SIZE(smcd_options) + 1] = { { 0 } };
	enum options_result r = OPTIONS_RUN;
	struct options o = { 0 };
	int index, c;

	for (size_t i = 0; i < ARRAY_SIZE(smcd_options); i++)
		longs[i] = (struct option){ smcd_options[i].name, smcd_options[i].arg ? required_argument : no_argument,
					    NULL, 1 };
	while (r == OPTIONS_RUN && (c = getopt_long(argc, argv, "", longs, &index)) != -1)
		r = c == 1 ? take(&smcd_options[index], optarg, &o) : wrong();
	if (r == OPTIONS_RUN && optind < argc) {
		char shown[4 * SHOWN_MAX + 4];

		fprintf(stderr, "smcd: unexpected argument '%s'\n", safe_str(shown, sizeof(shown), argv[optind]));
		r = wrong();
	}
	if (r == OPTIONS_RUN)
		*ret = o;
	return r;
}
