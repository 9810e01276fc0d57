"""What a process remembers of its answers: typed, and never more than so many."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakValueDictionary

from standout.results import ArmHistory, Chances, EndingList, Forecast
from standout.study import Study

if TYPE_CHECKING:
    from standout.service.pictures import Sources
    from standout.service.rating.rater import Record

K = TypeVar("K")
V = TypeVar("V")

MOST_REPORTS = 4
"""Reports kept: each may be a megabyte."""
MOST_STUDIES = 64
"""Studies of which small answers are kept."""
MOST_RATERS = 10_000
"""Raters that a process remembers; others are looked up again."""


class Recent(Generic[K, V]):
    """The newest answers; the one not used for longest makes room. Safe in threads.

    >>> kept = Recent[str, int](most=2)
    >>> for name in ("a", "b", "a", "c"):
    ...     kept[name] = kept.get(name, 0) + 1
    >>> kept.get("a"), kept.get("b"), kept.get("c"), len(kept)
    (2, None, 1, 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._finding: WeakValueDictionary[K, threading.Lock] = WeakValueDictionary()

    def get(self, key: K, default: V | None = None) -> V | None:
        """What is kept under `key`, which counts as a use; else `default`."""
        with self._lock:
            if key not in self._kept:
                return default
            self._kept.move_to_end(key)
            return self._kept[key]

    def __setitem__(self, key: K, value: V) -> None:
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def finding(self, key: K) -> threading.Lock:
        """A lock for whoever works out what is to be kept under `key`: others wait for that."""
        with self._lock:
            return self._finding.setdefault(key, threading.Lock())

    def pop(self, key: K) -> None:
        """Forget what is kept under `key`, if anything."""
        with self._lock:
            self._kept.pop(key, None)

    def __len__(self) -> int:
        return len(self._kept)


State = tuple[int, str]


def state_of(study: Study) -> State:
    """What two states of a study differ in, also where its file was replaced by a copy.

    A copy that went on by itself may have come to the same `seq`, but not to the
    same digest of its log.
    """
    return study.pulse().seq, study.status().head


@dataclass(frozen=True)
class Kept(Generic[V]):
    """What was found of a state, good until `until` (monotonic seconds) even if more was told."""

    state: State
    found: V
    until: float = -math.inf


def kept_or_new(
    kept: Recent[K, Kept[V]],
    key: K,
    study: Study,
    find: Callable[[], V],
    good_for: Callable[[V, float], float] = lambda found, took: 0.0,
) -> V:
    """What is kept of the study as it is or still good; else what `find` gives, kept.

    Of many who ask for the same at once, one works it out and the others wait for it.

    `good_for` says for how many seconds, of what was found and the seconds that it took.
    """
    with kept.finding(key):
        state, begin = state_of(study), time.monotonic()
        last = kept.get(key)
        if last is not None and (last.state == state or begin < last.until):
            return last.found
        found = find()
        now = time.monotonic()
        kept[key] = Kept(state, found, now + good_for(found, now - begin))
    return found


class Caches:
    """By the study's name; raters by study and worker, chances by study and what was asked."""

    def __init__(self) -> None:
        self.reports = Recent[str, Kept[str]](MOST_REPORTS)
        self.forecasts = Recent[str, Kept[Forecast | None]](MOST_STUDIES)
        self.chances = Recent[tuple[str, float, int], Kept[Chances]](MOST_STUDIES)
        self.endings = Recent[str, Kept[EndingList]](MOST_STUDIES)
        self.images: Recent[str, Sources] = Recent(MOST_STUDIES)
        self.arms = Recent[tuple[str, int], Kept[ArmHistory]](MOST_STUDIES)
        self.raters: Recent[tuple[str, str], Record] = Recent(MOST_RATERS)
        self.shown = Recent[tuple[str, int], str](MOST_RATERS)
        self.rater_turns = WeakValueDictionary[tuple[str, str], asyncio.Lock]()
