# SPDX-License-Identifier: GPL-2.0-or-later
"""The family smc_tune for guest tests, by tables of its own: they have to agree with kernel-patch/spec/smc_tune.yaml."""

import ctypes
import errno
import os
import socket
import struct
import sys

from netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, Generic, attribute

SOL_NETLINK = 270
CLONE_NEWNET, CLONE_NEWUSER = 0x40000000, 0x10000000
UNPRIVILEGED = 65534
NETLINK_ADD_MEMBERSHIP, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 1, 10, 11
NLM_F_MULTI, NLM_F_DUMP_INTR = 2, 16
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLA_F_NESTED = 0x8000
COMMANDS = ("knob-get knob-set knob-ntf pool-get tx-get handshake-get fallback-ntf link-ntf pnet-get pnet-del pnet-begin pnet-add "
            "pnet-commit pnet-abort pnet-ntf").split()
# Attributes from 1 on, as name:type; + for one that can be there more than once. Without a type: an unsigned number.
SETS = {name: [word.rstrip("+").partition(":")[::2] + (word.endswith("+"),) for word in words.split()] for name, words in {
    "knob": "generation name:s type unit value default minimum maximum scope effect choice:s+ read-only:flag",
    "knob-value": "name:s value old-value",
    "knob-set": "knob:knob-value+ generation",
    "knob-event": "generation source portid change:knob-value+",
    "pool": "transport group net-cookie direction size buffers in-use free bytes reuses allocations downgrades contended",
    "bucket": "limit count",
    "tx": "corked-app corked-more corked-auto flush-uncork flush-full flush-completion flush-ceiling flush-nodelay flush-write "
          "flush-end flush-size:bucket+ flush-bytes nocache-writes nocache-bytes",
    "reason": "role reason peer-reason count",
    "hs-role": "role queued active established fallbacks errors time:bucket+ time-sum",
    "handshake": "workers-max role:hs-role+ reason:reason+",
    "fallback": "role reason peer-reason local-addr:bytes remote-addr:bytes local-port remote-port suppressed",
    "link": "event transport group net-cookie role state link-id ib-name:s ib-port ifindex",
    "pnet-entry": "pnetid:s ethname:s ibname:s ibport:u8 ifindex old-name:s",
    "pnet": "entry:pnet-entry+ generation entries action",
}.items()}
SET_OF = {"knob-get": "knob", "knob-set": "knob-set", "knob-ntf": "knob-event", "pool-get": "pool", "tx-get": "tx",
          "handshake-get": "handshake", "fallback-ntf": "fallback", "link-ntf": "link"}  # others: pnet


def of_command(command):
    return SETS[SET_OF.get(command, "pnet")]


def encode(table, values):
    data = b""
    for number, (name, kind, many) in enumerate(table, 1):
        if name not in values:
            continue
        for value in values[name] if many else [values[name]]:
            if kind in SETS:
                data += attribute(number | NLA_F_NESTED, encode(SETS[kind], value))
            elif kind == "s":
                data += attribute(number, value.encode() + b"\0")
            elif kind == "u8":
                data += attribute(number, struct.pack("=B", value))
            elif not kind:
                data += attribute(number, struct.pack("=I" if value < 1 << 32 else "=Q", value))
    return data


def decode(table, data):
    found = {}
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        payload, data = data[4:length], data[(length + 3) & ~3:]
        name, kind, many = table[(number & 0x3FFF) - 1]
        if kind in SETS:
            value = decode(SETS[kind], payload)
        elif kind == "s":
            value = payload.rstrip(b"\0").decode()
        elif kind == "flag":
            value = True
        else:
            value = payload if kind == "bytes" else int.from_bytes(payload, sys.byteorder)
        if many:
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    return found


class Refused(OSError):
    """What the kernel says to it is in `message`, and the offset of the attribute that it names in `offset`."""

    def __init__(self, number, message, offset):
        super().__init__(number, f"{os.strerror(number)}: {message}")
        self.message, self.offset = message, offset


class Tune(Generic):
    def __init__(self):
        super().__init__("smc_tune")
        for option in NETLINK_CAP_ACK, NETLINK_EXT_ACK:
            self.socket.setsockopt(SOL_NETLINK, option, 1)
        self.interrupted = False

    def ask(self, command, flags, **values):
        """Decoded answers."""
        self.sequence += 1
        names = {name.replace("_", "-"): value for name, value in values.items()}
        payload = struct.pack("=BBH", COMMANDS.index(command) + 1, 1, 0) + encode(of_command(command), names)
        return self.ask_raw(command, flags, payload)

    def ask_raw(self, command, flags, payload):
        self.socket.send(struct.pack("=IHHII", 16 + len(payload), self.family, NLM_F_REQUEST | flags, self.sequence, 0) + payload)
        answers, self.interrupted = [], False
        while True:
            data = self.socket.recv(1 << 18)
            while data:
                length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", data)
                message, data = data[16:length], data[(length + 3) & ~3:]
                if sequence != self.sequence:
                    continue
                self.interrupted |= bool(flags & NLM_F_DUMP_INTR)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    self.raise_error(kind, flags, message)
                    return answers
                answers.append(decode(of_command(command), message[4:]))

    @staticmethod
    def raise_error(kind, flags, message):
        number = -struct.unpack_from("=i", message)[0] if len(message) >= 4 else 0
        if not number:
            return
        text, offset = "", None
        data = message[4 if kind == NLMSG_DONE else 20:] if flags & NLM_F_ACK_TLVS else b""
        while len(data) >= 4:
            length, what = struct.unpack_from("=HH", data)
            if what == 1:
                text = data[4:length].rstrip(b"\0").decode()
            elif what == 2:
                offset = struct.unpack_from("=I", data, 4)[0]
            data = data[(length + 3) & ~3:]
        raise Refused(number, text, offset)

    def do(self, command, **values):
        answers = self.ask(command, NLM_F_ACK, **values)
        return answers[0] if answers else {}

    def dump(self, command):
        return self.ask(command, NLM_F_DUMP)

    def set(self, generation=None, **knobs):
        values = {"knob": [{"name": name, "value": value} for name, value in knobs.items()]}
        if generation is not None:
            values["generation"] = generation
        return self.do("knob-set", **values)

    def knob(self, name):
        return self.do("knob-get", name=name)

    def knobs(self):
        return {knob["name"]: knob for knob in self.dump("knob-get")}


def group_numbers():
    """Of the multicast groups of the family."""
    control = Generic("smc_tune")
    name = attribute(2, b"smc_tune\0")
    answer = control.request(16, struct.pack("=BBH", 3, 1, 0) + name)[0][4:]
    groups = {}
    while len(answer) >= 4:
        length, kind = struct.unpack_from("=HH", answer)
        if kind & 0x3FFF == 7:
            data = answer[4:length]
            while len(data) >= 4:
                size, _ = struct.unpack_from("=HH", data)
                inner, group = data[4:size], {}
                while len(inner) >= 4:
                    bytes_, what = struct.unpack_from("=HH", inner)
                    group[what & 0x3FFF] = inner[4:bytes_]
                    inner = inner[(bytes_ + 3) & ~3:]
                groups[group[1].rstrip(b"\0").decode()] = int.from_bytes(group[2], sys.byteorder)
                data = data[(size + 3) & ~3:]
        answer = answer[(length + 3) & ~3:]
    return groups


class Listener:
    """Of one group."""

    def __init__(self, group, buffer=0):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.bind((0, 0))
        self.socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group_numbers()[group])
        self.overruns = 0

    def events(self, wait=0.0):
        """Those that are there, as (command, attributes), after at most so many seconds for the first."""
        found = []
        self.socket.settimeout(wait or 0.001)
        while True:
            try:
                data = self.socket.recv(1 << 16)
            except (TimeoutError, BlockingIOError):
                return found
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                self.overruns += 1
                continue
            self.socket.settimeout(0.001)
            command = COMMANDS[data[16] - 1]
            found.append((command, decode(of_command(command), data[20:])))


def in_container(function):
    """The exit status of function() in user and network namespaces of their own, of a user without privilege outside: 0, or 1 if
    it raised, which is printed."""
    to_child, from_parent = os.pipe()
    to_parent, from_child = os.pipe()
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(*[UNPRIVILEGED] * 3)
        os.setresuid(*[UNPRIVILEGED] * 3)
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER | CLONE_NEWNET):
            os._exit(9)
        os.write(from_child, b"x")
        os.read(to_child, 1)
        os.setresuid(0, 0, 0)
        try:
            function()
        except BaseException as error:  # noqa: B902
            print(f"in the container: {error!r}", flush=True)
            os._exit(1)
        os._exit(0)
    os.read(to_parent, 1)
    for name in "uid_map", "gid_map":
        with open(f"/proc/{child}/{name}", "w", encoding="ascii") as file:
            file.write(f"0 {UNPRIVILEGED} 1")
    os.write(from_parent, b"x")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
