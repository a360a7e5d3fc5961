// SPDX-License-Identifier: GPL-2.0-or-later
/* smcd_options.c - smcd's options for its manual page, from the daemon's own table. */
#include "generate.h"
#include "options.h"

void man_smcd_options(struct text *t)
{
	for (size_t i = 0; i < n_smcd_options; i++)
		man_option(0, smcd_options[i].name, smcd_options[i].arg, smcd_options[i].doc, t);
}
