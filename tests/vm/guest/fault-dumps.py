#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# fault: 11
# unpatched: the loopback device is listed: expected
"""Dumps over netlink: loopback is one of the SMC-D devices; a namespace sees the link groups that its connections use and
no others; and a dump that is interrupted by a change says so."""
import ctypes
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, run, same, smcctl  # noqa: E402
from netlink import NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, Generic, attributes  # noqa: E402
from smcpair import pair, setup  # noqa: E402

GET_LGR_SMCR, GET_LINK_SMCR, GET_LGR_SMCD, GET_DEV_SMCD, GET_DEV_SMCR = 2, 3, 4, 5, 6
DEV_SMCD = 5
USE_CNT, PCI_FID, PCI_CHID, PCI_VENDOR, PCI_DEVICE, PCI_ID, DEV_PORT = 1, 3, 4, 5, 6, 7, 8
PORT_PNETID = 2
PNET_GET = 1
NLM_F_DUMP_INTR = 16
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
ENTRIES, DEVICES = 120, 40  # more than the first message takes
FIRST = 4096  # bytes to receive; the kernel fills so much while the dump is being asked for


def number(data):
    return int.from_bytes(data, sys.byteorder)


def count(command):
    return len(Generic("SMC_GEN_NETLINK").command(command, dump=True))


def in_namespace(function):
    """What a function returns in a new network namespace; a number below 256."""
    child = os.fork()
    if not child:
        if libc.unshare(CLONE_NEWNET):
            os._exit(255)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        os._exit(function())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def interrupted(family, command, change):
    """(messages, was one of them marked) of a dump during which a change is made, after the first part of it."""
    netlink = Generic(family)
    sock = netlink.socket
    sock.send(struct.pack("=IHHII", 20, netlink.family, NLM_F_REQUEST | NLM_F_DUMP, 77, 0) + struct.pack("=BBH", command, 1, 0))
    change()
    messages, marked = 0, False
    while True:
        data = sock.recv(FIRST)
        while len(data) >= 16:
            length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", data)
            data = data[(length + 3) & ~3:]
            if sequence != 77:
                continue
            marked |= bool(flags & NLM_F_DUMP_INTR)
            if kind == NLMSG_DONE:
                return messages, marked
            messages += 1


def check_loopback():
    run("ueid.py", "pnet-add", "NETLO", "-", "loopback-ism", "1")
    devices = [attributes(answer[DEV_SMCD]) for answer in Generic("SMC_GEN_NETLINK").command(GET_DEV_SMCD, dump=True)]
    same("the loopback device is listed", ["loopback-ism"], [d[PCI_ID].split(b"\0")[0].decode() for d in devices])
    same("with the CHID that says what it is", 0xffff, number(devices[0][PCI_CHID]))
    same("and as no PCI device", [0, 0, 0], [number(devices[0][a]) for a in (PCI_FID, PCI_VENDOR, PCI_DEVICE)])
    same("its PNET ID", b"NETLO", attributes(devices[0][DEV_PORT])[PORT_PNETID].split(b"\0")[0])
    run("ueid.py", "pnet-del", "NETLO")
    shown = [d for d in smcctl("devices", "show")["devices"] if d["tech"] == "smcd"]
    same("smcctl shows it", ["loopback-ism"], [d["pci_id"] for d in shown])


def own():
    """Link groups that a namespace with a connection sees."""
    with pair():
        return count(GET_LGR_SMCD)


def check_namespaces(transport, groups, commands):
    with pair(transport):
        for command in commands:
            check(f"{transport}: dump {command} of the initial namespace", count(command) >= groups, count(command))
            same(f"{transport}: dump {command} of another namespace", 0, in_namespace(lambda c=command: count(c)))
        if transport == "SMC-D":
            # Two if the ends use one each; they may also share one.
            check("a namespace sees the link groups of its own connections", 1 <= in_namespace(own) <= groups)


def check_interruption():
    def names():
        return [row for row in run("ueid.py", "pnet").splitlines() if '"NETI"' in row]

    for i in range(ENTRIES):
        Generic("SMC_PNETID").command(2, b"\x09\0\x01\0NETI\0\0\0\0" + struct.pack("=HH", 10, 2) + b"n%04d\0\0\0" % i)
    same("entries of the pnet table", ENTRIES, len(names()))
    same("a dump beside which nothing changes", False, interrupted("SMC_PNETID", PNET_GET, lambda: None)[1])
    messages, marked = interrupted("SMC_PNETID", PNET_GET, lambda: run("ueid.py", "pnet-add", "NETJ", "n9999"))
    check("a dump during which an entry is made says so", marked, messages)
    messages, marked = interrupted("SMC_PNETID", PNET_GET, lambda: run("ueid.py", "pnet-del", "NETI"))
    check("and one during which entries are deleted", marked, messages)
    check("which left out some", messages < ENTRIES, messages)

    run("modprobe", "dummy")
    for i in range(DEVICES):
        run("ip", "link", "add", f"d{i}", "type", "dummy")
        run("rdma", "link", "add", f"rxe{i}", "type", "rxe", "netdev", f"d{i}")
    same("a dump of devices", (DEVICES + 1, False), interrupted("SMC_GEN_NETLINK", GET_DEV_SMCR, lambda: None))
    messages, marked = interrupted("SMC_GEN_NETLINK", GET_DEV_SMCR, lambda: run("rdma", "link", "del", "rxe0"))
    check("a dump of devices during which one goes says so", marked, messages)
    same("smcctl shows the devices", DEVICES, len([d for d in smcctl("devices", "show")["devices"] if d["tech"] == "smcr"]))


def main():
    setup()
    check_loopback()
    check_namespaces("SMC-D", 2, [GET_LGR_SMCD])
    setup(rxe=True)
    check_namespaces("SMC-R", 2, [GET_LGR_SMCR, GET_LINK_SMCR])
    check_interruption()


main()
