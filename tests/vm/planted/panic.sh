#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL kernel panic: Kernel panic - not syncing: sysrq triggered crash
echo c > /proc/sysrq-trigger
