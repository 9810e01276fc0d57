"""The result of analysing past measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from standout.results.answer import Identification, Question
from standout.results.display import DisplayedArms, counted, some
from standout.results.interval import Interval
from standout.results.serialisation import Result
from standout.results.study import Forecast
from standout.results.view import Next
from standout.text import plural, verdicts


@dataclass(frozen=True)
class Analysis(DisplayedArms, Result):
    """What past measurements show: what is certain, what is probable, what to measure next.

    Attributes:
        found: The verdicts with the guarantee, the threshold, best guesses and, if some arms are
            undecided, `chances` and `endings`.
        problem: What was asked.
        method: The method that chooses the next pulls.
        interval: The interval that was computed.
        rewards: The number of rewards in the table.
        is_complete: Whether the table holds all rewards of its arms, as stated by the caller. If
            it does not, nothing in it is certain.
        assumptions: What must be true for the guarantee to hold.
        otherwise: What can still be said if the assumptions do not hold.
        next: The pulls that the method would make now.
        left: A forecast of the pulls that decide the remaining arms, if there is one.
        notes: Remarks on the data.
        possible: An estimate, one interval per side (the high side first). No method could prove
            a narrower interval of the threshold from this many rewards without assuming how the
            means are distributed. Empty if it was not computed.

    Example:
        >>> from standout import Problem, analyse
        >>> table = {"a": [0, 1] * 9, "b": [1, 0] * 9, "c": [0] * 18}
        >>> analyse(table, Problem(noise="bernoulli"))
        <Analysis of 54 rewards of 3 arms: 0 outliers, 0 normal, 3 undecided>
    """

    found: Identification
    problem: Question
    method: str
    interval: str
    rewards: int
    is_complete: bool
    assumptions: tuple[str, ...]
    otherwise: str
    next: tuple[Next, ...]
    left: Forecast | None
    notes: tuple[str, ...] = ()
    possible: tuple[Interval, ...] = ()

    def __repr__(self) -> str:
        found = self.found
        return (
            f"<Analysis of {self._what()}: "
            f"{verdicts(len(found.outliers), len(found.normal), len(found.undecided))}>"
        )

    def _answer_lines(self) -> list[str]:
        """What is proved and what is probable, one line each, or the plain answer."""
        found, likely = self.found, self.found.chances
        if likely is None:
            return found.summary().splitlines()
        sides = [likely.likely_threshold, likely.likely_threshold_low]
        between = _intervals([one for one in sides if one is not None])
        few = likely.expected_wrong < 0.001
        wrong = "fewer than 0.001" if few else f"{likely.expected_wrong:.2g}"
        return [
            f"proved:   {counted('outlier', found.outliers, 5)}; {len(found.normal):,} normal, "
            f"{len(found.undecided):,} undecided; {found.threshold_words()}",
            f"probable: {counted('outlier', likely.probable, 5)}; {wrong} wrong arms expected; "
            f"threshold {between} with chance {likely.level:g}",
            *found.overlap_lines(),
            *found.remark_lines(),
        ]

    def _what(self) -> str:
        return f"{plural(self.rewards, 'reward')} of {plural(len(self.found.arms), 'arm')}"

    def summary(self) -> str:
        """The certain verdicts, the probable ones and the next pulls, in a few lines.

        Returns:
            Plain text, one fact a line.
        """
        found = self.found
        lines = [
            f"{self._what()}; {self.problem.noise} noise, "
            f"k {self.problem.k:g}, delta {self.problem.delta:g}",
            *self._answer_lines(),
        ]
        if found.chances is not None:
            leaders = [pair for pair in found.chances.leaders(len(found.arms)) if pair[1] >= 0.01]
            left = set(found.undecided)
            shown = [
                f"{arm} {'>0.99' if chance > 0.99 else f'{chance:.2f}'}"
                for arm, chance in leaders
                if arm in left
            ]
            if shown:
                lines.append(f"chances of undecided arms: {some(shown, 5)}")
        if self.next:
            shown = [f"{one.arm} ({one.pulls:,})" for one in self.next]
            lines.append(f"to measure next, with how many pulls: {some(shown, 5)}")
        if self.left is not None:
            upper = "?" if self.left.upper is None else f"{self.left.upper:,}"
            lines.append(
                f"about {plural(self.left.pulls_left, 'more pull')} to decide the rest "
                f"({self.left.lower:,} to {upper})"
            )
        elif found.undecided and self.is_complete:
            lines.append("no forecast of the pulls to decide the rest: there would be very many")
        for one in found.offered_endings()[1:]:
            took = (
                "longer than was simulated"
                if one.pulls is None
                else f"about {plural(one.pulls, 'more pull')}"
            )
            lines.append(f"  with a tolerance of {one.tolerance:g}: {took}")
        return "\n".join([*lines, *self._possible_words(), *self.notes])

    def _possible_words(self) -> list[str]:
        """The limit on what any method could prove, one sentence a side."""
        return [
            "no method could prove more about the threshold than "
            f"{each.lower:.5g} to {each.upper:.5g} from these rewards without assuming how the "
            "means lie (an estimate)"
            for each in self.possible
        ]

    def columns(self) -> dict[str, Any]:
        """The columns of `found`.

        Returns:
            A mapping from column name to an array with one entry per arm.
        """
        return self.found.columns()

    def _drawn(self) -> Identification:
        return self.found


def _intervals(found: Sequence[Interval]) -> str:
    """The ends of one threshold's interval, or of both."""
    return ", ".join(f"between {one.lower:.4g} and {one.upper:.4g}" for one in found)
