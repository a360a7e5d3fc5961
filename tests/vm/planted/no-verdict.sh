#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL no verdict: the guest ended without one
echo o > /proc/sysrq-trigger
sleep 60
