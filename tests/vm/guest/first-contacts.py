#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
"""Many first contacts at once make one link group, and a device that goes away during handshakes leaves no handshake
stuck, and the next ones work again. Over SMC-R."""
import glob
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, run, same, wait_for  # noqa: E402
from handshakes import Many, Server, client, echoes, transports  # noqa: E402
from smcpair import setup  # noqa: E402

COUNT = 40
ROUNDS = 2
GIDS = "/sys/class/infiniband/rxe_lo/ports/1/gids/*"


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
    for number in range(ROUNDS):
        many = Many(COUNT, threads=8)
        time.sleep(0.3)
        run("rdma", "link", "del", "rxe_lo")
        many.wait(PATIENCE)
        check(f"round {number}: all handshakes end", len(many.socks) + len(many.errors) == COUNT, many.errors[:3])
        outcome = [echoes(sock) for sock in many.socks]
        ways = [way for way, _ in transports(many.socks)]
        print(f"round {number}: {outcome.count(None)} of {COUNT} work, {ways.count('TCP')} fell back, "
              f"{len(many.errors)} failed", flush=True)
        for sock in many.socks:
            sock.close()
        run("rdma", "link", "add", "rxe_lo", "type", "rxe", "netdev", "lo")
        wait_for("the device is back", lambda: any("7f00:0001" in open(gid).read() for gid in glob.glob(GIDS)))
        wait_for("SMC-R is back", lambda: transports([client()]) == [("SMC-R", None)])


main()
