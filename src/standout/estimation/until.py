"""When chances are good enough to end a run: a stated error, expected and not certified."""

from __future__ import annotations

import math
from dataclasses import dataclass

from standout.errors import ProblemError, shown
from standout.estimation.lists import FALSE_SHARE
from standout.results import Chances

UNSEEN = 0.002
"""Wrong arms that a few hundred draws cannot see: nothing smaller is promised."""
MOST_ARMS = 20_000
"""With more, a look at the chances would keep everyone waiting for seconds."""
MANY = 1_000
GROWTH, GROWTH_MANY = 1.1, 1.25
"""From one look to the next the pulls grow by this; by the second with more than `MANY` arms."""


@dataclass(frozen=True)
class Until:
    """Ends a run as soon as its chances promise this; an estimate, never a certificate.

    `errors`: at most so many arms are expected to be on the wrong side of the best
    guess. `false_share` with `missed_share`: of the flagged arms at most that share is
    expected to be wrong, and of all arms that stand out at most that share to be
    missed. Where several are given, all have to hold. Chances that carry a note, since they
    lean on more than the data, promise nothing. Raises `ProblemError` for what cannot be
    promised.

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
        """From `errors=0.5` or `false-share=0.05,missed-share=0.05`; raises `ProblemError`."""
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
        """What is promised, for people.

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
        """The share of wrong arms that lists are made for."""
        return FALSE_SHARE if self.false_share is None else self.false_share

    def excess(self, found: Chances) -> float:
        """How much larger than promised the worst of what is promised is; at most 1 if it holds.

        `found` has to be made with this `flag_share`.
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
        """Whether chances that were made with this `flag_share` promise it."""
        return self.excess(found) <= 1.0

    def check_arms(self, n_arms: int) -> None:
        """Raise `ProblemError` for more arms than chances are worked out for on the way."""
        if n_arms > MOST_ARMS:
            raise ProblemError(
                f"until works with at most {MOST_ARMS:,} arms, not {n_arms:,}: give a budget"
            )


def expected_missed(found: Chances) -> float:
    """The share of arms that stand out expected not to be flagged; 0 of 0 is 0.

    Where hardly any arm stands out there is hardly one to be missed: the share is no larger
    than the chance that there is an arm to miss, and so than the sum of these chances.
    """
    flagged = set(found.flagged)
    left = 0.0
    for arm, chance in zip(found.arms, found.chance.tolist(), strict=True):
        left += 0.0 if arm in flagged else chance
    return min(left, 1.0 if math.isnan(found.missed_share) else found.missed_share)


def is_look_due(before: int, after: int, n_arms: int) -> bool:
    """Whether the chances are looked at once pulls have grown from `before` to `after`.

    The first look is after as many pulls as arms; then pulls grow by a tenth or more from look
    to look, so that all looks together cost about as much as a few dozen. Depends
    on these numbers alone: whoever works a run out anew looks at the same moments.
    """
    return _looks(after, n_arms) > _looks(before, n_arms)


def _looks(pulls: int, n_arms: int) -> int:
    growth = GROWTH if n_arms <= MANY else GROWTH_MANY
    return -1 if pulls < n_arms else math.floor(math.log(pulls / n_arms) / math.log(growth))
