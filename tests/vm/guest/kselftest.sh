#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# The selftest that travels in the series builds with its own Makefile, and passes on the module it came with; each of its
# tests runs over SMC-D and after a fallback, none is skipped.
. "$ROOT/tests/vm/lib.sh"

need gcc make
load_smc
cp -r /lib/modules/selftests /tmp/selftests || fail "the build has no selftests"
check "it builds" make -s -C /tmp/selftests/net/smc
/tmp/selftests/net/smc/smc_stream > "$RESULTS/smc_stream.tap" 2>&1
status=$?
cat "$RESULTS/smc_stream.tap"
same "its exit status" 0 $status
tests=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$RESULTS/smc_stream.tap")
check "it has tests ($tests)" test "$tests" -ge 10
same "all have passed" "$tests" "$(grep -c '^ok [0-9]* smc\.' "$RESULTS/smc_stream.tap")"
check_fails "and none was skipped" grep -q SKIP "$RESULTS/smc_stream.tap"
