/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fake kernel of an era with the object that talks to it, for the unit tests of kernel.h: ENV(v, "6.12"); */
#pragma once

#include "fake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct env {
	struct fake *f;
	struct kernel *k;
	struct err e;
};

static struct env *env_new(const char *era)
{
	struct env *v = calloc(1, sizeof(*v));

	assert_non_null(v);
	v->f = fake_new(era);
	v->k = fake_kernel(v->f, "");
	return v;
}

static void env_freep(struct env **v)
{
	if (!*v)
		return;
	kernel_free((*v)->k);
	fake_free((*v)->f);
	free(*v);
}
#define ENV(name, era) struct env *name CLEANUP(env_freep) = env_new(era)
