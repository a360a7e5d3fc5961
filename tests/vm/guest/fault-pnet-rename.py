#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# fault: 10
# unpatched: an entry follows its device: expected
"""The pnet table and the names of network devices: an entry follows its device, an entry that waits for a name gets the
device that is given this name, names that are swapped leave each device with its ID; and IDs in lower case."""
import json
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, run, same  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import IPPROTO_SMC, setup  # noqa: E402

SLOW = 0.9  # seconds; that a device is gone is announced again after one if something still refers to it
TRIES = 5


def table():
    return sorted((row["eth"], row["pnetid"]) for row in map(json.loads, run("ueid.py", "pnet").splitlines())
                  if row["eth"] != "n/a")


def rename(old, new):
    run("ip", "link", "set", old, "name", new)


def quick():
    """Does a device that has two entries go at once? At least once, the machine may be busy."""
    for _ in range(TRIES):
        run("ip", "link", "add", "d2", "type", "dummy")
        run("ip", "link", "property", "add", "dev", "d2", "altname", "second")
        begin = time.monotonic()
        run("ip", "link", "del", "d2")
        if time.monotonic() - begin < SLOW:
            return True
    return False


def transport():
    """Of a connection over lo."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 41000))
        listener.listen(1)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
            client.connect(("127.0.0.1", 41000))
            with listener.accept()[0]:
                ends = [r["transport"] for r in dump() if r["state"] == "ACTIVE" and 41000 in (r["sport"], r["dport"])]
                return ends[0] if ends else None


def main():
    setup()
    for name in "d0", "d1":
        run("ip", "link", "add", name, "type", "dummy")
        run("ueid.py", "pnet-add", "NET" + name[1], name)

    rename("d0", "d9")
    same("an entry follows its device", [("d1", "NET1"), ("d9", "NET0")], table())
    run("ueid.py", "pnet-add", "NETX", "d0")
    same("the old name can have an entry again", [("d0", "NETX"), ("d1", "NET1"), ("d9", "NET0")], table())
    check("and another one for the new name is refused",
          subprocess.run(["ueid.py", "pnet-add", "NETY", "d9"], stderr=subprocess.DEVNULL).returncode)
    run("ueid.py", "pnet-del", "netx")
    same("an ID in lower case is deleted", [("d1", "NET1"), ("d9", "NET0")], table())

    rename("d1", "d0")
    rename("d9", "d1")
    same("names that are swapped leave each device with its ID", [("d0", "NET1"), ("d1", "NET0")], table())

    run("ueid.py", "pnet-add", "NETW", "wanted")
    rename("d1", "wanted")
    same("an entry has waited for the name, and the former waits now", [("d0", "NET1"), ("d1", "NET0"), ("wanted", "NETW")],
         table())
    rename("wanted", "d2")
    same("it is the one that follows then", [("d0", "NET1"), ("d1", "NET0"), ("d2", "NETW")], table())
    run("ip", "link", "property", "add", "dev", "d2", "altname", "second")
    run("ueid.py", "pnet-add", "NETS", "second")
    rename("d2", "d3")
    same("an alternative name stays", [("d0", "NET1"), ("d1", "NET0"), ("d3", "NETW"), ("second", "NETS")], table())
    run("ip", "link", "del", "d3")
    same("the entries wait for a device", [("d0", "NET1"), ("d1", "NET0"), ("d3", "NETW"), ("second", "NETS")], table())
    run("ueid.py", "pnet-flush")

    run("ueid.py", "pnet-add", "NETS", "second")
    run("ueid.py", "pnet-add", "NETW", "d2")
    check("a device with two entries goes at once", quick())
    run("ueid.py", "pnet-flush")

    # Does an entry that has been attached by a rename have an effect? One that matches no RDMA device leaves TCP.
    setup(rxe=True)
    same("lo without an entry", "SMC-R", transport())
    run("ueid.py", "pnet-add", "NETL", "lo9")
    same("an entry for another name is none for lo", "SMC-R", transport())
    rename("lo", "lo9")
    same("renamed, it applies", "TCP", transport())
    rename("lo9", "lo8")
    same("and follows", "TCP", transport())
    same("as is shown", [("lo8", "NETL")], table())
    run("ueid.py", "pnet-del", "NETL")
    same("until it is deleted", "SMC-R", transport())


main()
