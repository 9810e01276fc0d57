"""One arm in full: what it shows, and how it came to where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from standout.results.answer import Scale
from standout.results.serialisation import Floats, Ints, LowerEnds, Result, UpperEnds


@dataclass(frozen=True)
class Item(Result):
    """What people see of an arm; None for a part that it does not have."""

    position: int
    arm: str
    text: str | None = None
    image: str | None = None
    html: str | None = None


@dataclass(frozen=True)
class ItemList(Result):
    """Some items; `left` are positions that did not fit, `total` those of the whole study."""

    items: tuple[Item, ...]
    left: tuple[int, ...]
    total: int


@dataclass(frozen=True)
class ArmWorker(Result):
    """One who measured an arm: how many rewards it told, and their mean."""

    worker: str
    rewards: int
    mean: float


@dataclass(frozen=True)
class ArmReward(Result):
    """One reward of an arm; `counted` is false for one beyond the budget, or void."""

    seq: int
    time: float
    reward: float
    worker: str
    ticket: int | None
    counted: bool


@dataclass(frozen=True)
class ArmHistory(Result):
    """How an arm came to where it stands.

    One entry per kept moment in `pulls` (the arm's own), `time`, `mean` and the
    ends of its interval: as the stop rule would have it after that reward. Those who
    told most come first in `workers`, of which there are `n_workers`; `latest` has
    the newest reward first. `scale` is for a picture; a server sends it.
    """

    position: int
    arm: str
    pulls: Ints
    time: Floats
    mean: Floats
    lower: LowerEnds
    upper: UpperEnds
    workers: tuple[ArmWorker, ...]
    n_workers: int
    latest: tuple[ArmReward, ...]
    scale: Scale | None = None
