#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's kernel has no lockdep; this is what it would say.
# expect: FAIL lockdep splat: .*WARNING: possible circular locking dependency detected
echo "<4>WARNING: possible circular locking dependency detected" > /dev/kmsg
