#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 420
# cpus: 2
"""Bad input for smc_tune: random commands, attributes, nesting, lengths and truncation, by root, by a user without privilege, in
namespaces that come and go, beside dumps, and with the module removed in between. FUZZ_SECONDS (20), FUZZ_SEED. The kernel must say
nothing; values stay in their ranges, and events tell the whole story of each knob."""
import ctypes
import os
import random
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, fail, run, same  # noqa: E402
from netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, Generic  # noqa: E402
from smcpair import setup  # noqa: E402
from tune import COMMANDS, SETS, Listener, Tune, encode, of_command  # noqa: E402

SECONDS = float(os.environ.get("FUZZ_SECONDS", "20"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
NAMES = ["wmem", "rmem", "autocorking_size", "cork_mode", "cork_ceiling", "tx_nocache_min", "smcr_buf_type", "limit_smc_hs",
         "hs_workers", "lo_max_dmbs", "nothing", "x" * 31, "x" * 40, ""]
WORDS = ["A", "NET1", "a b", "", "x" * 16, "x" * 17, "d0", "d1", "lo", "e0", "loopback-ism", "rxe_lo", "y" * 15, "y" * 63, "\x7f"]
NUMBERS = [0, 1, 2, 3, 255, 16383, 16384, 65536, 1 << 20, (1 << 30) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 64) - 1]
CHANGES = ["knob-set", "knob-set", "pnet-add", "pnet-begin", "pnet-commit", "pnet-abort", "pnet-del"]


def values(rng, table, depth=0):
    found = {}
    for name, kind, many in table:
        if rng.random() < 0.35 and depth + len(found) > 0:
            continue
        def one():
            if kind in SETS:
                return values(rng, SETS[kind], depth + 1) if depth < 3 else {}
            if kind == "s":
                return rng.choice(NAMES if "name" == name else WORDS)
            return rng.choice((1, 2)) if kind == "u8" else rng.choice(NUMBERS)
        found[name] = [one() for _ in range(rng.choice((1, 1, 2, 3, 40)))] if many else one()
    return found


def damage(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        if not data:
            break
        where = rng.randrange(len(data))
        how = rng.randrange(4)
        if how == 0:
            data[where] = rng.randrange(256)
        elif how == 1:
            del data[where:]
        elif how == 2:
            data[where:where] = bytes(rng.randrange(256) for _ in range(rng.randrange(9)))
        elif len(data) >= 4:
            where = where // 4 * 4
            data[where:where + 2] = struct.pack("=H", rng.choice((0, 3, 4, 5, 8, 0xFFFF)))
    return bytes(data)


def messages(rng, tune, end):
    """Send until then, and read what there is."""
    sock, count = tune.socket, 0
    sock.settimeout(0.0005)
    while time.monotonic() < end:
        command = rng.choice(COMMANDS if rng.random() < 0.5 else CHANGES)
        number = COMMANDS.index(command) + 1 if rng.random() < 0.97 else rng.randrange(256)
        payload = struct.pack("=BBH", number, rng.choice((1, 1, 0, 2)), 0)
        payload += damage(rng, encode(of_command(command), values(rng, of_command(command))))
        flags = NLM_F_REQUEST | rng.choice((NLM_F_ACK, NLM_F_ACK, 0, NLM_F_DUMP))
        count += 1
        try:
            sock.send(struct.pack("=IHHII", 16 + len(payload), tune.family, flags, count, 0) + payload)
            for _ in range(rng.randrange(4)):
                sock.recv(1 << rng.choice((5, 12, 16)))
        except OSError:
            pass
    return count


def worker(seed, end, user=0, namespaces=False):
    pid = os.fork()
    if pid:
        return pid
    signal.alarm(int(4 * SECONDS) + 60)
    rng = random.Random(seed)
    if user:
        os.setresuid(user, user, user)
    count = 0
    while time.monotonic() < end:
        if namespaces:
            child = os.fork()
            if not child:
                libc.unshare(CLONE_NEWNET)
                messages(random.Random(rng.random()), Tune(), min(end, time.monotonic() + 0.3))
                os._exit(0)
            rng.random()
            os.waitpid(child, 0)
            count += 1
        else:
            count += messages(rng, Tune(), min(end, time.monotonic() + 2))
    print(f"   {count} {'namespaces' if namespaces else 'messages'}{' without privilege' if user else ''}", flush=True)
    os._exit(0)


def follow(listener, known):
    """What events make of the values."""
    for _, event in listener.events():
        for change in event["change"]:
            name = change["name"]
            if not listener.overruns and known[name] != change["old-value"]:
                fail(f"{name} was {known[name]} and an event says {change['old-value']}")
            known[name] = change["value"]


def storm(seed):
    tune, listener = Tune(), Listener("knobs", 1 << 22)
    known = {name: knob["value"] for name, knob in tune.knobs().items()}
    end = time.monotonic() + SECONDS
    workers = [worker(seed, end), worker(seed + 1, end), worker(seed + 2, end, user=65534), worker(seed + 3, end, namespaces=True)]
    dumps = 0
    while time.monotonic() < end:
        follow(listener, known)
        for name, knob in tune.knobs().items():
            if not knob["minimum"] <= knob["value"] <= knob["maximum"]:
                fail(f"{name} is {knob['value']}")
        tune.dump("pnet-get")
        tune.do("handshake-get")
        tune.do("tx-get")
        dumps += 1
    for pid in workers:
        same("a process of bad input has ended", 0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    follow(listener, known)
    print(f"   {dumps} rounds of dumps, {listener.overruns} overruns")
    same("the events tell what the values are", {n: k["value"] for n, k in tune.knobs().items()}, known)


def main():
    print(f"FUZZ_SEED={SEED}", flush=True)
    setup()
    for name in "d0", "d1":
        run("ip", "link", "add", name, "type", "dummy")
    storm(SEED)
    # Leave a transaction, listeners and a dump half read behind, and take the module away.
    left = [Tune() for _ in range(3)] + [Listener(group) for group in ("knobs", "pnet", "links", "fallback")]
    left[0].do("pnet-begin")
    left[0].do("pnet-add", entry=[{"pnetid": "A", "ethname": "d0"}])
    left[1].socket.send(struct.pack("=IHHIIBBH", 20, left[1].family, NLM_F_REQUEST | NLM_F_DUMP, 1, 0, COMMANDS.index("knob-get") + 1, 1, 0))
    subprocess.run(["rmmod", "smc_diag"], check=False)
    check("the module stays as long as a dump is half read", subprocess.run(["rmmod", "smc"], stderr=subprocess.DEVNULL).returncode)
    left[1].socket.close()
    run("rmmod", "smc")
    for name in "d0", "d1":
        run("ip", "link", "del", name)
    setup()
    check("the module comes back", Tune().knobs())
    for one in left:
        one.socket.close()
    same("and its table is empty", [], Tune().dump("pnet-get"))
    check("the family is one of several still", Generic("SMC_PNETID").family)


main()
