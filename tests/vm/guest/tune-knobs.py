#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
"""Knobs by smc_tune: get, dump, set of one and of many, refusals with the attribute and the range, the group `knobs` whoever
makes a change, all or nothing beside a reader, and what a namespace of a user without privilege sees and may do."""
import errno
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, fail, run, same  # noqa: E402
from smcpair import setup  # noqa: E402
from tune import Listener, Refused, Tune, in_container  # noqa: E402

SYSCTL = "/proc/sys/net/smc/"
HOST = {"hs_workers", "lo_max_dmbs"}
ROUNDS = 1000
BURST = 20000
SOURCE = {"sysctl": 0, "knob-set": 1, "hs-limitation": 2}


def sysctl(name, value=None):
    with open(SYSCTL + name, "w" if value is not None else "r", encoding="ascii") as file:
        return file.write(str(value)) if value is not None else int(file.read())


def refusal(function, *arguments, **values):
    try:
        function(*arguments, **values)
    except OSError as error:
        return error
    fail(f"not refused: {arguments} {values}")


def check_describe(tune):
    knobs = tune.knobs()
    same("each sysctl is a knob", set(os.listdir(SYSCTL)), set(knobs))
    for name, knob in knobs.items():
        same(f"{name}: get is what dump shows", knob, tune.knob(name))
        same(f"{name}: value", sysctl(name), knob["value"])
        check(f"{name}: in its range", knob["minimum"] <= knob["value"] <= knob["maximum"])
        same(f"{name}: its default", knob["default"], knob["value"])
        same(f"{name}: scope", name in HOST, knob["scope"] == 1)
    same("choices", ["physical", "virtual", "mixed"], knobs["smcr_buf_type"]["choice"])
    same("the unit of a time", 2, knobs["smcr_testlink_time"]["unit"])
    same("an unknown knob", errno.ENOENT, refusal(tune.knob, "nothing").errno)


def check_bounds(tune):
    for name, knob in tune.knobs().items():
        for value in knob["minimum"], knob["maximum"]:
            tune.set(**{name: value})
            same(f"{name}={value} is what sysctl shows", value, sysctl(name))
            same(f"{name}={value} is what get shows", value, tune.knob(name)["value"])
        for value in (knob["minimum"] - 1, knob["maximum"] + 1):
            if value < 0:
                continue
            error = refusal(tune.set, **{name: value})
            same(f"{name}={value} is refused", errno.ERANGE, error.errno)
            same(f"{name}={value}: why", f"{name}: not in {knob['minimum']}..{knob['maximum']}", error.message)
            same(f"{name}={value}: where", 16 + 4 + 4 + (4 + len(name) + 1 + 3) // 4 * 4, error.offset)
            same(f"{name}={value} changes nothing", knob["maximum"], sysctl(name))
            same(f"{name}={value} by sysctl", errno.EINVAL, refusal(sysctl, name, value).errno)
        sysctl(name, knob["default"])
        same(f"{name} by sysctl is what get shows", knob["default"], tune.knob(name)["value"])


def check_refusals(tune):
    before = {name: knob["value"] for name, knob in tune.knobs().items()}
    generation = tune.knob("wmem")["generation"]
    for what, number, values in (
            ("the second of three is out of range", errno.ERANGE, [("wmem", 65536 * 2), ("rmem", 1), ("cork_ceiling", 5)]),
            ("the last is unknown", errno.ENOENT, [("wmem", 65536 * 2), ("hs_workers", 3), ("nothing", 5)]),
            ("one is there twice", errno.EINVAL, [("wmem", 65536 * 2), ("wmem", 65536 * 4)]),
            ("a value of 64 bits", errno.ERANGE, [("rmem", 65536 * 2), ("autocorking_size", 1 << 32)])):
        error = refusal(tune.do, "knob-set", knob=[{"name": name, "value": value} for name, value in values])
        same(f"refused: {what}", number, error.errno)
    same("no value: refused", errno.EINVAL, refusal(tune.do, "knob-set", knob=[{"name": "wmem"}]).errno)
    same("no knob: refused", errno.EINVAL, refusal(tune.do, "knob-set").errno)
    same("the generation of before", errno.ESTALE, refusal(tune.set, generation=generation + 1, wmem=65536 * 2).errno)
    same("nothing was changed", before, {name: knob["value"] for name, knob in tune.knobs().items()})
    same("nor counted as a change", generation, tune.knob("wmem")["generation"])
    same("with the right generation", generation + 1, tune.set(generation=generation, wmem=65536 * 2)["generation"])
    tune.set(wmem=65536)


def check_events(tune):
    listener = Listener("knobs")
    port = tune.socket.getsockname()[0]

    def one(what, source, changes, by=None):
        events = listener.events(PATIENCE)
        same(f"event: {what}: one", ["knob-ntf"], [command for command, _ in events])
        event = events[0][1]
        same(f"event: {what}: source", SOURCE[source], event["source"])
        same(f"event: {what}: port", by, event.get("portid"))
        same(f"event: {what}", changes, [(c["name"], c["old-value"], c["value"]) for c in event["change"]])
        return event["generation"]

    tune.set(wmem=131072, rmem=262144)
    first = one("knob-set of two", "knob-set", [("wmem", 65536, 131072), ("rmem", 65536, 262144)], port)
    sysctl("cork_ceiling", 7)
    same("generation", first + 1, one("sysctl", "sysctl", [("cork_ceiling", 0, 7)]))
    run("ueid.py", "hs", "on")
    one("handshake limitation", "hs-limitation", [("limit_smc_hs", 0, 1)])
    sysctl("limit_smc_hs", 0)
    one("and by sysctl", "sysctl", [("limit_smc_hs", 1, 0)])
    sysctl("hs_workers", 17)
    one("a host knob", "sysctl", [("hs_workers", 256, 17)])
    sysctl("hs_workers", 17)
    tune.set(wmem=131072)
    refusal(tune.set, rmem=3)
    same("no event without a change", [], listener.events(0.3))
    tune.set(wmem=65536, rmem=65536, cork_ceiling=0, hs_workers=256)
    same("generation", first + 5, one("four back", "knob-set", [("wmem", 131072, 65536), ("rmem", 262144, 65536),
                                                           ("cork_ceiling", 7, 0), ("hs_workers", 17, 256)], port))


def check_burst(tune):
    """More changes than a listener has room for: it is told that it missed some, and the generation says how many."""
    listener = Listener("knobs", 1 << 16)
    first = tune.knob("wmem")["generation"]
    with open(SYSCTL + "tx_nocache_min", "wb", buffering=0) as file:
        for number in range(1, BURST + 1):
            os.pwrite(file.fileno(), b"%d" % number, 0)
    sysctl("tx_nocache_min", 0)
    seen, last = 0, first
    for _, event in listener.events(1):
        seen += 1
        check_later = event["generation"] > last
        if not check_later:
            fail("generations are not in order")
        last = event["generation"]
    same("the changes are counted", first + BURST + 1, tune.knob("wmem")["generation"])
    check(f"what {BURST} changes overran is told ({seen} seen)", listener.overruns or seen == BURST + 1)


def check_atomic():
    """Three knobs always have one of two sets of values."""
    good = [(65536, 65536, 100), (131072, 262144, 200)]
    tune = Tune()
    tune.set(wmem=good[0][0], rmem=good[0][1], cork_ceiling=good[0][2])
    reader_ends, writer_ends = os.pipe()
    child = os.fork()
    if not child:
        os.close(writer_ends)
        os.set_blocking(reader_ends, False)
        tune, count, marked = Tune(), 0, 0  # a socket of its own
        while True:
            try:
                if os.read(reader_ends, 1) == b"":
                    break
            except BlockingIOError:
                pass
            knobs = tune.knobs()
            count, marked = count + 1, marked + tune.interrupted
            values = tuple(knobs[name]["value"] for name in ("wmem", "rmem", "cork_ceiling"))
            if values not in good or len({knob["generation"] for knob in knobs.values()}) != 1:
                print(f"a mixture: {values}", flush=True)
                os._exit(1)
        print(f"   {count} dumps, {marked} of them marked as interrupted", flush=True)
        os._exit(0 if count > 10 else 2)
    os.close(reader_ends)
    for number in range(ROUNDS):
        wmem, rmem, ceiling = good[number % 2]
        tune.set(wmem=wmem, rmem=rmem, cork_ceiling=ceiling)
        refusal(tune.set, wmem=999999, rmem=888888, cork_ceiling=60001)
    os.close(writer_ends)
    same(f"no dump shows a mixture in {ROUNDS} rounds", 0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    tune.set(wmem=65536, rmem=65536, cork_ceiling=0)


def container():
    tune, listener = Tune(), Listener("knobs")
    knobs = tune.knobs()
    check("container: host knobs are not seen", not HOST & set(knobs), set(knobs))
    same("container: its own values are the defaults", [], [k for k, v in knobs.items() if v["value"] != v["default"]])
    same("container: that of RDMA devices is read only", ["smcr_buf_type"], [k for k, v in knobs.items() if "read-only" in v])
    tune.set(wmem=1 << 20, rmem=1 << 19, limit_smc_hs=1)
    same("container: what it sets", [1 << 20, 1 << 19, 1], [tune.knob(n)["value"] for n in ("wmem", "rmem", "limit_smc_hs")])
    same("container: its event", [1], [len(e) for e in [listener.events(PATIENCE)]])
    for name, number in (("hs_workers", errno.ENOENT), ("smcr_buf_type", errno.EPERM)):
        same(f"container: {name} is refused", number, refusal(tune.set, wmem=65536, **{name: 1}).errno)
    same("container: and nothing else set", 1 << 20, tune.knob("wmem")["value"])


def unprivileged():
    child = os.fork()
    if not child:
        os.setresuid(65534, 65534, 65534)
        tune = Tune()
        good = len(tune.knobs()) >= 8 and refusal(tune.set, wmem=65536).errno == errno.EPERM
        os._exit(0 if good else 1)
    same("a user without privilege reads and does not set", 0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def check_container(tune):
    listener = Listener("knobs")
    before = {name: knob["value"] for name, knob in tune.knobs().items()}
    tune.set(hs_workers=99, wmem=200000)
    listener.events(PATIENCE)
    same("the container's checks", 0, in_container(container))
    same("the host has no event of it", [], listener.events(0.3))
    same("nor other values", {**before, "hs_workers": 99, "wmem": 200000},
         {name: knob["value"] for name, knob in tune.knobs().items()})
    tune.set(hs_workers=256, wmem=65536)
    unprivileged()


def check_unload():
    """With listeners and a dump that has not been read."""
    listener, tune = Listener("knobs"), Tune()
    tune.set(wmem=70000)
    begin = time.monotonic()
    subprocess.run(["rmmod", "smc_diag"], check=False)
    run("rmmod", "smc")
    check(f"the module goes, with a listener ({time.monotonic() - begin:.1f} s)", True)
    setup()
    same("and comes back with its defaults", 65536, Tune().knob("wmem")["value"])
    listener.socket.close()


def main():
    setup()
    tune = Tune()
    check_describe(tune)
    check_bounds(tune)
    check_refusals(tune)
    check_events(tune)
    check_burst(tune)
    check_atomic()
    check_container(tune)
    tune.socket.close()
    check_unload()


main()
