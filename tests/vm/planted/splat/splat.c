// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the kernel complain in the way that `what` says, to see that the harness notices. */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/timer.h>

static char *what = "warn";
module_param(what, charp, 0);
MODULE_PARM_DESC(
	what,
	"warn, oops, hang (10 s in state D), freeze (all CPUs, for good) or one of those for a kernel that looks: "
	"use-after-free, lock-order, atomic-sleep, shift, freed-timer, leak");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spinlock);

static void use_after_free(void)
{
	volatile char *memory = kmalloc(64, GFP_KERNEL);

	kfree((void *)memory);
	memory[8] = 1;
}

static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void atomic_sleep(void)
{
	spin_lock(&spinlock);
	mutex_lock(&first);
	mutex_unlock(&first);
	spin_unlock(&spinlock);
}

static void bad_shift(void)
{
	static volatile int width = 40, number = 1;

	number <<= width;
}

static void on_timer(struct timer_list *timer)
{
}

static void freed_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	timer_setup(timer, on_timer, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	kfree(timer);
}

static void leak(void)
{
	for (int i = 0; i < 10; i++)
		memset(kmalloc(1000, GFP_KERNEL), i, 1000);
}

static const struct {
	const char *what;
	void (*call)(void);
} looked_for[] = {
	{ "use-after-free", use_after_free }, { "lock-order", lock_order },
	{ "atomic-sleep", atomic_sleep },     { "shift", bad_shift },
	{ "freed-timer", freed_timer },       { "leak", leak },
};

static int stand_still(void *unused)
{
	for (;;)
		cpu_relax();
	return 0;
}

static int __init splat_init(void)
{
	for (int i = 0; i < ARRAY_SIZE(looked_for); i++) {
		if (!strcmp(what, looked_for[i].what)) {
			looked_for[i].call();
			return 0;
		}
	}
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
