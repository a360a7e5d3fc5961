#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dump the SMC sockets of this network namespace through sock_diag, one JSON object a line.

    smcdiag.py [--port P]                        all, or those with P as one of their ports
    smcdiag.py --port P --expect SMC-R|SMC-D|TCP [--count N]
                                                 and fail unless N (default 1) connections are open at P, all of them
                                                 what was expected

"mode" is what the kernel says, and it says SMC-R for whatever is not connected yet. "transport" is what can be
believed: SMC-R or SMC-D only where there is a link group or a DMB, TCP after a fallback, else null.
"""

import argparse
import json
import socket
import struct
import sys

from netlink import NETLINK_SOCK_DIAG, Netlink, attributes

AF_SMC = 43
SOCK_DIAG_BY_FAMILY = 20
CONNINFO, LGRINFO, SHUTDOWN, DMBINFO, FALLBACK = 1, 2, 3, 4, 5
MODES = {0: "SMC-R", 1: "TCP", 2: "SMC-D"}
STATES = {1: "ACTIVE", 2: "INIT", 7: "CLOSED", 10: "LISTEN", 20: "PEERCLOSEWAIT1", 21: "PEERCLOSEWAIT2",
          22: "APPCLOSEWAIT1", 23: "APPCLOSEWAIT2", 24: "APPFINCLOSEWAIT", 25: "PEERFINCLOSEWAIT", 26: "PEERABORTWAIT",
          27: "PROCESSABORT"}


def address(data):
    """Four or sixteen bytes: an IPv4 address is in the first word and the rest is zero."""
    if any(data[4:]):
        return socket.inet_ntop(socket.AF_INET6, data)
    return socket.inet_ntop(socket.AF_INET, data[:4])


def decode(message):
    family, state, mode, shutdown = struct.unpack_from("=4B", message)
    sport, dport = struct.unpack_from(">HH", message, 4)
    cookie = struct.unpack_from("=Q", message, 44)[0]
    uid, inode = struct.unpack_from("=IQ", message, 52)
    found = attributes(message[64:])
    record = {"family": family, "state": STATES.get(state, state), "mode": MODES.get(mode, mode),
              "src": address(message[8:24]), "sport": sport, "dst": address(message[24:40]), "dport": dport,
              "uid": uid, "inode": inode, "cookie": cookie, "shutdown": shutdown, "transport": None}
    if CONNINFO in found:
        token, sndbuf, rmbe, peer = struct.unpack_from("=4I", found[CONNINFO])
        record["conn"] = {"token": token, "sndbuf": sndbuf, "rmbe": rmbe, "peer_rmbe": peer}
    if LGRINFO in found:
        data = found[LGRINFO]
        record["lgr"] = {"link": data[0], "ib": data[1:65].split(b"\0")[0].decode(), "port": data[65],
                         "role": data[146]}
        record["transport"] = "SMC-R"
    if DMBINFO in found:
        record["dmb"] = {"link": struct.unpack_from("=I", found[DMBINFO])[0]}
        record["transport"] = "SMC-D"
    if mode == 1:
        record["transport"] = "TCP"
    if FALLBACK in found:
        reason, peer = struct.unpack_from("=2I", found[FALLBACK])
        record["fallback"] = {"reason": f"0x{reason:08x}", "peer": f"0x{peer:08x}"}
    return record


def dump():
    extensions = sum(1 << (kind - 1) for kind in (CONNINFO, LGRINFO, SHUTDOWN, DMBINFO, FALLBACK))
    request = struct.pack("=BHB48x", AF_SMC, 0, extensions)
    return [decode(message) for message in Netlink(NETLINK_SOCK_DIAG).request(SOCK_DIAG_BY_FAMILY, request, dump=True)]


def main(argv):
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--port", type=int)
    parser.add_argument("--expect", choices=["SMC-R", "SMC-D", "TCP"])
    parser.add_argument("--count", type=int, default=1)
    args = parser.parse_args(argv)
    records = [r for r in dump() if args.port is None or args.port in (r["sport"], r["dport"])]
    for record in records:
        print(json.dumps(record))
    if not args.expect:
        return 0
    # Both ends of a connection are in this namespace; only the client's counts.
    ends = [r for r in records if r["dport"] == args.port and r["state"] not in ("LISTEN", "INIT", "CLOSED")]
    wrong = [r for r in ends if r["transport"] != args.expect]
    if wrong or len(ends) != args.count:
        print(f"smcdiag.py: {len(ends)} connections at port {args.port}, {len(wrong)} of them not {args.expect}; "
              f"expected {args.count} of {args.expect}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
