"""Chances: what is probable, kept apart from what is certain."""

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

    Lists begin with the highest chance.

    Attributes:
        arms: The names of the arms.
        chance: The chance of each arm, in the order of `arms`, between 0 and 1.
        level: The probability with which the threshold lies in `likely_threshold`.
        likely_threshold: The estimated threshold, with the ends of its interval.
        likely_threshold_low: The low side's if both sides are asked, else None.
        false_share: The largest share of `flagged` that may be wrong, in expectation.
        flagged: The longest list of arms, by chance, that keeps `false_share`.
        flagged_false_share: The share of `flagged` that is expected to be wrong.
        missed_share: The share of all arms that stand out that is expected to be missing from
            `flagged`.
        probable: Arms whose chance is above one half: the best guess.
        expected_wrong: The number of arms expected to be on the wrong side of the best guess.
        pulls: The number of rewards behind the estimates.
        seed: The seed of the random draws.
        note: Where the estimates depend on assumptions rather than on data, if they do.

    Example:
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
        """The chance of one arm.

        Args:
            arm: The arm's name.

        Returns:
            A number between 0 and 1.

        Raises:
            ValueError: There is no such arm.
        """
        return float(self.chance[self.arms.index(arm)])

    def __repr__(self) -> str:
        return f"<Chances of {plural(len(self.arms), 'arm')}: {len(self.flagged):,} flagged>"

    def summary(self) -> str:
        """The highest chances and what to expect of them, in a few lines.

        Returns:
            Plain text, one fact a line.
        """
        shown = [f"{arm} {chance_words(chance)}" for arm, chance in self.leaders()]
        theta = self.likely_threshold
        lines = [
            f"chances after {plural(self.pulls, 'pull')}, estimates: {some(shown)}",
            f"{plural(len(self.flagged), 'arm')} flagged, of which at most {self.false_share:.0%} "
            "are expected to be wrong" + (f": {some(self.flagged)}" if self.flagged else ""),
        ]
        if theta.upper - theta.lower < math.inf:
            lines.append(
                f"threshold between {theta.lower:.5g} and {theta.upper:.5g} with chance "
                f"{self.level:g}"
            )
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def columns(self) -> dict[str, Any]:
        """The chances as columns, one row per arm.

        Returns:
            `arm`, `chance` and `flagged`.
        """
        flagged = set(self.flagged)
        return {
            "arm": list(self.arms),
            "chance": self.chance,
            "flagged": [arm in flagged for arm in self.arms],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the highest chances on matplotlib axes, as `standout.plot.chances` does.

        Args:
            ax: Axes to draw on; new axes by default.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        return import_module("standout.plot").chances(self, ax=ax)

    def leaders_dict(self, most: int = 5) -> dict[str, Any]:
        """Plain values, with the leaders in place of an entry for every arm.

        Args:
            most: The number of leaders; 5 by default.

        Returns:
            A mapping that JSON can carry.
        """
        plain = self.to_dict()
        del plain["arms"], plain["chance"]
        leaders = [{"arm": arm, "chance": chance} for arm, chance in self.leaders(most)]
        return {"leaders": leaders, **plain}

    def leaders(self, most: int = 5) -> list[tuple[str, float]]:
        """The arms with the highest chances.

        Args:
            most: The number of arms; 5 by default.

        Returns:
            Pairs of an arm and its chance, the highest chance first.
        """
        order = sorted(range(len(self.arms)), key=lambda i: (-self.chance[i], i))
        return [(self.arms[i], float(self.chance[i])) for i in order[:most]]
