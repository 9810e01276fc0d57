"""When chances are good enough to end a run: a stated error, expected and not certified."""

from __future__ import annotations

import math
from dataclasses import dataclass

from standout.errors import ProblemError, shown
from standout.estimation.lists import FALSE_SHARE
from standout.results import Chances

UNSEEN = 0.002
"""A few hundred draws cannot resolve fewer wrong arms, so nothing smaller is promised."""
MOST_ARMS = 20_000
"""With more arms, computing the chances would take seconds."""
MANY = 1_000
GROWTH, GROWTH_MANY = 1.1, 1.25
"""The factor of pulls from one look to the next; the second with more than `MANY` arms."""


@dataclass(frozen=True)
class Until:
    """Ends a run as soon as its chances promise this: an estimate, never a certificate.

    If several values are given, all must hold. Chances with a note depend on more than the data and
    promise nothing.

    Args:
        errors: The largest expected number of arms on the wrong side of the best guess.
        false_share: The largest expected share of flagged arms that are wrong, between 0 and 1.
        missed_share: The largest expected share of arms that stand out and are not flagged; goes
            with `false_share`.

    Raises:
        ProblemError: A value cannot be promised.

    Example:
        >>> Until(errors=0.5)
        Until(errors=0.5)
        >>> str(Until.parse("false-share=0.05,missed-share=0.1"))
        'false-share=0.05,missed-share=0.1'
    """

    errors: float | None = None
    false_share: float | None = None
    missed_share: float | None = None

    def __post_init__(self) -> None:
        if (self.false_share is None) != (self.missed_share is None):
            raise ProblemError(
                "false-share and missed-share go together: an empty list has nothing false on "
                "it, and a list of all arms misses none"
            )
        if self.errors is None and self.false_share is None:
            raise ProblemError("until needs errors=, or false-share= and missed-share=")
        if self.errors is not None and not 0 < self.errors < math.inf:
            raise ProblemError(f"errors must be a positive number of arms, not {self.errors}")
        for name, share in (("false", self.false_share), ("missed", self.missed_share)):
            if share is not None and not 0 < share < 1:
                raise ProblemError(f"{name}-share must lie between 0 and 1, not {share}")

    @classmethod
    def parse(cls, text: str) -> Until:
        """Read `errors=0.5` or `false-share=0.05,missed-share=0.05`.

        Args:
            text: The promise.

        Returns:
            The same as an object.

        Raises:
            ProblemError: The text is not a promise.
        """
        found: dict[str, float] = {}
        for part in text.split(","):
            name, _, value = (piece.strip() for piece in part.partition("="))
            field = name.replace("-", "_")
            if field not in cls.__dataclass_fields__ or field in found:
                raise ProblemError(
                    f"until is errors=0.5 or false-share=0.05,missed-share=0.05, not {shown(text)}"
                )
            try:
                found[field] = float(value)
            except ValueError:
                raise ProblemError(f"until: {name} must be a number, not {shown(value)}") from None
        return cls(**found)

    def __str__(self) -> str:
        return ",".join(f"{name.replace('_', '-')}={value!r}" for name, value in self._given())

    def __repr__(self) -> str:
        return f"Until({', '.join(f'{name}={value!r}' for name, value in self._given())})"

    def _given(self) -> list[tuple[str, float]]:
        return [(name, value) for name, value in vars(self).items() if value is not None]

    @property
    def words(self) -> str:
        """The promise in words.

        Example:
            >>> Until.parse("errors=0.5").words
            'at most 0.5 wrong arms expected'
        """
        parts = []
        if self.errors is not None:
            parts.append(f"at most {self.errors:g} wrong arms expected")
        if self.false_share is not None and self.missed_share is not None:
            parts.append(
                f"at most {100 * self.false_share:g} % of the flagged arms expected to be wrong "
                f"and at most {100 * self.missed_share:g} % of those that stand out to be missed"
            )
        return ", ".join(parts)

    @property
    def flag_share(self) -> float:
        """The `false_share` for which lists are made."""
        return FALSE_SHARE if self.false_share is None else self.false_share

    def excess(self, found: Chances) -> float:
        """The worst ratio of an expected error to the promised one; at most 1 if the promise holds.

        Args:
            found: Chances made with this `flag_share`.

        Returns:
            The ratio.
        """
        if found.note is not None:
            return math.inf
        worst = 0.0
        if self.errors is not None:
            worst = (found.expected_wrong + UNSEEN) / self.errors
        if self.missed_share is not None:
            worst = max(worst, expected_missed(found) / self.missed_share)
        return worst

    def is_met(self, found: Chances) -> bool:
        """Whether the chances keep the promise.

        Args:
            found: Chances made with this `flag_share`.

        Returns:
            True if they do.
        """
        return self.excess(found) <= 1.0

    def check_arms(self, n_arms: int) -> None:
        """Refuse more arms than the chances can handle during a run.

        Args:
            n_arms: The number of arms.

        Raises:
            ProblemError: There are too many arms.
        """
        if n_arms > MOST_ARMS:
            raise ProblemError(
                f"until works with at most {MOST_ARMS:,} arms, not {n_arms:,}: give a budget"
            )


def expected_missed(found: Chances) -> float:
    """The expected share of arms that stand out but are not flagged; 0 of 0 is 0.

    If few arms stand out, few can be missed: the share is at most the chance that there is an arm
    to miss, and so at most the sum of these chances.
    """
    flagged = set(found.flagged)
    left = 0.0
    for arm, chance in zip(found.arms, found.chance.tolist(), strict=True):
        left += 0.0 if arm in flagged else chance
    return min(left, 1.0 if math.isnan(found.missed_share) else found.missed_share)


def is_look_due(before: int, after: int, n_arms: int) -> bool:
    """Whether the chances are computed when pulls grow from `before` to `after`.

    The first look is after as many pulls as arms. Then pulls grow by a tenth or more between looks,
    so all looks together cost about as much as a few dozen. The result depends only on these
    numbers, so a replay looks at the same moments.
    """
    return _looks(after, n_arms) > _looks(before, n_arms)


def _looks(pulls: int, n_arms: int) -> int:
    growth = GROWTH if n_arms <= MANY else GROWTH_MANY
    return -1 if pulls < n_arms else math.floor(math.log(pulls / n_arms) / math.log(growth))
