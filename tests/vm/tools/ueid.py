#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Read and change SMC's tables over generic netlink, independently of smcctl.

    ueid.py add|del ID      ueid.py dump        ueid.py flush
    ueid.py pnet            JSON lines of the pnet table
    ueid.py pnet-add ID [ETHNAME|-] [IBNAME PORT]      ueid.py pnet-del ID      ueid.py pnet-flush
    ueid.py hs [on|off]     handshake limitation
    ueid.py seid [on|off]   system EID
    ueid.py info            JSON of the system information

A refusal of the kernel ends with status 1 and the error's name on stderr.
"""

import errno
import json
import sys

from netlink import Generic, attribute, attributes

DUMP_UEID, ADD_UEID, REMOVE_UEID, FLUSH_UEID = 9, 10, 11, 12
DUMP_SEID, ENABLE_SEID, DISABLE_SEID = 13, 14, 15
DUMP_HS, ENABLE_HS, DISABLE_HS = 16, 17, 18
GET_SYS_INFO = 1
PNET_GET, PNET_ADD, PNET_DEL, PNET_FLUSH = 1, 2, 3, 4


def text(data):
    return data.split(b"\0")[0].decode(errors="replace").strip()


def smc():
    return Generic("SMC_GEN_NETLINK")


def eid(name):
    return attribute(1, name.ljust(32).encode() + b"\0")


def dump_ueid():
    for entry in smc().command(DUMP_UEID, dump=True):
        print(text(entry[1]))


def dump_pnet():
    for entry in Generic("SMC_PNETID").command(PNET_GET, dump=True):
        port = entry[4][0]
        print(json.dumps({"pnetid": text(entry[1]), "eth": text(entry[2]), "ib": text(entry[3]), "port": port}))


def add_pnet(name, eth="-", ib=None, port="1"):
    payload = attribute(1, name.encode() + b"\0")
    if eth != "-":
        payload += attribute(2, eth.encode() + b"\0")
    if ib:
        payload += attribute(3, ib.encode() + b"\0") + attribute(4, bytes([int(port)]))
    Generic("SMC_PNETID").command(PNET_ADD, payload)


def switch(dump, on, off, show, word=None):
    if word is None:
        for entry in smc().command(dump, dump=True):
            print(show(entry))
    else:
        smc().command({"on": on, "off": off}[word])


def show_seid(entry):
    """Without a device of ISM v2 there is no SEID, and the record is empty."""
    return f"{text(entry[1])} {'on' if entry[2][0] else 'off'}" if entry else "none"


def show_hs(entry):
    return "on" if entry[1][0] else "off"


def show_info():
    info = attributes(smc().command(GET_SYS_INFO, dump=True)[0][1])
    print(json.dumps({"version": info[1][0], "release": info[2][0], "host": text(info[4]),
                      "seid": text(info.get(5, b""))}))


COMMANDS = {
    "add": lambda name: smc().command(ADD_UEID, eid(name)),
    "del": lambda name: smc().command(REMOVE_UEID, eid(name)),
    "flush": lambda: smc().command(FLUSH_UEID),
    "dump": dump_ueid,
    "pnet": dump_pnet,
    "pnet-add": add_pnet,
    "pnet-del": lambda name: Generic("SMC_PNETID").command(PNET_DEL, attribute(1, name.encode() + b"\0")),
    "pnet-flush": lambda: Generic("SMC_PNETID").command(PNET_FLUSH),
    "hs": lambda *word: switch(DUMP_HS, ENABLE_HS, DISABLE_HS, show_hs, *word),
    "seid": lambda *word: switch(DUMP_SEID, ENABLE_SEID, DISABLE_SEID, show_seid, *word),
    "info": show_info,
}


def main(argv):
    if not argv or argv[0] not in COMMANDS:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        COMMANDS[argv[0]](*argv[1:])
    except OSError as error:
        print(f"ueid.py {' '.join(argv)}: {errno.errorcode.get(error.errno, error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
