#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12 6.12-smcd
# timeout: 300
# cpus: 2
"""The kernel's own tool for netlink specifications (tools/net/ynl) reads and writes the running kernel by those of
kernel-patch/spec, and finds what independent tools find."""
import errno
import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
sys.path.insert(0, os.path.join(os.environ["ROOT"], "build/ynl/tools/net/ynl"))
from guest import KERNEL, ROOT, check, fail, run, same, smcctl  # noqa: E402
from lib import NlError, YnlFamily  # noqa: E402
from smcpair import pair, setup  # noqa: E402

RXE = KERNEL == "6.12"  # the stock kernel has no loopback device
FAMILIES = {}


def family(spec):
    """Read once: the tool takes seconds in a guest to start and to read a specification. Without its check of
    the schema, which takes longer still."""
    if spec not in FAMILIES:
        FAMILIES[spec] = YnlFamily(os.path.join(ROOT, f"kernel-patch/spec/{spec}.yaml"), "")
    return FAMILIES[spec]


def do(spec, operation, **attributes):
    return family(spec).do(operation, attributes)


def dump(operation):
    return family("smc_gen_netlink").dump(operation, {})


def check_ueid():
    def ids():
        return [e["entry"].rstrip() for e in dump("dump-ueid")]

    def change(operation, name):
        return do("smc_gen_netlink", operation, entry=name.ljust(32))

    same("a UEID that the helper added is in the dump", ["SMCD-TEST-UEID"], ids())
    change("add-ueid", "YNL.UEID")
    same("one that ynl added is what the helper lists", ["SMCD-TEST-UEID", "YNL.UEID"], sorted(run("ueid.py", "dump").split()))
    change("remove-ueid", "YNL.UEID")
    same("and is gone when ynl removed it", ["SMCD-TEST-UEID"], ids())
    try:
        change("remove-ueid", "YNL.UEID")
        fail("a second removal is not refused")
    except NlError as error:
        same("a second removal is refused", errno.ENOENT, error.error)


def check_namespace():
    for word, enabled in (("enable", 1), ("disable", 0)):
        do("smc_gen_netlink", f"{word}-hs-limitation")
        same(f"{word} the limitation of handshakes", [{"enabled": enabled}], dump("dump-hs-limitation"))
    same("the system EID", [e["enabled"] for e in smcctl("seid", "show")["seid"]], [bool(e["enabled"]) for e in dump("dump-seid") if e])
    info = dump("get-sys-info")[0]["sys-info"]
    same("the host's name in handshakes", run("hostname").strip(), info["local-host"].strip())


def check_traffic():
    with pair("SMC-R" if RXE else "SMC-D") as (client, server, _):
        client.sendall(b"x" * 1000)
        same("data arrives", 1000, len(server.recv(1000)))
        kind = "smcr" if RXE else "smcd"
        groups = [m[f"lgr-{kind}"] for m in dump(f"get-lgr-{kind}")]
        check(f"link groups of {kind}", groups and all(g["conns-num"] >= 1 for g in groups), groups)
        if RXE:
            links = [m["link-smcr"] for m in dump("get-link-smcr") if "link-smcr" in m]  # link groups come too
            check("a link by the name of its device", any(link["ib-dev"] == "rxe_lo" for link in links), links)
            devices = [m["dev-smcr"] for m in dump("get-dev-smcr")]
            check("the device and its port", any(d["ib-name"] == "rxe_lo" and d["port"]["valid"] for d in devices), devices)
    tech = dump("get-stats")[0]["stats"]["smcr-tech" if RXE else "smcd-tech"]
    check("bytes sent and received", tech["tx-bytes"] >= 1000 and tech["rx-bytes"] >= 1000, tech)
    check("a histogram of sizes", sum(v for v in tech["txpload-size"].values()) >= 1, tech)
    check("fallbacks can be read", isinstance(dump("get-fback-stats"), list))


def check_pnet():
    spec = "smc_pnetid"
    do(spec, "add", name="YNL1", ethname="d0")
    do(spec, "add", name="YNL1", ibname="rxe9", ibport=1)
    expected = [("YNL1", "d0", "n/a", 255), ("YNL1", "n/a", "rxe9", 1)]

    def shown():
        return sorted((e["name"], e["ethname"], e["ibname"], e["ibport"]) for e in family(spec).dump("get", {}))

    same("entries that ynl added", expected, shown())
    rows = [json.loads(line) for line in run("ueid.py", "pnet").splitlines()]
    same("are what the helper lists", expected, sorted((r["pnetid"], r["eth"], r["ib"], r["port"]) for r in rows))
    do(spec, "del", name="YNL1")
    same("deleted", [], shown())
    do(spec, "add", name="YNL2", ethname="d1")
    do(spec, "flush")
    same("flushed", [], shown())


def check_tune():
    spec, sysctls = "smc_tune", os.listdir("/proc/sys/net/smc")
    knob = do(spec, "knob-get", name="wmem")
    same("a knob", ("wmem", "number", "bytes", 65536, 65536, 16384, 1073741823, "netns", "new-sockets"),
         tuple(knob[a] for a in ("name", "type", "unit", "value", "default", "minimum", "maximum", "scope", "effect")))
    same("all knobs", sorted(sysctls), sorted(k["name"] for k in family(spec).dump("knob-get", {})))
    listeners = {group: YnlFamily(os.path.join(ROOT, f"kernel-patch/spec/{spec}.yaml"), "") for group in ("knobs", "pnet")}
    for group, listener in listeners.items():  # which takes a fresh socket each time
        listener.ntf_subscribe(group)
    do(spec, "knob-set", knob=[{"name": "wmem", "value": 131072}, {"name": "cork_mode", "value": 1}])
    same("set", 131072, do(spec, "knob-get", name="wmem")["value"])
    try:
        do(spec, "knob-set", knob=[{"name": "wmem", "value": 65536}, {"name": "rmem", "value": 1}])
        fail("a value out of range is not refused")
    except NlError as error:
        same("refused", (errno.ERANGE, "rmem: not in 16384..1073741823"), (error.error, error.nl_msg.extack["msg"]))
    do(spec, "pnet-begin")
    do(spec, "pnet-add", entry=[{"pnetid": "YNL3", "ethname": "d0"}, {"pnetid": "YNL4", "ibname": "rxe9", "ibport": 2}])
    same("entries of a commit", 2, do(spec, "pnet-commit")["entries"])
    do(spec, "pnet-del", entry=[{"ethname": "d0"}])
    same("and what is left", [{"pnetid": "YNL4", "ibname": "rxe9", "ibport": 2}],
         [entry for m in family(spec).dump("pnet-get", {}) for entry in m["entry"]])
    do(spec, "pnet-begin")
    do(spec, "pnet-abort")
    events = []
    for listener in listeners.values():
        listener.check_ntf()
        events += [(event["name"], event["msg"]) for event in listener.async_msg_queue]
    same("events", ["knob-ntf", "pnet-ntf", "pnet-ntf"], [name for name, _ in events])
    same("of the set", [("cork_mode", 0, 1), ("wmem", 65536, 131072)],
         sorted((c["name"], c["old-value"], c["value"]) for c in events[0][1]["change"]))
    same("of the table", ["replace", "delete"], [message["action"] for _, message in events[1:]])
    do(spec, "knob-set", knob=[{"name": "wmem", "value": 65536}, {"name": "cork_mode", "value": 0}])
    with pair("SMC-D") as (client, server, _):
        client.send(b"x", 0x8000)  # MSG_MORE
        client.send(b"y")
        server.recv(2)
        pools = family(spec).dump("pool-get", {})
        check("pools", any(p["transport"] == "smcd" and p["in-use"] for p in pools), pools)
    tx = do(spec, "tx-get")
    same("a held write and what sent it", (1, 1, 2), (tx["corked-more"], tx["flush-write"], tx["flush-bytes"]))
    check("handshakes", all(r["established"] for r in do(spec, "handshake-get")["role"]))


def main():
    setup(rxe=RXE)
    check_ueid()
    check_namespace()
    check_traffic()
    check_pnet()
    if not RXE:
        check_tune()


main()
