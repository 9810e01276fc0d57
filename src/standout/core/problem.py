"""The problem: which arms stand out, with which certainty, under which noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, TypeAlias

from standout.core.noise import LARGEST, NOISE_FORMS, Noise, parse_noise
from standout.errors import ProblemError, shown
from standout.results import Question

MAD_SCALE = 1.4826
"""1/Phi^-1(3/4): makes the MAD of normal values estimate their standard deviation."""

MIN_ARMS = 3
SMALLEST_DELTA = 1e-100
SMALLEST_FACTOR, LARGEST_FACTOR = 1e-6, 1e6
"""Limits of k * mad_scale: beyond these, rounding swallows the median or the MAD."""


class Side(StrEnum):
    """The side on which outliers are looked for; the texts `high`, `low` and `both` work, too.

    Example:
        >>> Side("both") is Side.BOTH
        True
    """

    HIGH = "high"
    LOW = "low"
    BOTH = "both"


@dataclass(frozen=True, init=False)
class Problem:
    """What stands out: an arm whose mean exceeds median + k * mad_scale * MAD of all means.

    Args:
        noise: How rewards scatter around their arm's mean: a family such as `Gaussian(0.05)`, or
            its text, in the rewards' unit: `bernoulli` (0 or 1), `gaussian:SIGMA` (sub-Gaussian of
            known scale), `gaussian` (of any scale), `bounded:A,B` (any rewards from A to B),
            `heavy:SIGMA` (a standard deviation of at most SIGMA).
        k: The distance of the threshold from the median, in scaled MADs; at least 1, by default 3.
        delta: The accepted probability that any verdict is wrong; 0.05 by default.
        side: `high` (the default), `low` for means below median - k * mad_scale * MAD, or `both`.
        tolerance: The distance from the threshold, in the rewards' unit, within which either
            verdict counts as right; 0 by default.
        mad_scale: The factor of the MAD: 1.4826 (the default) makes it match a standard deviation,
            1 is the plain MAD.
        k_low: The low side's own k, with `side="both"`; by default `k`.

    Raises:
        ProblemError: A value is not valid; the message says what to change.

    Example:
        >>> problem = Problem(noise="bernoulli", k=3, side="both")
        >>> problem.factor, problem.noise, str(problem.side)
        (4.4478, Bernoulli(), 'both')
    """

    noise: Noise
    k: float
    delta: float
    mad_scale: float
    side: Side
    k_low: float | None
    tolerance: float

    def __init__(
        self,
        *,
        noise: Noise | str,
        k: float = 3.0,
        delta: float = 0.05,
        mad_scale: float = MAD_SCALE,
        side: Side | str = Side.HIGH,
        k_low: float | None = None,
        tolerance: float = 0.0,
    ) -> None:
        given = {"k": k, "delta": delta, "mad_scale": mad_scale, "tolerance": tolerance}
        values = {name: _as_number(name, value) for name, value in given.items()}
        low = None if k_low is None else _as_number("k_low", k_low)
        # A frozen dataclass can only be set this way.
        vars(self).update(values, noise=_as_noise(noise), side=_as_side(side), k_low=low)
        self._check()

    def _check(self) -> None:
        if self.k < 1:
            raise ProblemError(f"k must be at least 1, not {self.k:g} (2 or 3 are usual)")
        if self.k_low is not None:
            if self.side is not Side.BOTH:
                raise ProblemError(f"k_low only goes with side 'both', not '{self.side}'; use k")
            if self.k_low < 1:
                raise ProblemError(f"k_low must be at least 1, not {self.k_low:g}")
        if self.tolerance < 0:
            raise ProblemError(f"tolerance must not be negative, not {self.tolerance:g}")
        if not 0 < self.delta < 1:
            raise ProblemError(
                f"delta must lie between 0 and 1, not {self.delta:g}; "
                "it is the accepted probability of a wrong answer, e.g. 0.05"
            )
        if self.delta < SMALLEST_DELTA:
            raise ProblemError(f"delta must be at least {SMALLEST_DELTA:g}, not {self.delta:g}")
        if self.tolerance > LARGEST:
            raise ProblemError(f"tolerance must be at most {LARGEST:g}, not {self.tolerance:g}")
        if self.mad_scale <= 0:
            raise ProblemError(
                f"mad_scale must be positive, not {self.mad_scale:g}; "
                f"1 is the plain MAD, {MAD_SCALE} matches a standard deviation"
            )
        for side in self.sides():
            factor = self.factor_of(side)
            if not SMALLEST_FACTOR <= factor <= LARGEST_FACTOR:
                raise ProblemError(
                    f"k times mad_scale must lie between {SMALLEST_FACTOR:g} and "
                    f"{LARGEST_FACTOR:g}, not {factor:g} (k is 2 or 3 as a rule)"
                )

    @property
    def factor(self) -> float:
        """The factor of the MAD in the threshold: k * mad_scale."""
        return self.factor_of(self.side)

    def factor_of(self, side: Side) -> float:
        """A side's factor of the MAD; the only place that applies `mad_scale`.

        Args:
            side: `Side.HIGH` or `Side.LOW`.

        Returns:
            k or k_low, times `mad_scale`.
        """
        is_low = side is Side.LOW and self.k_low is not None
        return (self.k_low if is_low else self.k) * self.mad_scale  # type: ignore[operator]

    def sides(self) -> tuple[Side, ...]:
        """The sides that are asked, each a separate question.

        Returns:
            One or two sides, the high one first.
        """
        return (Side.HIGH, Side.LOW) if self.side is Side.BOTH else (self.side,)

    def check_arms(self, n_arms: int) -> None:
        """Refuse a number of arms that is too small for the question.

        Args:
            n_arms: The number of arms.

        Raises:
            ProblemError: There are too few arms.
        """
        if n_arms < MIN_ARMS:
            raise ProblemError(
                f"at least {MIN_ARMS} arms are needed to speak of a median and its deviation, "
                f"not {n_arms}"
            )

    def question(self) -> Question:
        """The problem as plain values."""
        return Question(**vars(self) | {"side": str(self.side), "noise": self.noise.spec()})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        Returns:
            A mapping of the fields, with the noise as text.
        """
        return self.question().to_dict()


ProblemLike: TypeAlias = Problem | Question | Noise | str | Mapping[str, Any]
"""Accepted as a `Problem`: a problem, its noise (with defaults), or its fields."""


def as_problem(value: ProblemLike) -> Problem:
    """The problem that `value` stands for.

    Args:
        value: A `Problem`; a noise family or its text, such as `"gaussian:0.5"`, for the problem
            with this noise and the defaults; or a mapping of a problem's fields, such as
            `{"noise": "bernoulli", "k": 2}`.

    Returns:
        The problem itself, or a new one.

    Raises:
        ProblemError: The value is none of these, or its question is not valid.

    Example:
        >>> as_problem("bernoulli") == as_problem({"noise": "bernoulli", "k": 3})
        True
    """
    if isinstance(value, Problem):
        return value
    if isinstance(value, Noise | str):
        return Problem(noise=value)
    if isinstance(value, Question):
        return Problem(**vars(value))
    if not isinstance(value, Mapping):
        raise ProblemError(
            "say what is asked: Problem(noise=...), a mapping of its fields, or a noise alone "
            f"({NOISE_FORMS}), not {shown(value)}"
        )
    names = [field.name for field in fields(Problem)]
    unknown = [name for name in value if name not in names]
    if unknown:
        raise ProblemError(f"a problem has no {unknown[0]!r}; it has {', '.join(names)}")
    if "noise" not in value:
        raise ProblemError(f"the problem has no noise; add 'noise', one of {NOISE_FORMS}")
    return Problem(**value)


def _as_noise(value: object) -> Noise:
    if isinstance(value, Noise):
        return value
    if isinstance(value, str):
        return parse_noise(value)
    raise ProblemError(f"noise must be a noise family, not {value!r}; use {NOISE_FORMS}")


def _as_side(value: object) -> Side:
    try:
        return Side(str(value))
    except ValueError:
        choices = ", ".join(Side)
        raise ProblemError(f"side must be one of {choices}, not {value!r}") from None


def _as_number(name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ProblemError(f"{name} must be a number, not {shown(value)}") from None
    if not math.isfinite(number):
        raise ProblemError(f"{name} must be finite, not {number}")
    return number
