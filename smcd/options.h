/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - smcd's command line: one table, which is also the help. */
#pragma once

#include "base.h"

struct options {
	const char *check;               /* validate this file and exit */
	bool reload;                     /* tell the running smcd to reload, and exit */
	const char *policy, *policy_dir; /* instead of the layers under /usr/lib, /etc and /run */
	const char *state_dir, *socket;
	const char *netns_helper, *admin_group;
};

/* The table, of which help and manual are made. */
struct smcd_option {
	const char *name, *arg, *doc; /* arg NULL: takes none */
	enum smcd_option_kind { KIND_STRING, KIND_FLAG, KIND_HELP, KIND_VERSION } kind;
	size_t offset; /* in struct options */
};
extern const struct smcd_option smcd_options[];
extern const size_t n_smcd_options;

enum options_result {
	OPTIONS_RUN,
	OPTIONS_DONE,  /* help or version was printed */
	OPTIONS_WRONG, /* a message was printed */
};

enum options_result options_parse(int argc, char **argv, struct options *ret);
/* The table as text. */
void options_help(FILE *out);
