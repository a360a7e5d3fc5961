#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A varlink client that knows nothing of smcd but its socket: it asks for the interface description, parses it by varlink's
grammar, calls every read method that it finds there, and checks every reply against the declared types, both ways: no
member that is not declared, none missing that is not optional, and none declared that never comes.

varlink_client.py SOCKET   checks the smcd that listens there
varlink_client.py          starts one on the fake kernel, with something of everything in it
"""
import json
import re
import socket
import sys

SERVICE = "org.varlink.service"
# Values for the parameters that have to be given: what a person would type.
EXAMPLES = {"code": "0x03030000"}


class Stream:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(path)
        self.buffer = b""

    def call(self, method, parameters):
        self.sock.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0")
        while b"\0" not in self.buffer:
            data = self.sock.recv(1 << 16)
            if not data:
                raise EOFError(f"{method}: the connection was closed")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        if self.buffer:
            raise ValueError(f"{method}: more than one reply")
        reply = json.loads(message.decode("utf-8", errors="strict"), object_pairs_hook=unique)
        if set(reply) - {"parameters", "error", "continues"}:
            raise ValueError(f"{method}: unknown members of the reply: {sorted(reply)}")
        return reply.get("error"), reply.get("parameters", {})


def unique(pairs):
    names = [k for k, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"a member is there twice: {names}")
    return dict(pairs)


# ---- the grammar of interface descriptions ----

TOKEN = re.compile(r"""\s+|(?P<comment>\#[^\n]*)|(?P<arrow>->)|(?P<dict>\[string\])|(?P<array>\[\])|(?P<punct>[():,?])
                       |(?P<word>[A-Za-z][A-Za-z0-9_.-]*)""", re.X)
INTERFACE_NAME = re.compile(r"[A-Za-z](-*[A-Za-z0-9])*(\.[A-Za-z0-9](-*[A-Za-z0-9])*)+\Z")
MEMBER_NAME = re.compile(r"[A-Z][A-Za-z0-9]*\Z")
FIELD_NAME = re.compile(r"[A-Za-z](_?[A-Za-z0-9])*\Z")
BASIC = {"bool", "int", "float", "string", "object", "any"}


class Description:
    def __init__(self, text):
        self.tokens, self.comments = [], []
        at = 0
        while at < len(text):
            m = TOKEN.match(text, at)
            if not m:
                raise SyntaxError(f"cannot read the description at {text[at:at + 40]!r}")
            if m.lastgroup == "comment":
                self.comments.append((len(self.tokens), m.group().lstrip("# ")))
            elif m.lastgroup:
                self.tokens.append(m.group())
            at = m.end()
        self.at = 0
        self.types, self.methods, self.errors, self.docs = {}, {}, {}, {}
        self.seen = {}  # type: the members that values of it had
        self.parse()

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self, wanted=None):
        token = self.peek()
        if token is None or (wanted and token != wanted):
            raise SyntaxError(f"expected {wanted!r}, found {token!r} after {self.tokens[max(0, self.at - 5):self.at]}")
        self.at += 1
        return token

    def name(self, pattern):
        token = self.next()
        if not pattern.match(token):
            raise SyntaxError(f"{token!r} is no name that may stand here")
        return token

    def doc_at(self, position):
        return " ".join(text for at, text in self.comments if at == position)

    def parse(self):
        self.next("interface")
        self.interface = self.name(INTERFACE_NAME)
        while self.peek() is not None:
            start, keyword = self.at, self.next()
            name = self.name(MEMBER_NAME)
            if keyword == "type":
                place, value = self.types, self.struct()
            elif keyword == "error":
                place, value = self.errors, self.struct()
            elif keyword == "method":
                place = self.methods
                given = self.struct()
                self.next("->")
                value = (given, self.struct())
            else:
                raise SyntaxError(f"{keyword!r} begins no member of an interface")
            if name in self.types or name in self.methods or name in self.errors:
                raise SyntaxError(f"{name} is declared twice")
            place[name] = value
            self.docs[name] = self.doc_at(start)

    def struct(self):
        """{name: type} or, for an enumeration, a list of names."""
        self.next("(")
        fields, names = {}, []
        while self.peek() != ")":
            name = self.name(FIELD_NAME)
            if name in fields or name in names:
                raise SyntaxError(f"field {name} is declared twice")
            if self.peek() == ":":
                self.next()
                fields[name] = self.type()
            else:
                names.append(name)
            if self.peek() == ",":
                self.next()
                if self.peek() == ")":
                    raise SyntaxError("a comma in front of ')'")
            elif self.peek() != ")":
                raise SyntaxError(f"expected ',' or ')', found {self.peek()!r}")
        self.next(")")
        if fields and names:
            raise SyntaxError("fields and names of an enumeration are mixed")
        return names if names else fields

    def type(self):
        token = self.peek()
        if token == "?":
            self.next()
            if self.peek() == "?":
                raise SyntaxError("'??'")
            return ("maybe", self.type())
        if token == "[]":
            self.next()
            return ("array", self.type())
        if token == "[string]":
            self.next()
            return ("dict", self.type())
        if token == "(":
            return ("struct", self.struct())
        self.next()
        if token in BASIC:
            return (token,)
        if not MEMBER_NAME.match(token):
            raise SyntaxError(f"{token!r} is no type")
        return ("named", token)

    # ---- values against types: a list of what is wrong ----

    def check(self, value, kind, where):
        what = kind[0]
        if what == "maybe":
            return [] if value is None else self.check(value, kind[1], where)
        if what == "array":
            if not isinstance(value, list):
                return [f"{where}: {value!r} is no array"]
            return [w for i, v in enumerate(value) for w in self.check(v, kind[1], f"{where}[{i}]")]
        if what == "dict":
            if not isinstance(value, dict):
                return [f"{where}: {value!r} is no object"]
            return [w for k, v in value.items() for w in self.check(v, kind[1], f"{where}[{k!r}]")]
        if what == "named":
            if kind[1] not in self.types:
                return [f"{where}: type {kind[1]} is not declared"]
            if isinstance(value, dict):
                self.seen.setdefault(kind[1], set()).update(value)
            return self.check_struct(value, self.types[kind[1]], where)
        if what == "struct":
            return self.check_struct(value, kind[1], where)
        good = {"bool": lambda v: isinstance(v, bool),
                "int": lambda v: isinstance(v, int) and not isinstance(v, bool) and -2**63 <= v < 2**64,
                "float": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
                "string": lambda v: isinstance(v, str),
                # "foreign untyped": anything but absence
                "object": lambda v: v is not None, "any": lambda v: v is not None}[what](value)
        return [] if good else [f"{where}: {value!r} is no {what}"]

    def check_struct(self, value, fields, where):
        if isinstance(fields, list):
            return [] if value in fields else [f"{where}: {value!r} is none of {fields}"]
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is no object"]
        wrong = [f"{where}: member {k} is not declared" for k in value if k not in fields]
        for name, kind in fields.items():
            if name not in value and kind[0] != "maybe":
                wrong.append(f"{where}: member {name} is missing")
            else:
                wrong += self.check(value.get(name), kind, f"{where}.{name}")
        return wrong

    def unseen(self):
        """Members of types that came in replies which no value had, not even as null."""
        return sorted(f"{name}.{field}" for name, seen in self.seen.items() for field in set(self.types[name]) - seen)

    def undeclared(self):
        """Types that are used somewhere and declared nowhere."""
        used = set()

        def walk(kind):
            if isinstance(kind, dict):
                for k in kind.values():
                    walk(k)
            elif isinstance(kind, tuple) and kind[0] == "named":
                used.add(kind[1])
            elif isinstance(kind, tuple) and len(kind) > 1:
                walk(kind[1])
        for member in [*self.types.values(), *self.errors.values()]:
            walk(member)
        for given, result in self.methods.values():
            walk(given)
            walk(result)
        return sorted(used - set(self.types))


# ---- the checks ----

class Report:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, name, wrong):
        self.n += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.n} - {name}{': ' + '; '.join(wrong[:5]) if wrong else ''}", flush=True)


def describe(stream, interface):
    error, reply = stream.call(f"{SERVICE}.GetInterfaceDescription", {"interface": interface})
    if error:
        raise ValueError(f"no description of {interface}: {error}")
    return Description(reply["description"])


def is_read(d, method):
    return "write access" not in d.docs[method]


def arguments(given):
    """For each way to call the method: nothing more than it needs, and every optional parameter as null."""
    needed = {n: EXAMPLES[n] for n, kind in given.items() if kind[0] != "maybe"}
    yield needed
    if len(needed) < len(given):
        yield {**{n: None for n in given}, **needed}


def check_read_methods(stream, d, report):
    filled = set()
    for method, (given, result) in d.methods.items():
        if not is_read(d, method):
            continue
        wrong = []
        for parameters in arguments(given):
            error, reply = stream.call(f"{d.interface}.{method}", parameters)
            wrong += [f"{error} {reply}"] if error else d.check_struct(reply, result, method)
            filled |= {f"{method}.{k}" for k, v in reply.items() if isinstance(v, list) and v}
        report.check(f"{d.interface}.{method} answers as it is declared", wrong)
    return filled


def check_refusals(stream, d, report):
    """What is wrong about these calls can be told from the description alone."""
    for method, (given, _) in d.methods.items():
        name = f"{d.interface}.{method}"
        error, reply = stream.call(name, {"no_such_parameter": 1})
        report.check(f"{method} refuses an unknown parameter",
                     [] if (error, reply) == (f"{SERVICE}.InvalidParameter", {"parameter": "no_such_parameter"})
                     else [f"{error} {reply}"])
        wrong = []
        for parameter, kind in given.items():
            bad = [] if kind[-1][0] != "array" and kind[0] != "array" else 7
            error, reply = stream.call(name, {parameter: bad})
            if (error, reply) != (f"{SERVICE}.InvalidParameter", {"parameter": parameter}):
                # Another parameter that is missing may be named instead.
                if error != f"{SERVICE}.InvalidParameter" or reply.get("parameter") not in given:
                    wrong.append(f"{parameter}={bad!r}: {error} {reply}")
        if given:
            report.check(f"{method} refuses parameters of a wrong type", wrong)


def check_errors(stream, d, service, report):
    """Provoke errors and check their parameters against their declarations."""
    calls = [(f"{d.interface}.NoSuchMethod", {}), ("no.such.Interface.Method", {}), ("nonsense", {}),
             (f"{SERVICE}.GetInterfaceDescription", {"interface": "no.such"}),
             (f"{d.interface}.ListKnobs", {"names": ["no_such_knob"]}), (f"{d.interface}.ExplainCode", {"code": "what?"}),
             (f"{d.interface}.ListKnobs", {"netns": "there-is-no-such-namespace"})]
    for name, parameters in calls:
        error, reply = stream.call(name, parameters)
        interface, _, short = (error or "").rpartition(".")
        declared = (d if interface == d.interface else service).errors.get(short)
        wrong = [f"{error} is not declared"] if declared is None else (d if interface == d.interface else service).check_struct(
            reply, declared, short)
        report.check(f"{name} {json.dumps(parameters)} gives an error that is declared ({short})", wrong)


def check_service(path, expect_filled=()):
    report, stream = Report(), Stream(path)
    service = describe(stream, SERVICE)
    report.check(f"{SERVICE} describes itself", [] if service.interface == SERVICE else [service.interface])
    error, info = stream.call(f"{SERVICE}.GetInfo", {})
    report.check("GetInfo answers as it is declared",
                 [str(error)] if error else service.check_struct(info, service.methods["GetInfo"][1], "GetInfo"))
    for interface in info["interfaces"]:
        d = describe(stream, interface)
        report.check(f"{interface}: the description can be parsed and uses declared types only",
                     d.undeclared() + ([] if d.interface == interface else [d.interface]))
        if interface == SERVICE:
            continue
        report.check(f"{interface}: every method is documented",
                     [n for n in d.methods if not d.docs[n]])
        filled = check_read_methods(stream, d, report)
        report.check("lists that are known to be filled are", sorted(set(expect_filled) - filled))
        report.check("every member of the types that came is there in one of them", d.unseen())
        check_refusals(stream, d, report)
        check_errors(stream, d, service, report)
    print(f"1..{report.n}")
    return 1 if report.failed else 0


# ---- a kernel with something of everything ----

EVERYTHING = """era 6.12-smcd
iface eth0 7
lgr r 0x101 role=server type=symmetric conns=3 buf_type=virtual vlan=300 pnetid=NETA peer_host=peer.example eid=EID-1
lgr d 0x201 conns=7 gid=0x8000000000000001 peer_gid=0xffffffffffffffff chid=65535 rcvbuf=98304 pnetid=NETD eid=EID-2
link 0x101 1 state=active device=rxe0 port=1 conns=2 ifindex=7 gid=fe80::1 peer_gid=fe80::2
link 0x101 2 state=inactive device=rxe1 port=2 conns=1 ifindex=99
device r rxe0 critical=on ifindex1=7 active1=on links1=2 pnetid1=HWNET port2=on active2=off ifindex2=0
device d ism0 pci=on lgrs=2 pci_id=0000:00:01.0 pnetid1=NETD
socket cookie=0x700000001 state=listen sport=80 src=127.0.0.1 uid=33 inode=5001
socket cookie=0x11 mode=smcr src=192.0.2.1 dst=192.0.2.2 sport=80 dport=40000 sndbuf=65536 rcvbuf=131072 link=1 device=rxe0
socket cookie=0x13 mode=tcp src=192.0.2.1 dst=192.0.2.9 sport=82 dport=40002 reason=0x03030000 peer_reason=0x03010000
pnet NETA eth=eth0
pnet NETA ib=rxe9 port=1
ueid PROD-EID-1
stat smcr tx_bytes 123456789
stat all client_handshake_errors 3
fallback server 0x03030000 4
fallback client 0x03010000 1
pool tech=smcr group=0x101 direction=send size=65536 buffers=3 in_use=1
"""
POLICY = {"version": 1, "knobs": {"wmem": "256K", "smcr_max_send_wr": 32}, "ueid": ["PROD-EID-2"],
          "pnet": [{"id": "NETB", "interface": "eth1"}]}
FILLED = ["ListKnobs.knobs", "GetStats.stats", "ListLinkGroups.linkgroups", "ListLinks.links", "ListDevices.devices",
          "ListSockets.sockets", "ListPnet.pnet", "ListUeid.ueid", "ListFallbacks.fallbacks", "ListPools.pools",
          "ListCork.cork", "ListHandshakes.handshakes", "GetPolicy.settings"]


def main():
    if len(sys.argv) > 1:
        return check_service(sys.argv[1])
    from smcdtest import Daemon
    with Daemon(POLICY, fake=EVERYTHING) as d:
        d.ok("SetKnobs", {"values": {"rmem": "1M"}})
        return check_service(d.path, FILLED)


if __name__ == "__main__":
    sys.exit(main())
