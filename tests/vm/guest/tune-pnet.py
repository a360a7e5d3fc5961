#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
"""The pnet table by smc_tune: exact delete, transactions (commit, abort, closed socket, refusals), renamed devices, the group
`pnet` whoever changes the table, 10,000 entries, what a namespace of a user without privilege outside may do."""
import errno
import os
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, fail, run, same  # noqa: E402
from netlink import NLM_F_ACK, Generic, attributes  # noqa: E402
from smcpair import setup  # noqa: E402
from tune import COMMANDS, Listener, Tune, encode, in_container, of_command  # noqa: E402

ADD, DELETE, FLUSH, REPLACE, RENAME, ATTACH, DETACH = range(7)
MANY, BATCH = 10000, 128
MANY_SECONDS = 2.0 * int(os.environ.get("SLOWNESS", "1"))  # ten times what is wanted; the time itself is printed


def table(tune):
    return sorted((e["pnetid"], e.get("ethname") or f"{e['ibname']}/{e['ibport']}") for m in tune.dump("pnet-get")
                  for e in m["entry"])


def attached(tune):
    return {e["ethname"] for m in tune.dump("pnet-get") for e in m["entry"] if "ifindex" in e}


def eth(pnetid, name):
    return {"pnetid": pnetid, "ethname": name}


def device(pnetid, name, port=1):
    return {"pnetid": pnetid, "ibname": name, "ibport": port}


def replace(tune, *entries):
    tune.do("pnet-begin")
    if entries:
        tune.do("pnet-add", entry=list(entries))
    return tune.do("pnet-commit")


def refusal(command, tune, **values):
    try:
        tune.do(command, **values)
    except OSError as error:
        return error.errno
    return fail(f"not refused: {command} {values}")


def loopback_id():
    """The PNET ID of the loopback device, by the other family."""
    answer = Generic("SMC_GEN_NETLINK").command(5, dump=True)[0]
    return attributes(attributes(answer[5])[8])[2].rstrip(b"\0").decode().strip()


def check_delete(tune):
    for entry in eth("NET1", "d0"), eth("NET1", "d1"), eth("NET1", "later"):
        run("ueid.py", "pnet-add", entry["pnetid"], entry["ethname"])
    run("ueid.py", "pnet-add", "NET1", "-", "loopback-ism", "1")
    four = [("NET1", "d0"), ("NET1", "d1"), ("NET1", "later"), ("NET1", "loopback-ism/1")]
    same("what SMC_PNETID added", four, table(tune))
    same("those of devices that are there", {"d0", "d1"}, attached(tune))
    same("the loopback device has it", "NET1", loopback_id())
    for what, number, entry in (("an unknown name", errno.ENOENT, {"ethname": "d7"}), ("another ID", errno.ENOENT, eth("NET2", "d0")),
                                ("another port", errno.ENOENT, {"ibname": "loopback-ism", "ibport": 2}),
                                ("port 3", errno.ERANGE, {"ibname": "loopback-ism", "ibport": 3}),
                                ("no name", errno.EINVAL, {"pnetid": "NET1"}),
                                ("both names", errno.EINVAL, {"ethname": "d0", "ibname": "x"}),
                                ("a bad ID", errno.EINVAL, eth("NET 1", "d0"))):
        same(f"delete, refused: {what}", number, refusal("pnet-del", tune, entry=[entry]))
    same("delete, refused: two at a time", errno.EINVAL,
         refusal("pnet-del", tune, entry=[{"ethname": "d0"}, {"ethname": "d1"}]))
    same("nothing is gone", four, table(tune))
    tune.do("pnet-del", entry=[eth("net1", "d1")])
    same("exactly one is gone", [four[0], *four[2:]], table(tune))
    tune.do("pnet-del", entry=[{"ibname": "loopback-ism"}])
    same("that of the device too", [four[0], four[2]], table(tune))
    same("and its ID", "", loopback_id())
    run("ueid.py", "pnet-flush")


def check_transactions(tune):
    replace(tune, eth("OLD", "d0"), device("OLD", "loopback-ism"))
    before = table(tune)
    other = Tune()
    same("add without a transaction", errno.ENOENT, refusal("pnet-add", other, entry=[eth("A", "d0")]))
    same("commit without one", errno.ENOENT, refusal("pnet-commit", other))
    same("abort without one", errno.ENOENT, refusal("pnet-abort", other))
    other.do("pnet-begin")
    same("a second one", errno.EALREADY, refusal("pnet-begin", other))
    other.do("pnet-add", entry=[eth("NEW", "d1"), eth("NEW", "later")])
    for what, number, last in (("the same name", errno.EEXIST, eth("X", "d1")), ("no ID", errno.EINVAL, {"ethname": "d5"}),
                               ("a bad ID", errno.EINVAL, eth("A B", "d5"))):
        same(f"add, refused: {what}", number, refusal("pnet-add", other, entry=[eth("GOOD", "d4"), last]))
    same("too many in a message", errno.E2BIG,
         refusal("pnet-add", other, entry=[eth("N", f"many{n}") for n in range(BATCH + 1)]))
    same("the table is as it was", before, table(tune))
    tune.do("pnet-begin")
    tune.do("pnet-add", entry=[eth("NOBODY", "d0")])
    tune.do("pnet-abort")
    same("aborted", before, table(tune))
    answer = other.do("pnet-commit")
    same("commit: entries of the messages that were not refused", 2, answer["entries"])
    same("commit", [("NEW", "d1"), ("NEW", "later")], table(tune))
    same("commit: the device that is there", {"d1"}, attached(tune))
    same("commit: the loopback device has no ID any more", "", loopback_id())
    same("commit: it is over", errno.ENOENT, refusal("pnet-commit", other))
    other.do("pnet-begin")
    other.do("pnet-add", entry=[eth("CLOSED", "d0")])
    other.socket.close()
    replace(tune, eth("OLD", "d0"), device("DEV", "loopback-ism"))
    same("what a socket left behind is dropped", [("DEV", "loopback-ism/1"), ("OLD", "d0")], table(tune))
    same("the loopback device has the new ID", "DEV", loopback_id())
    many = [Tune() for _ in range(17)]
    for one in many[:16]:
        one.do("pnet-begin")
    same("the 17th transaction", errno.ENOSPC, refusal("pnet-begin", many[16]))
    for one in many[:16]:
        one.socket.close()
    many[16].do("pnet-begin")
    many[16].socket.close()
    replace(tune)
    same("an empty table", [], table(tune))


def check_rename(tune):
    replace(tune, eth("NET0", "d0"), eth("NET1", "d1"))
    run("ip", "link", "set", "d0", "name", "tmp")
    same("an entry follows its device", [("NET0", "tmp"), ("NET1", "d1")], table(tune))
    run("ip", "link", "set", "d1", "name", "d0")
    run("ip", "link", "set", "tmp", "name", "d1")
    same("swapped names leave each with its ID", [("NET0", "d1"), ("NET1", "d0")], table(tune))
    same("both attached", {"d0", "d1"}, attached(tune))
    run("ip", "link", "set", "d1", "name", "tmp")
    run("ip", "link", "set", "d0", "name", "d1")
    run("ip", "link", "set", "tmp", "name", "d0")
    same("and back", [("NET0", "d0"), ("NET1", "d1")], table(tune))
    replace(tune)


def check_events(tune):
    listener = Listener("pnet")
    last = [0]

    def one(what, action, entries, *expected, **more):
        events = [event for _, event in listener.events(PATIENCE)]
        same(f"event: {what}", [(action, entries)], [(e["action"], e["entries"]) for e in events])
        same(f"event: {what}: entry", list(expected), [(e["pnetid"], e.get("ethname") or e.get("ibname")) for e in
                                                       events[0].get("entry", [])])
        for key, value in more.items():
            same(f"event: {what}: {key}", value, events[0]["entry"][0].get(key.replace("_", "-")))
        check(f"event: {what}: generation", events[0]["generation"] > last[0])
        last[0] = events[0]["generation"]

    run("ueid.py", "pnet-add", "NET0", "d0")
    one("added by SMC_PNETID", ADD, 1, ("NET0", "d0"))
    run("ueid.py", "pnet-add", "NET0", "e0")
    one("and another", ADD, 1, ("NET0", "e0"))
    run("ip", "link", "set", "d0", "name", "tmp")
    one("renamed", RENAME, 1, ("NET0", "tmp"), old_name="d0")
    run("ip", "link", "set", "tmp", "name", "d0")
    one("and back", RENAME, 1, ("NET0", "d0"), old_name="tmp")
    run("ip", "link", "add", "e0", "type", "dummy")
    one("a device comes", ATTACH, 1, ("NET0", "e0"))
    run("ip", "link", "del", "e0")
    one("and goes", DETACH, 1, ("NET0", "e0"), ifindex=None)
    tune.do("pnet-del", entry=[{"ethname": "e0"}])
    one("deleted", DELETE, 1, ("NET0", "e0"))
    replace(tune, eth("A", "d0"), eth("B", "d1"), eth("A", "d2"))
    one("replaced", REPLACE, 3)
    run("ueid.py", "pnet-del", "A")
    one("deleted by ID", DELETE, 2, ("A", None))
    run("ueid.py", "pnet-flush")
    one("flushed", FLUSH, 1)
    tune.do("pnet-begin")
    tune.do("pnet-add", entry=[eth("A", "d0")])
    tune.do("pnet-abort")
    same("no event of what was not committed", [], listener.events(0.2))


def check_many(tune):
    def messages(prefix):
        for first in range(0, MANY, BATCH):
            entries = [eth(f"{prefix}{n}", f"{prefix.lower()}{n}") for n in range(first, min(first + BATCH, MANY))]
            yield struct.pack("=BBH", COMMANDS.index("pnet-add") + 1, 1, 0) + encode(of_command("pnet-add"), {"entry": entries})

    for prefix in "EF":
        payloads = list(messages(prefix))
        begin = time.monotonic()
        tune.do("pnet-begin")
        for payload in payloads:
            tune.sequence += 1
            tune.ask_raw("pnet-add", NLM_F_ACK, payload)
        staged = time.monotonic()
        same("entries", MANY, tune.do("pnet-commit")["entries"])
        end = time.monotonic()
        print(f"   {MANY} entries {'replaced' if prefix == 'F' else 'entered'} in {1000 * (end - begin):.0f} ms, "
              f"the commit {1000 * (end - staged):.0f} ms of it")
        check("in time", end - begin < MANY_SECONDS, end - begin)
    begin = time.monotonic()
    rows = tune.dump("pnet-get")
    print(f"   dumped in {1000 * (time.monotonic() - begin):.0f} ms")
    same("all are there, once", MANY, len({m["entry"][0]["ethname"] for m in rows}))
    same("of one generation", 1, len({m["generation"] for m in rows}))
    same("none of the others", {"f"}, {m["entry"][0]["ethname"][0] for m in rows})
    tune.do("pnet-del", entry=[{"ethname": "f5000"}])
    same("one deleted leaves the others", MANY - 1, len(tune.dump("pnet-get")))
    other = Generic("SMC_PNETID")
    begin = time.monotonic()
    other.command(4)
    print(f"   flushed in {1000 * (time.monotonic() - begin):.0f} ms")
    same("flushed", [], table(tune))


def container():
    tune, listener = Tune(), Listener("pnet")
    same("container: an empty table", [], table(tune))
    replace(tune, eth("MINE", "lo"), eth("MINE", "veth9"))
    same("container: its table", [("MINE", "lo"), ("MINE", "veth9")], table(tune))
    same("container: its interface", {"lo"}, attached(tune))
    same("container: its event", [REPLACE], [event["action"] for _, event in listener.events(PATIENCE)])
    tune.do("pnet-begin")
    same("container: no devices of the host", errno.EPERM, refusal("pnet-add", tune, entry=[device("MINE", "loopback-ism")]))
    # and is ended with a transaction open


def check_container(tune):
    replace(tune, eth("HOST", "d0"))
    listener = Listener("pnet")
    same("the container's checks", 0, in_container(container))
    same("the host's table is as it was", [("HOST", "d0")], table(tune))
    same("and it had no event", [], listener.events(0.2))
    child = os.fork()
    if not child:
        os.setresuid(65534, 65534, 65534)
        mine = Tune()
        good = table(mine) == [("HOST", "d0")] and refusal("pnet-begin", mine) == errno.EPERM and \
            refusal("pnet-del", mine, entry=[{"ethname": "d0"}]) == errno.EPERM
        os._exit(0 if good else 1)
    same("a user without privilege reads only", 0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def check_unload(tune):
    """With a transaction open and entries that hold devices."""
    tune.do("pnet-begin")
    tune.do("pnet-add", entry=[eth("A", "d0"), eth("A", "d1")])
    subprocess.run(["rmmod", "smc_diag"], check=False)
    run("rmmod", "smc")
    for name in "d0", "d1":
        run("ip", "link", "del", name)
    check("the module goes with a transaction open, and devices are not held", True)
    setup()
    same("and comes back", [], table(Tune()))


def main():
    setup()
    for name in "d0", "d1":
        run("ip", "link", "add", name, "type", "dummy")
    tune = Tune()
    check_delete(tune)
    check_transactions(tune)
    check_rename(tune)
    check_events(tune)
    check_many(tune)
    check_container(tune)
    check_unload(tune)


main()
