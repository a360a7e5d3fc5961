#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 1
# fault: 21
# unpatched: SMC-D: RTNL taken for 30 connections: expected 0, found [1-9]
"""Looking for the devices of a connection takes neither RTNL nor the mutexes of the lists of devices and of the pnet
table: every call of mutex_lock() from the module is looked at while connections are made, over SMC-D and over SMC-R.
Then the same beside devices, names and pnet entries that come and go: each connection is made, and works."""
import collections
import os
import re
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, fail, run, same  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import IPPROTO_SMC, receive, setup, shell  # noqa: E402

CONNECTIONS = 30
SECONDS = 4
PORT = 41000
TRACING = "/sys/kernel/tracing"
LISTS = {"RTNL": "rtnl_mutex", "the list of SMC-D devices": "smcd_dev_list", "the list of RDMA devices": "smc_ib_devices"}
LOOKUP = re.compile(r"_?_?(smc_)?pnet_")  # the lock of a pnet table has no name of its own


def tracing(name, text):
    with open(f"{TRACING}/{name}", "w") as file:
        file.write(text)


def connect(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(1)
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", port))
        return client, listener.accept()[0]


def exchange(port):
    client, server = connect(port)
    with client, server:
        client.sendall(b"word")
        if receive(server, 4) != b"word":
            fail("another word arrives than was sent")
        return sorted(r["transport"] for r in dump() if port in (r["sport"], r["dport"]) and r["state"] == "ACTIVE")


def locks(transport, port):
    """How often the module takes each lock of the lookups while connections are made."""
    open_ones = [connect(port)]  # first contact
    tracing("trace", "")
    tracing("tracing_on", "1")
    open_ones += [connect(port) for _ in range(CONNECTIONS)]
    tracing("tracing_on", "0")
    with open(f"{TRACING}/trace", errors="replace") as file:
        calls = re.findall(r"lock=(\S+).* caller=(\S+ \[smc\])", file.read())
    found = collections.Counter()
    for lock, caller in calls:
        names = [name for name, symbol in LISTS.items() if lock.split("+")[0] == symbol]
        if names or LOOKUP.match(caller):
            found[names[0] if names else "a pnet table"] += 1
    print(transport, len(calls), "calls of mutex_lock() by the module,", dict(found), flush=True)
    check(f"{transport}: the trace shows the module's locks", calls)
    ends = [r["transport"] for r in dump() if port in (r["sport"], r["dport"]) and r["state"] == "ACTIVE"]
    same(f"{transport}: all connections are", [transport] * 2 * (CONNECTIONS + 1), ends)
    for name in [*LISTS, "a pnet table"]:
        same(f"{transport}: {name} taken for {CONNECTIONS} connections", 0, found[name])
    for ends in open_ones:
        for end in ends:
            end.close()


def change(end):
    """What connections look at, changed all the time."""
    commands = ["ip link set d0 name d1", "ip link set d1 name d0", "ueid.py pnet-add NETA d0", "ueid.py pnet-add NETB lo",
                "rdma link add rxe_d0 type rxe netdev d0", "ueid.py pnet-add NETC - rxe_d0 1", "rdma link del rxe_d0",
                "ip link add link d0 name d0.7 type vlan id 7", "ueid.py pnet-del NETB", "ip link del d0.7",
                "ueid.py pnet-del NETC", "ueid.py pnet-del NETA"]
    rounds = 0
    while time.monotonic() < end or not rounds:
        for command in commands:
            run(*command.split())
        rounds += 1
    print(f"{rounds} rounds of {len(commands)} changes", flush=True)


def main():
    setup()
    if not os.path.exists(f"{TRACING}/kprobe_events"):
        subprocess.run(["mount", "-t", "tracefs", "none", TRACING], check=True)
    tracing("tracing_on", "0")
    tracing("kprobe_events", "p:smcd/mutex mutex_lock lock=%di:symbol caller=$stack0:symbol\n")
    tracing("buffer_size_kb", "16384")
    tracing("events/smcd/mutex/enable", "1")
    locks("SMC-D", PORT)
    setup(rxe=True)
    locks("SMC-R", PORT + 1)
    tracing("events/smcd/mutex/enable", "0")

    shell("modprobe dummy; ip link add d0 type dummy && ip link set d0 up; ip link set d0 down")
    thread = threading.Thread(target=change, args=(time.monotonic() + SECONDS,))
    thread.start()
    made = collections.Counter()
    while thread.is_alive():
        made[tuple(exchange(PORT + 2 + sum(made.values()) % 100))] += 1
    thread.join()
    print("connections made meanwhile:", dict(made), flush=True)
    same("afterwards a connection is SMC-R", ["SMC-R"] * 2, exchange(PORT))


main()
