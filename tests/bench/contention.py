# SPDX-License-Identifier: GPL-2.0-or-later
"""Contention of locks by lock, from a histogram of the tracepoint lock:contention_begin over stack, address and flags.

A lock belongs to net/smc if the function that takes it does, which is the first one on the stack that is no lock primitive: the
socket lock (lock_sock), RTNL and others that SMC only uses are taken by functions of the core. A lock in static memory
of the module has its variable's name and is host-wide; any other has the name of the function that takes it.
"""
import bisect
import collections
import re

PRIMITIVE = re.compile(r"^(_*mutex_|_raw_|__raw_|(native_|__pv_)?queued_|_*down_|rwsem_|rt_|percpu_|__percpu)")
ENTRY = re.compile(r"^\{ common_stacktrace:\n(.*?)\n?, lock_addr: *([0-9a-f]+), flags: *(\d+) *\} hitcount: *(\d+)$", re.M | re.S)
FRAME = re.compile(r"^\s*([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)\])?\s*$", re.M)
DROPPED = re.compile(r"^\s*Dropped: (\d+)", re.M)
# bh_lock_sock() is inlined: these take the spinlock of a socket, which is none of SMC's.
SOCKET_SPINLOCK = {"smcd_cdc_rx_tsklet", "smc_cdc_msg_recv"}

Lock = collections.namedtuple("Lock", "name ours host_wide")


class Symbols:
    """Static variables of the module, from lines of kallsyms."""

    def __init__(self, text):
        found = sorted((int(address, 16), name) for address, _, name, *_ in map(str.split, text.splitlines()))
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, address):
        """The variable that an address lies in, or None; the module's memory ends soon after the last one."""
        at = bisect.bisect_right(self.addresses, address) - 1
        if at < 0 or address > self.addresses[-1] + 4096:
            return None
        return self.names[at]


def lock_of(stack, address, symbols):
    frames = FRAME.findall(stack)
    function, module = next(((f, m) for f, m in frames if not PRIMITIVE.match(f)), ("?", ""))
    function = function.split(".")[0]
    if module != "smc" or function in SOCKET_SPINLOCK:
        return Lock(function, False, False)
    static = symbols.name(address)
    return Lock(f"{static} in {function}" if static else function, True, bool(static))


def parse(hist, symbols):
    """Lock -> how often it was waited for. ValueError where the histogram was too small or is none."""
    dropped = DROPPED.search(hist)
    if not dropped or int(dropped[1]):
        raise ValueError("the histogram is not whole" if dropped else "no histogram")
    counts = collections.Counter()
    for stack, address, _, hits in ENTRY.findall(hist):
        counts[lock_of(stack, int(address, 16), symbols)] += int(hits)
    return counts
