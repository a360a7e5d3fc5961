#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL kernel (panic|oops): .*
insmod "$ROOT/build/vm/splat/splat.ko" what=oops
