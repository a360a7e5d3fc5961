#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 6.12-smcd
# timeout: 240
"""Pnet table, UEIDs and SEID: smcctl against an independent netlink tool, both ways, with the kernel's traps."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import Smcd, check, refused, run, same, smcctl  # noqa: E402


def kernel_pnet():
    """(id, interface, rdma, port) as the independent tool reads them."""
    rows = [json.loads(line) for line in run("ueid.py", "pnet").splitlines()]
    return sorted((r["pnetid"], "" if r["eth"] == "n/a" else r["eth"], "" if r["ib"] == "n/a" else r["ib"],
                   0 if r["port"] == 255 else r["port"]) for r in rows)


def shown_pnet():
    return sorted((p["id"], p["interface"] or "", p["rdma"] or "", p["port"] or 0) for p in smcctl("pnet", "show")["pnet"])


def check_pnet():
    run("smcctl", "pnet", "add", "neta", "interface=d0")
    run("smcctl", "pnet", "add", "NETA", "interface=d1")
    run("smcctl", "pnet", "add", "NETA", "rdma=rxe9", "port=1")
    entries = [("NETA", "", "rxe9", 1), ("NETA", "d0", "", 0), ("NETA", "d1", "", 0)]
    same("entries made by smcctl are what netlink shows", entries, kernel_pnet())
    same("and what smcctl shows", entries, shown_pnet())
    run("ueid.py", "pnet-add", "NETB", "d2")
    same("an entry made by netlink is what smcctl shows", ("NETB", "d2", "", 0), shown_pnet()[-1])

    says = refused("smcctl", "pnet", "add", "NETC", "interface=d0")
    check("an interface can have one ID", "d0" in says, says)
    refused("smcctl", "pnet", "add", "NETC", "interface=d0", "rdma=rxe8", "port=1")
    check("a partial add is taken back", not [p for p in kernel_pnet() if p[0] == "NETC"], kernel_pnet())
    same("and the others stayed", [*entries, ("NETB", "d2", "", 0)], kernel_pnet())

    run("smcctl", "pnet", "delete", "neta", "interface=d0")
    same("one entry deleted, the others of its ID kept", [entries[0], entries[2], ("NETB", "d2", "", 0)], kernel_pnet())
    refused("smcctl", "pnet", "delete", "NETA", "interface=d0")
    run("smcctl", "pnet", "delete", "NETA")
    same("all entries of an ID deleted", [("NETB", "d2", "", 0)], kernel_pnet())
    refused("smcctl", "pnet", "delete", "NETA")
    for bad in ("SEVENTEENLETTERSX", "NET A", "", "NET-A"):
        says = refused("smcctl", "pnet", "add", bad, "interface=d1")
        check(f"the ID '{bad}' is refused with what is allowed", "16" in says or "alphanumeric" in says, says)
    same("refusals changed nothing", [("NETB", "d2", "", 0)], kernel_pnet())
    run("smcctl", "pnet", "flush")
    same("flushed", [], kernel_pnet())


def kernel_ueid():
    return sorted(run("ueid.py", "dump").split())


def check_ueid():
    for i in range(1, 4):
        run("smcctl", "ueid", "add", f"TEST.EID-{i}")
    run("ueid.py", "add", "BY-NETLINK")
    four = sorted(["TEST.EID-1", "TEST.EID-2", "TEST.EID-3", "BY-NETLINK"])
    same("UEIDs made by smcctl and by netlink", four, kernel_ueid())
    same("are what smcctl shows", four, sorted(u["eid"] for u in smcctl("ueid", "show")["ueid"]))
    says = refused("smcctl", "ueid", "add", "FIFTH")
    check("at most four", "4" in says or "four" in says, says)
    run("smcctl", "ueid", "delete", "BY-NETLINK")
    same("one deleted", four[1:], kernel_ueid())
    refused("smcctl", "ueid", "delete", "BY-NETLINK")
    says = refused("smcctl", "ueid", "add", "TEST.EID-1")
    check("an existing UEID is said to exist", "TEST.EID-1" in says, says)
    for bad in ("A" * 33, "lower", "-LEADING", "SP ACE", "Ü"):
        refused("smcctl", "ueid", "add", "--", bad)
    same("refusals changed nothing", four[1:], kernel_ueid())
    run("smcctl", "ueid", "flush")
    same("flushed", [], kernel_ueid())


def check_seid():
    # Without a device of ISM v2 there is none (loopback is one); off s390 the kernel refuses to switch it.
    words = run("ueid.py", "seid").split()
    expected = [] if words == ["none"] else [(" ".join(words[:-1]), words[-1] == "on")]
    same("the SEID and its state", expected, [(r["eid"].strip(), r["enabled"]) for r in smcctl("seid", "show")["seid"]])
    says = refused("smcctl", "seid", "enable")
    check("enabling it off s390 says what is missing", "s390" in says or "not supported" in says, says)


def check_privilege():
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run([*nobody, "smcctl", "--direct", "ueid", "show"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    same("reading the kernel needs no privilege", 0, done.returncode)
    done = subprocess.run([*nobody, "smcctl", "ueid", "add", "NOBODY"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    same("writing does", 77, done.returncode)
    same("and nothing was written", [], kernel_ueid())


def main():
    for i in range(4):
        run("ip", "link", "add", f"d{i}", "type", "dummy")
    with Smcd():
        check_pnet()
        check_ueid()
        check_seid()
        check_privilege()


main()
