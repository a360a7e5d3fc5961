#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 3
# expect: FAIL hang: the test did not end within 3 s
echo "about to hang"
trap '' TERM
sleep 600
