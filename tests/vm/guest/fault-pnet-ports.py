#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# fault: 9
# unpatched: each port of an RDMA device can have an entry: expected
"""Entries of the pnet table for the ports of RDMA devices, which need not exist: one for each port; and an entry that is
refused leaves the device as it was."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import run, same  # noqa: E402
from netlink import Generic, attributes  # noqa: E402
from smcpair import setup  # noqa: E402

GET_DEV_SMCR = 6
DEV_SMCR, DEV_PORT, PORT_PNET_USR, PORT_PNETID = 6, 8, 1, 2


def table():
    return sorted((row["ib"], row["port"], row["pnetid"]) for row in map(json.loads, run("ueid.py", "pnet").splitlines()))


def add(name, device, port):
    """None, or the error's name."""
    done = subprocess.run(["ueid.py", "pnet-add", name, "-", device, str(port)], stderr=subprocess.PIPE, text=True)
    return done.stderr.split()[-1] if done.returncode else None


def live():
    """The PNET ID that the only port of rxe_lo has, and whether a user gave it."""
    answer = Generic("SMC_GEN_NETLINK").command(GET_DEV_SMCR, dump=True)[0]
    port = attributes(attributes(answer[DEV_SMCR])[DEV_PORT])
    return port[PORT_PNETID].split(b"\0")[0].decode(), port[PORT_PNET_USR][0]


def main():
    setup(rxe=True)
    run("ueid.py", "pnet-flush")
    same("the device has no ID", ("", 0), live())

    add("NETA", "absent", 1)
    add("NETB", "absent", 2)
    same("each port of an RDMA device can have an entry", [("absent", 1, "NETA"), ("absent", 2, "NETB")], table())
    same("one", "EEXIST", add("NETC", "absent", 2))
    run("ueid.py", "pnet-flush")

    same("an entry for the second port of a device", None, add("NETB", "rxe_lo", 2))
    same("is none for the first", ("", 0), live())
    same("which gets its own", None, add("NETA", "rxe_lo", 1))
    same("and has it", ("NETA", 1), live())
    same("a second one is refused", "EEXIST", add("NETC", "rxe_lo", 1))
    same("and changes nothing", ("NETA", 1), live())
    same("in the table either", [("rxe_lo", 1, "NETA"), ("rxe_lo", 2, "NETB")], table())
    run("ueid.py", "pnet-del", "NETA")
    same("deleted, it is gone from the port", ("", 0), live())
    same("the other one stayed", [("rxe_lo", 2, "NETB")], table())

    same("an entry for a device that comes later", None, add("NETL", "rxe_late", 1))
    run("rdma", "link", "del", "rxe_lo")
    run("rdma", "link", "add", "rxe_late", "type", "rxe", "netdev", "lo")
    same("applies to it", ("NETL", 1), live())


main()
