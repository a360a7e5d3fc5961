// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the kernel complain in the way that `what` says, to see that the harness notices. */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

static char *what = "warn";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "warn, oops, hang (10 s in state D) or freeze (all CPUs, for good)");

static int stand_still(void *unused)
{
	for (;;)
		cpu_relax();
	return 0;
}

static int __init splat_init(void)
{
	if (!strcmp(what, "warn"))
		WARN(1, "planted\n");
	else if (!strcmp(what, "oops"))
		*(volatile int *)8 = 1;
	else if (!strcmp(what, "hang"))
		schedule_timeout_uninterruptible(10 * HZ);
	else if (!strcmp(what, "freeze"))
		stop_machine(stand_still, NULL, cpu_online_mask);
	else
		return -EINVAL;
	return 0;
}

static void __exit splat_exit(void)
{
}

module_init(splat_init);
module_exit(splat_exit);
MODULE_DESCRIPTION("Planted kernel complaints");
MODULE_LICENSE("GPL");
