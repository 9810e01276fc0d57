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
            "threshold": {
                "lower": _finite(self.threshold.lower),
                "upper": _finite(self.threshold.upper),
            },
            "stopped": self.stopped,
            "reason": self.reason,
            "rounds": self.rounds,
            "failures": self.failures,
            "paused": self.paused,
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
