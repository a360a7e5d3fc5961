#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `make bench-kernel` makes of its samples: medians and intervals, locks from a histogram, rows and their targets. No guest
runs and nothing is timed."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile

from smcdtest import run, tests_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
import contention  # noqa: E402
import stats  # noqa: E402

HIST = """# event histogram
{ common_stacktrace:
         __smc_connect+0x92b/0x1540 [smc]
         smc_connect+0x164/0x200 [smc]
, lock_addr: ffffffffc0759300, flags:         32} hitcount:          3
{ common_stacktrace:
         mutex_lock+0x10/0x20
         __smc_connect.isra.0+0x92b/0x1540 [smc]
, lock_addr: ffffffffc0759310, flags:         33} hitcount:          4
{ common_stacktrace:
         smc_pnet_find_roce_resource+0x74/0x220 [smc]
         __smc_connect+0xca8/0x1540 [smc]
, lock_addr: ffffffffa68022c0, flags:         33} hitcount:          5
{ common_stacktrace:
         lock_sock_nested+0x40/0x50
         smc_recvmsg+0x20/0x50 [smc]
, lock_addr: ff4531230416aea0, flags:          1} hitcount:          7
{ common_stacktrace:
         _raw_spin_lock_bh+0x40/0x50
         smcd_cdc_rx_tsklet+0x20/0x50 [smc]
, lock_addr: ff4531230416aeb0, flags:          1} hitcount:         11
{ common_stacktrace:
         down_write+0x40/0x50
         __smc_buf_create+0x20/0x50 [smc]
, lock_addr: ff4531230416aec0, flags:          4} hitcount:         13

Totals:
    Hits: 43
    Entries: 6
    Dropped: 0
"""
SYMBOLS = """ffffffffa68022c0 d rtnl_mutex
ffffffffc07592e0 d smc_client_lgr_pending	[smc]
ffffffffc0759300 d smc_server_lgr_pending	[smc]
ffffffffc0759400 d _rs.13	[smc]
"""
SAMPLE = "some words\nvalue connections 5000\nvalue traced_connections 2000\nvalue errors 1\nvalue fallbacks 2\n"


def bench():
    loader = importlib.machinery.SourceFileLoader("bench_kernel", os.path.join(ROOT, "tests/bench/kernel"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_kernel", loader))
    loader.exec_module(module)
    return module


BENCH = bench()


def test_interval():
    """The ranks of the sign test, as printed tables have them: 9 -> 2 and 8, 20 -> 6 and 15; below 6 there is none."""
    assert stats.median_interval([9, 1, 8, 2, 7, 3, 6, 4, 5]) == (2, 8)
    assert stats.median_interval(range(1, 21)) == (6, 15)
    assert stats.median_interval([1, 2, 3, 4, 5, 6]) == (1, 6)
    assert stats.median_interval([1, 2, 3, 4, 5]) is None
    assert stats.median_interval([]) is None


def test_compare():
    """Medians, the median of the ratios of pairs, and its interval."""
    pairs = [(10, 20), (10, 10), (20, 60), (10, 15), (10, 18), (10, 40)]
    assert stats.compare(pairs) == (10, 19, 1.9, (1, 4))
    assert stats.compare([]) == (None, None, None, None)
    assert stats.compare([(0, 1), (1, 2)]) == (0.5, 1.5, None, None), "a base of 0 leaves no ratio"
    assert stats.compare([(0, 0), (1, 2)]) == (0.5, 1, 1.5, None), "two zeros are the same"


def test_locks():
    """Each lock by name, whether SMC's, host-wide, or of a buffer list."""
    counts = contention.parse(HIST, contention.Symbols(SYMBOLS))
    found = {(lock.name, lock.ours, lock.host_wide, lock.buffers): hits for lock, hits in counts.items()}
    assert found == {("smc_server_lgr_pending in __smc_connect", True, True, False): 7,
                     ("rtnl_mutex in smc_pnet_find_roce_resource", False, False, False): 5,
                     ("lock_sock_nested", False, False, False): 7,
                     ("smcd_cdc_rx_tsklet", False, False, False): 11,
                     ("__smc_buf_create", True, False, True): 13}, found


def test_histogram_that_is_not_whole():
    """A histogram that was too small, or is none, is refused."""
    for text in (HIST.replace("Dropped: 0", "Dropped: 9"), ""):
        try:
            contention.parse(text, contention.Symbols(SYMBOLS))
        except ValueError:
            continue
        raise AssertionError("taken for whole")


def test_dropped():
    """The few events that the tracer drops count as contention of every kind."""
    found = contention.parse(HIST.replace("Dropped: 0", "Dropped: 2"), contention.Symbols(SYMBOLS))
    assert found[contention.Lock("dropped by the tracer", True, True, True)] == 2, found


def sample(output, hist=HIST):
    with tempfile.TemporaryDirectory() as directory:
        for name, text in (("output.log", output), ("contention.hist", hist), ("symbols", SYMBOLS)):
            with open(os.path.join(directory, name), "w") as file:
                file.write(text)
        return BENCH.parse_sample(directory)


def test_sample():
    """Contention is for 1,000 connections of the traced run."""
    values = sample(SAMPLE)
    assert values["contention"] == 10 and values["contention_host_wide"] == 3.5 and values["contention_buffers"] == 6.5
    assert values["trouble"] == 3 and values["lock:rtnl_mutex in smc_pnet_find_roce_resource (not of net/smc)"] == 2.5


def test_sample_without_values():
    """A sample without values, or without its histogram, has failed."""
    for output, hist in (("no values\n", HIST), (SAMPLE, "")):
        try:
            sample(output, hist)
        except BENCH.Failed:
            continue
        raise AssertionError("no failure")


def test_rows():
    """Every row names a load that is there, and a load that this machine runs compares nothing of a guest."""
    for row in BENCH.ROWS:
        assert row.load in BENCH.LOADS, row
        assert (BENCH.LOADS[row.load].cpus == 0) == (row.kernels == (BENCH.HOST, BENCH.HOST)), row
        assert all(what in ("other", "ratio", "low", "high") for what, _, _ in row.targets), row
    assert {row.id for row in BENCH.ROWS} == {*"abcdefgh", "dp", "hi", "t"}


def test_plan():
    """The order of the kernels turns round from pair to pair."""
    rows = [row for row in BENCH.ROWS if row.id == "b"]
    kernels = [kernel for _, load, kernel in BENCH.plan(rows, 2, "") if load == "connect2"]
    assert kernels == ["6.12-lo", "6.12-smcd", "6.12-smcd", "6.12-lo"], kernels
    assert {kernel for _, _, kernel in BENCH.plan(rows, 2, "6.12-smcd")} == {"6.12-smcd"}


def test_failed_sample_costs_its_pair():
    """A sample that failed costs its pair, and the number of pairs shows it."""
    row = next(row for row in BENCH.ROWS if row.id == "b" and row.load == "connect2")
    samples = {("connect2", "6.12-lo"): {0: {"per_second": 100}, 1: {"per_second": 90}},
               ("connect2", "6.12-smcd"): {1: {"per_second": 180}}}
    result = BENCH.evaluate(row, samples)
    assert (result.pairs, result.base, result.other, result.ratio, result.interval) == (1, 90, 180, 2, None)
    assert BENCH.misses(result) == ["high >= 1"], "without an interval the target is not met"
    assert BENCH.cells(result) == ["b: " + row.name, "per second", "90", "180", "2", "-", "-", "1"]


def test_targets():
    """A target that is not met is named."""
    row = next(row for row in BENCH.ROWS if row.id == "b" and row.load == "connect8")
    met = BENCH.Result(row, 1000, 1400, 1.4, (1.2, 1.6), 9)
    assert BENCH.misses(met) == []
    assert BENCH.misses(met._replace(ratio=1.2)) == ["ratio >= 1.3"]
    assert BENCH.misses(met._replace(interval=(0.9, 1.6))) == ["low >= 1"]


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
