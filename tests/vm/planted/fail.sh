#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL exit status 1: FAIL: one and one: expected '3', found '2'
. "$ROOT/tests/vm/lib.sh"
same "one and one" 3 2
