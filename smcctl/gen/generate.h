/* SPDX-License-Identifier: GPL-2.0-or-later */
/* generate.h - the generator's parts: what is written from which table. */
#pragma once

#include "smcctl.h"

/* man.c: parts of manual pages */
void man_commands(struct text *t);
void man_filters(struct text *t);
void man_options(struct text *t);
void man_exit_codes(struct text *t);
void man_knobs(struct text *t);
void man_fields(struct text *t);
void man_events(struct text *t);
void man_counters(struct text *t);
void man_reasons(struct text *t);
void man_methods(struct text *t);
void man_metrics(struct text *t);
void man_policy_knobs(struct text *t);

/* One item of a list of options; letter 0: none, arg NULL: takes none. */
void man_option(char letter, const char *name, const char *arg, const char *doc, struct text *t);

/* smcd_options.c */
void man_smcd_options(struct text *t);

/* bash.c */
void bash_completion(struct text *t);
