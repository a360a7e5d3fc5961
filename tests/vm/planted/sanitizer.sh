#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL sanitizer report in daemon.log: ERROR: AddressSanitizer: heap-use-after-free
echo "==7==ERROR: AddressSanitizer: heap-use-after-free" > "$RESULTS/daemon.log"
