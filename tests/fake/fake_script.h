/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_script.h - between the fake kernel's state and its language. */
#pragma once

#include "fake_priv.h"

/* Carry one line out; aborts when it is wrong. The line is taken apart in place. */
void fake_line(struct fake *f, char *line);
void fake_boot(struct fake *f, const char *era);
void fake_module_unload(struct fake *f);
struct fake_netns *fake_ns_create(struct fake *f, const char *netns);
