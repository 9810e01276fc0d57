"""One arm in full: its item, and the history of its mean and interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from standout.results.answer import Scale
from standout.results.serialisation import Floats, Ints, LowerEnds, Result, UpperEnds


@dataclass(frozen=True)
class Item(Result):
    """What raters see of an arm; a missing part is None."""

    position: int
    arm: str
    text: str | None = None
    image: str | None = None
    html: str | None = None


@dataclass(frozen=True)
class ItemList(Result):
    """Some items. `left` are positions that did not fit; `total` counts the items of the study."""

    items: tuple[Item, ...]
    left: tuple[int, ...]
    total: int


@dataclass(frozen=True)
class ArmWorker(Result):
    """A worker who measured an arm: how many rewards they reported, and their mean."""

    worker: str
    rewards: int
    mean: float


@dataclass(frozen=True)
class ArmReward(Result):
    """One reward of an arm; `counted` is false if it is void or exceeds the budget."""

    seq: int
    time: float
    reward: float
    worker: str
    ticket: int | None
    counted: bool


@dataclass(frozen=True)
class ArmHistory(Result):
    """How an arm's mean and interval developed.

    `pulls` (the arm's own), `time`, `mean`, `lower` and `upper` have one entry per kept moment; the
    interval is the one that the stopping rule used after that reward. `workers` begins with those
    who reported most; `n_workers` counts all of them. `latest` begins with the newest reward.
    `scale` is for a picture and is set by a server.
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

    def with_names(self, names: Mapping[str, str]) -> ArmHistory:
        """The same with other names for some workers."""
        if not names:
            return self
        workers = tuple(
            replace(one, worker=names.get(one.worker, one.worker)) for one in self.workers
        )
        latest = tuple(
            replace(one, worker=names.get(one.worker, one.worker)) for one in self.latest
        )
        return replace(self, workers=workers, latest=latest)

    scale: Scale | None = None
