#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 100
# end-grace: 90
# cpus: 2
# fault: 44
# unpatched: hung task|hang: the guest did not end within .* after its verdict
"""A guest is powered off while connections of SMC-R with both ends in it are being closed, because their process was
killed. That the guest ends is what is tested."""
import contextlib
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check  # noqa: E402
from smcpair import pair, setup  # noqa: E402

PAIRS = 10

setup(rxe=True)
ready, into = os.pipe()
child = os.fork()
if not child:
    with contextlib.ExitStack() as pairs:
        for i in range(PAIRS):
            pairs.enter_context(pair("SMC-R", 41000 + i))
        os.write(into, b"x")
        time.sleep(3600)
check(f"{PAIRS} connections", os.read(ready, 1) == b"x")
os.kill(child, signal.SIGKILL)
