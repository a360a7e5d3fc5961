#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
"""Many first contacts at once make one link group. Over SMC-R."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, same  # noqa: E402
from handshakes import Many, Server, echoes, transports  # noqa: E402
from smcpair import setup  # noqa: E402

COUNT = 40


def link_groups():
    """How many link groups there were so far, counting both sides."""
    log = subprocess.run(["dmesg"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return log.count("link added")


def main():
    setup(rxe=True)
    Server()
    many = Many(COUNT, threads=COUNT)
    check("first contacts at once", many.wait(PATIENCE), many.errors[:3])
    same("all are SMC-R", {("SMC-R", None)}, set(transports(many.socks)))
    # Each side has one of its own. A machine that needs more than two seconds for the first contact begins another; the
    # kernel logs ten at most in five seconds.
    check("link groups are few", link_groups() <= 6, link_groups())
    same("all work", [None] * COUNT, [echoes(sock) for sock in many.socks])
    for sock in many.socks:
        sock.close()


main()
