#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL sanitizer report in output.log: runtime error: signed integer overflow
echo "lib/knob.c:1:2: runtime error: signed integer overflow"
