// SPDX-License-Identifier: GPL-2.0-or-later
/* smcd_options.c - smcd's options for its manual page. Their table is static in smcd/options.c: so it is included. */
#include "options.c"

#include "generate.h"

void man_smcd_options(struct text *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		man_option(0, rows[i].name, rows[i].arg, rows[i].doc, t);
}
