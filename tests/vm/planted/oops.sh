#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL kernel oops: .*(NULL pointer dereference|Oops).*
insmod "$ROOT/build/vm/splat/splat.ko" what=oops
