"""How a study stands, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from standout.core.identification import Interval


@dataclass(frozen=True)
class Status:
    """How a study stands at one moment; arms by name.

    `pulls` are the rewards counted, `pending` the pulls handed out and owed a
    reward; of these `expired` wait to be handed out again. `surplus` rewards
    came beyond the budget and are in no total. `failures` counts tickets given
    back, per arm that had any; `paused` says why an arm is handed out no more.
    `threshold_low` is the low side's when both are asked; `note` says why what
    is left may never be decided, if that shows.
    """

    name: str
    pulls: int
    pending: int
    expired: int
    surplus: int
    budget: int | None
    outliers: tuple[str, ...]
    normal: tuple[str, ...]
    undecided: tuple[str, ...]
    threshold: Interval
    stopped: bool
    reason: str
    rounds: int
    threshold_low: Interval | None = None
    note: str | None = None
    failures: dict[str, int] = field(default_factory=dict)
    paused: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; an end that is not known yet is null."""
        return {
            "name": self.name,
            "pulls": self.pulls,
            "pending": self.pending,
            "expired": self.expired,
            "surplus": self.surplus,
            "budget": self.budget,
            "outliers": list(self.outliers),
            "normal": list(self.normal),
            "undecided": list(self.undecided),
            "threshold": _ends(self.threshold),
            "threshold_low": None if self.threshold_low is None else _ends(self.threshold_low),
            "note": self.note,
            "stopped": self.stopped,
            "reason": self.reason,
            "rounds": self.rounds,
            "failures": self.failures,
            "paused": self.paused,
        }


def _ends(interval: Interval) -> dict[str, float | None]:
    return {"lower": _finite(interval.lower), "upper": _finite(interval.upper)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
