# SPDX-License-Identifier: GPL-2.0-or-later
"""Paired measurements: median and an interval that assumes no distribution."""
import math
import statistics

CONFIDENCE = 0.95


def median_interval(values, confidence=CONFIDENCE):
    """(low, high): order statistics of the values between which their median lies with at least this confidence.

    The sign test: the number of values below the true median is binomial with 1/2. None for fewer values than allow it
    (at 95 %, six; of nine, the second and the eighth).
    """
    values, n = sorted(values), len(values)
    best, below = None, 0
    for k in range(n // 2):
        below += math.comb(n, k)
        if 1 - 2 * below / 2 ** n < confidence:
            break
        best = (values[k], values[n - 1 - k])
    return best


def compare(pairs):
    """Of (base, other) pairs: median of the bases, median of the others, median of other / base, its interval.

    Two zeros are the same; a pair with a base of 0 alone has no ratio, and then there is none at all, as leaving pairs out
    would bend it.
    """
    bases, others = [b for b, _ in pairs], [o for _, o in pairs]
    medians = (statistics.median(bases), statistics.median(others)) if pairs else (None, None)
    if not pairs or any(b == 0 and o != 0 for b, o in pairs):
        return (*medians, None, None)
    ratios = [o / b if b else 1 for b, o in pairs]
    return (*medians, statistics.median(ratios), median_interval(ratios))
