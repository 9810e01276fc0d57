"""Chances: what is probable beside what is certain, and never mixed with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from standout.results.display import Displayed, some
from standout.results.interval import Threshold
from standout.results.serialisation import Arms, Floats, Maybe, Result
from standout.text import chance_words, plural


@dataclass(frozen=True)
class Chances(Displayed, Result):
    """For each arm the chance that it stands out: an estimate, not a certificate.

    `chance` has an entry per arm, in the order of `arms`. `likely_threshold` is
    where the threshold probably is, with the ends between which it lies with
    probability `level`; `likely_threshold_low` is the low side's where both
    sides are asked. `flagged` is the longest list, by chance, of which at most
    `false_share` is expected to be wrong; `flagged_false_share` is what is
    expected of it and `missed_share` the part of all arms that stand out that
    is expected not to be on it. `probable` are the arms whose chance is above one half,
    the best guess, with `expected_wrong` arms expected to be on the wrong side.
    Lists begin with the highest chance. `pulls` are the rewards that all this rests on,
    `seed` drives its random draws, and `note` says where it leans on more than
    the data, if it does.

    >>> data = dict(arms=["ash", "yew"], chance=[0.02, 0.97], level=0.9,
    ...     likely_threshold={"lower": 0.4, "upper": 0.6, "estimate": 0.5},
    ...     false_share=0.05, flagged=["yew"], flagged_false_share=0.03, missed_share=0.02,
    ...     probable=["yew"], expected_wrong=0.05, pulls=30, seed=0)
    >>> found = Chances.from_dict(data)
    >>> found.flagged, found.of("yew")
    (('yew',), 0.97)
    """

    arms: Arms = field(repr=False)
    chance: Floats = field(repr=False)
    likely_threshold: Threshold
    level: float
    false_share: float
    flagged: Arms
    flagged_false_share: Maybe
    missed_share: Maybe
    probable: Arms
    expected_wrong: float
    pulls: int
    seed: int
    likely_threshold_low: Threshold | None = None
    note: str | None = None

    def of(self, arm: str) -> float:
        """The chance of one arm; raises `ValueError` if there is no such arm."""
        return float(self.chance[self.arms.index(arm)])

    def __repr__(self) -> str:
        return f"<Chances of {plural(len(self.arms), 'arm')}: {len(self.flagged):,} flagged>"

    def summary(self) -> str:
        """The highest chances and what is expected of them, in a few lines."""
        shown = [f"{arm} {chance_words(chance)}" for arm, chance in self.leaders()]
        theta = self.likely_threshold
        lines = [
            f"chances after {plural(self.pulls, 'pull')}, estimates: {some(shown)}",
            f"{plural(len(self.flagged), 'arm')} flagged, of which at most {self.false_share:.0%} "
            f"are expected to be wrong: {some(self.flagged)}",
        ]
        if theta.upper - theta.lower < math.inf:
            lines.append(
                f"threshold between {theta.lower:.5g} and {theta.upper:.5g} with chance "
                f"{self.level:g}"
            )
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def columns(self) -> dict[str, Any]:
        """Per arm: its chance, and whether it is flagged."""
        flagged = set(self.flagged)
        return {
            "arm": list(self.arms),
            "chance": self.chance,
            "flagged": [arm in flagged for arm in self.arms],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the highest chances on matplotlib axes, as `standout.plot.chances` does.

        Args:
            ax: Axes to draw on; new ones unless given.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        return import_module("standout.plot").chances(self, ax=ax)

    def leaders_dict(self, most: int = 5) -> dict[str, Any]:
        """Plain values without an entry for every arm: the leaders instead."""
        plain = self.to_dict()
        del plain["arms"], plain["chance"]
        leaders = [{"arm": arm, "chance": chance} for arm, chance in self.leaders(most)]
        return {"leaders": leaders, **plain}

    def leaders(self, most: int = 5) -> list[tuple[str, float]]:
        """The arms with the highest chances, and these."""
        order = sorted(range(len(self.arms)), key=lambda i: (-self.chance[i], i))
        return [(self.arms[i], float(self.chance[i])) for i in order[:most]]
