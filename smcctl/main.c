// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - smcctl, the command line of smcd. */
#include <unistd.h>

#include "smcctl.h"

int main(int argc, char **argv)
{
	const char *no_color = getenv("NO_COLOR");
	struct session s = {
		.out = stdout,
		.err = stderr,
		.tty = isatty(STDOUT_FILENO),
		.no_color = no_color && *no_color,
	};

	return ctl_run(&s, argc > 0 ? argc - 1 : 0, argv + 1);
}
