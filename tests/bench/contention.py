# SPDX-License-Identifier: GPL-2.0-or-later
"""Contention of locks by lock, from a histogram of the tracepoint lock:contention_begin over stack, address and flags.

A lock belongs to net/smc if the function that takes it does, which is the first one on the stack that is no lock primitive, and
if it does not lie in static memory of the kernel itself: the socket lock and others that SMC only uses are taken by
functions of the core, and RTNL by one that leaves no frame. A lock in static memory has its variable's name and, if the module's,
is host-wide; any other has the name of the function that takes it. The locks of buffer lists are known by these names.
"""
import bisect
import collections
import re

PRIMITIVE = re.compile(r"^(_*mutex_|_raw_|__raw_|(native_|__pv_)?queued_|_*down_|rwsem_|rt_|percpu_|__percpu)")
ENTRY = re.compile(r"^\{ common_stacktrace:\n(.*?)\n?, lock_addr: *([0-9a-f]+), flags: *(\d+) *\} hitcount: *(\d+)$", re.M | re.S)
FRAME = re.compile(r"^\s*([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)\])?\s*$", re.M)
HITS = re.compile(r"^\s*Hits: (\d+)", re.M)
DROPPED_FEW, DROPPED_SHARE = 8, 0.01
DROPPED = re.compile(r"^\s*Dropped: (\d+)", re.M)
# bh_lock_sock() is inlined: these take the spinlock of a socket, which is none of SMC's.
SOCKET_SPINLOCK = {"smcd_cdc_rx_tsklet", "smc_cdc_msg_recv"}
BUFFERS = re.compile(r"_*smc[rd]?_\w*(buf|pool)")
# Where an x86-64 kernel lies; its modules come after.
KERNEL = range(0xffffffff80000000, 0xffffffffc0000000)

Lock = collections.namedtuple("Lock", "name ours host_wide buffers", defaults=[False] * 3)


class Symbols:
    """Static variables, from lines of kallsyms: those of the module, and of the kernel those that are worth a name."""

    def __init__(self, text):
        found = sorted((int(line.split()[0], 16), line.split()[2]) for line in text.splitlines())
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, address):
        """The variable that an address of static memory lies in, or None"""
        if address < KERNEL.start or not self.addresses:
            return None
        at = bisect.bisect_right(self.addresses, address) - 1
        if address in KERNEL:
            return self.names[at] if at >= 0 and self.addresses[at] == address else "a static lock"
        return self.names[at] if at >= 0 and self.addresses[at] not in KERNEL and address < self.addresses[-1] + 4096 else None


def lock_of(stack, address, symbols):
    frames = FRAME.findall(stack)
    function, module = next(((f, m) for f, m in frames if not PRIMITIVE.match(f)), ("?", ""))
    function = function.split(".")[0]
    static = symbols.name(address)
    name = f"{static} in {function}" if static else function
    if module != "smc" or function in SOCKET_SPINLOCK or address in KERNEL:
        return Lock(name)
    return Lock(name, True, bool(static), bool(BUFFERS.match(function)))


def parse(hist, symbols):
    """Lock -> how often it was waited for. ValueError where the histogram was too small or is none.

    The tracer drops an event when two CPUs meet the same lock for the first time: what is dropped counts as everything that it
    could be.
    """
    dropped, hits = DROPPED.search(hist), HITS.search(hist)
    if not dropped or not hits or int(dropped[1]) > max(DROPPED_FEW, int(hits[1]) * DROPPED_SHARE):
        raise ValueError("the histogram is not whole" if dropped else "no histogram")
    counts = collections.Counter()
    if int(dropped[1]):
        counts[Lock("dropped by the tracer", True, True, True)] = int(dropped[1])
    for stack, address, _, hits in ENTRY.findall(hist):
        counts[lock_of(stack, int(address, 16), symbols)] += int(hits)
    return counts
