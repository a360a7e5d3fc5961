# SPDX-License-Identifier: GPL-2.0-or-later
"""A second link for the link groups of SMC-R in one guest: soft-RoCE devices on lo and on a dummy device. An added link
carries the addresses of both ends, so that the dummy device, which cannot carry the first link, can carry this one."""

import struct

from guest import PATIENCE, comes_true, fail, run, wait_for
from netlink import Generic, attributes
from smcpair import setup, shell

GET_LINK_SMCR, LINK_SMCR, IB_DEV, STATE = 3, 3, 2, 10
ACTIVE = 3
FIRST, SECOND = "rxe_lo", "rxe_dummy"
JOIN_ATTEMPTS = 3


def prepare(**sysctls):
    """Both devices, the second one down."""
    setup(rxe=True, **sysctls)
    shell("modprobe dummy")
    run("ip", "link", "add", "dummy0", "type", "dummy")
    run("ip", "addr", "add", "127.0.0.2/8", "dev", "dummy0")
    run("rdma", "link", "add", SECOND, "type", "rxe", "netdev", "dummy0")
    run("ueid.py", "pnet-add", "LINKS", "lo", FIRST, "1")
    run("ueid.py", "pnet-add", "LINKS", "-", SECOND, "1")


def links():
    """(device, state) of each link of each link group; both ends of a link are in this kernel."""
    answers = Generic("SMC_GEN_NETLINK").command(GET_LINK_SMCR, dump=True)  # with the link groups among them
    found = [attributes(answer[LINK_SMCR]) for answer in answers if LINK_SMCR in answer]
    return sorted((link[IB_DEV].split(b"\0")[0].decode(), struct.unpack("=I", link[STATE])[0]) for link in found)


def active(*devices):
    return links() == sorted((device, ACTIVE) for device in devices for _ in range(2))


def wait_links(*devices):
    wait_for(f"active links over {devices} (last seen: {links()})", lambda: active(*devices))


def second_joins():
    """The second link comes up. Both ends are in one kernel and see the port at the same moment, and at times their flows get into
    each other's way ("dropped parallel LLC msg"): then there is no link, and nobody tries again until the port comes once more."""
    for _ in range(JOIN_ATTEMPTS):
        run("ip", "link", "set", "dummy0", "up")
        if comes_true(lambda: active(FIRST, SECOND), PATIENCE / JOIN_ATTEMPTS):
            return
        print(f"   the second link did not join: {links()}", flush=True)
        run("ip", "link", "set", "dummy0", "down")
        wait_links(FIRST)
    fail(f"the second link has not joined in {JOIN_ATTEMPTS} attempts: {links()}")
