"""Limits on the requests per second of a caller."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from standout.service.errors import ApiError
from standout.service.open_studies import Recent

MOST_CALLERS = 10_000
"""The largest number of callers in memory; the least recent is forgotten."""


class Buckets:
    """A token bucket per caller, filled at a steady rate.

    >>> buckets = Buckets(rate=2.0, burst=3, clock=lambda: 0.0)
    >>> [buckets.take("me") for _ in range(4)]
    [0.0, 0.0, 0.0, 0.5]
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock = clock
        self._levels = Recent[str, tuple[float, float]](MOST_CALLERS)

    def take(self, caller: str) -> float:
        """Take one request; return 0, or the seconds until one is available."""
        now = self._clock()
        level, seen = self._levels.get(caller) or (self.burst, now)
        level = min(self.burst, level + (now - seen) * self.rate)
        wait = 0.0 if level >= 1 else (1 - level) / self.rate
        self._levels[caller] = (level - 1 if level >= 1 else level, now)
        return wait


def check_rate(*takings: tuple[Buckets, str]) -> None:
    """Refuse a caller whose bucket is empty, and say when to come back."""
    wait = max(buckets.take(caller) for buckets, caller in takings)
    if wait > 0:
        seconds = math.ceil(wait)
        raise ApiError(
            429,
            f"too many requests; try again in {seconds} s",
            headers={"Retry-After": str(seconds)},
        )
