#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: skip SKIP: there is no such hardware
. "$ROOT/tests/vm/lib.sh"
skip "there is no such hardware"
