"""Which noise family fits some rewards, in words, with the evidence.

Rewards that are all 0 or 1 are Bernoulli; whole numbers from a short list are marks within bounds.
Other rewards are centred and scaled by arm and compared with Gaussian ones: the skewness and the
excess kurtosis of all arms together are compared with the largest of 200 or more simulated sets of
Gaussian rewards, in the same numbers per arm. A false alarm has a probability of at most 0.01.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from standout.analysis.columns import Layout
from standout.analysis.tables import Rewards, read_table
from standout.core.noise import Noise, parse_noise
from standout.core.typing import Floats, Ints
from standout.errors import ProblemError
from standout.text import plural

MOST_LEVELS = 11
"""The largest number of distinct whole numbers that look like marks on a scale."""
FEWEST = 3
"""The smallest number of rewards of an arm that show the shape of its noise."""
MOST_ROWS = 4000
"""The largest number of rewards that are examined, evenly chosen."""
FEWEST_IN_ALL = 50
"""Fewer rewards than this rule out almost nothing."""
LEAST_DRAWS, MOST_DRAWS = 200, 1000
"""Numbers of simulated sets: the largest of n is exceeded with probability 1 / (n + 1)."""
SKEWED, PEAKED = 0.3, 0.6
"""Skewness and excess kurtosis below which the Gaussian intervals do no harm."""
ROOM = 1.5
"""The factor on the largest standard deviation of an arm for `heavy:SIGMA`."""


@dataclass(frozen=True)
class NoiseAdvice:
    """A noise family that fits some rewards, the reason, and its risks.

    Attributes:
        noise: The text of the family, such as `bernoulli`, for `Problem(noise=...)`.
        why: The reason in a sentence.
        evidence: The evidence, one line each.
        is_sure: Whether the rewards alone suffice. If not, `noise` contains a number (a bound or a
            scale) that you must know; these rewards only suggest it.
        hint: An alternative, if there is one.

    Example:
        >>> said = recommend_noise({"a": [0, 1, 1], "b": [0, 0, 1], "c": [1, 1, 0]})
        >>> said.noise, said.is_sure, said.family()
        ('bernoulli', True, Bernoulli())
    """

    noise: str
    why: str
    evidence: tuple[str, ...]
    is_sure: bool
    hint: str = ""

    def family(self) -> Noise:
        """The noise as an object.

        Returns:
            An instance such as `Bernoulli()`.
        """
        return parse_noise(self.noise)

    def summary(self) -> str:
        """The advice in a few lines.

        Returns:
            Plain text.
        """
        lines = [f"{self.noise}: {self.why}", *(f"- {line}" for line in self.evidence)]
        return "\n".join([*lines, *([self.hint] if self.hint else [])])

    def __str__(self) -> str:
        return self.summary()


def recommend_noise(table: Any, *, arm: str | None = None, value: str | None = None) -> NoiseAdvice:
    """Examine some rewards and recommend a noise family.

    The guarantee depends on the noise, so read the reason: rewards can rule a family out but never
    prove it.

    Args:
        table: Rewards as for `analyse`, with one row per reward.
        arm: The column of the arms; `arm` or `name` by default.
        value: The column of the rewards; `value` or `reward` by default.

    Returns:
        The family with the reason and the evidence.

    Raises:
        ProblemError: The table cannot be read, or has no single rewards.

    Example:
        >>> print(recommend_noise({"a": [0, 1, 1], "b": [0, 0, 1], "c": [1, 1, 0]}))
        bernoulli: every reward is 0 or 1.
        - 9 rewards of 3 arms
    """
    data = read_table(table, Layout(arm=arm, value=value))
    if not isinstance(data, Rewards):
        raise ProblemError("a recommendation needs a table with one row per reward")
    if not data.total:
        raise ProblemError("the table holds no reward")
    if not np.isfinite(data.values).all():
        raise ProblemError("some rewards are infinite, which no noise family allows")
    return _advice(data.codes, data.values, len(data.arms))


def _advice(codes: Ints, values: Floats, n_arms: int) -> NoiseAdvice:
    seen = f"{plural(len(values), 'reward')} of {plural(n_arms, 'arm')}"
    levels = np.unique(values)
    low, high = float(levels[0]), float(levels[-1])
    if len(levels) <= 2 and set(levels.tolist()) <= {0.0, 1.0}:
        return NoiseAdvice("bernoulli", "every reward is 0 or 1.", (seen,), True)
    if len(levels) == 1:
        raise ProblemError(
            f"every reward is {low:g}: there is no visible noise, so no family can be recommended; "
            "if a measurement has no noise, measure each arm once and compare the values"
        )
    if len(levels) <= MOST_LEVELS and (levels == np.floor(levels)).all() and len(values) > 30:
        return NoiseAdvice(
            f"bounded:{low:g},{high:g}",
            f"the rewards are a few whole numbers, like marks on a scale from {low:g} to {high:g}.",
            (seen, f"{len(levels)} distinct values"),
            False,
            "Give the true ends of the scale if it is wider than these rewards.",
        )
    return _continuous(codes, values, n_arms, (seen, f"values from {low:.4g} to {high:.4g}"))


def _continuous(codes: Ints, values: Floats, n_arms: int, evidence: tuple[str, ...]) -> NoiseAdvice:
    shape = _shape(codes, values, n_arms)
    if shape is None:
        return NoiseAdvice(
            "gaussian",
            "there are too few rewards per arm to see how they scatter, so this is a guess.",
            (*evidence, f"no arm has {FEWEST} rewards that differ"),
            False,
            "Measure a few arms five times each and try again, or give the noise that you know.",
        )
    evidence = (
        *evidence,
        f"skewness {shape.skewness:.2g}, of Gaussian rewards at most {shape.most_skewed:.2g}",
        f"excess kurtosis {shape.kurtosis:.2g}, of Gaussian ones at most {shape.most_peaked:.2g}",
    )
    if not shape.is_odd and len(values) < FEWEST_IN_ALL:
        return NoiseAdvice(
            "gaussian", "there is too little data to rule out Gaussian noise.", evidence, False,
            "Timings, prices and counts are often skewed: if yours may be, use heavy:SIGMA.",
        )  # fmt: skip
    if not shape.is_odd:
        return NoiseAdvice(
            "gaussian",
            "the rewards are consistent with Gaussian noise of unknown scale.",
            evidence,
            True,
        )
    sigma = _rounded_up(ROOM * shape.largest)
    why = "skewed" if shape.is_skewed else "with heavy tails"
    hint = f"{sigma:g} must be at least the standard deviation of every arm; use more if unsure."
    if values.min() > 0 and shape.is_skewed:
        logs = _shape(codes, np.log(values), n_arms)
        if logs is not None and not logs.is_odd:
            hint += (
                " The logarithms look Gaussian: log(value) with gaussian noise takes far fewer "
                "pulls, but the question is then about typical values, not averages."
            )
    return NoiseAdvice(
        f"heavy:{sigma:g}", f"the rewards are {why}: Gaussian intervals would be wrong.",
        (*evidence, f"largest standard deviation of an arm {shape.largest:.3g}"), False, hint,
    )  # fmt: skip


@dataclass(frozen=True)
class _Shape:
    skewness: float
    kurtosis: float
    most_skewed: float
    most_peaked: float
    largest: float

    @property
    def is_skewed(self) -> bool:
        return abs(self.skewness) > max(self.most_skewed, SKEWED)

    @property
    def is_odd(self) -> bool:
        return self.is_skewed or self.kurtosis > max(self.most_peaked, PEAKED)


def _shape(codes: Ints, values: Floats, n_arms: int) -> _Shape | None:
    """The common shape of all arms' rewards; None with too few of them."""
    if len(values) > MOST_ROWS:
        chosen = np.linspace(0, len(values) - 1, MOST_ROWS).astype(np.int64)
        codes, values = codes[chosen], values[chosen]
    number = np.bincount(codes, minlength=n_arms)
    kept = number[codes] >= FEWEST
    codes, values = codes[kept], values[kept]
    if not len(values):
        return None
    scaled, deviations = _scaled(codes, values[None, :], n_arms)
    differ = deviations[0][codes] > 0
    if not differ.any():
        return None
    codes, scaled = codes[differ], scaled[:, differ]
    skewness, kurtosis = _moments(scaled)
    draws = min(MOST_DRAWS, max(LEAST_DRAWS, 200_000 // len(codes)))
    skews, peaks = _simulated(codes, n_arms, draws)
    return _Shape(
        float(skewness[0]), float(kurtosis[0]),
        float(np.abs(skews).max()), float(peaks.max()),
        float(deviations[0].max()),
    )  # fmt: skip


def _simulated(codes: Ints, n_arms: int, draws: int) -> tuple[Floats, Floats]:
    """Skewness and excess kurtosis of Gaussian rewards in the same numbers per arm."""
    rng = np.random.default_rng(0)
    skews, peaks = np.zeros(draws), np.zeros(draws)
    at_once = max(1, 2_000_000 // len(codes))
    for start in range(0, draws, at_once):
        part = slice(start, min(start + at_once, draws))
        drawn = rng.standard_normal((part.stop - start, len(codes)))
        skews[part], peaks[part] = _moments(_scaled(codes, drawn, n_arms)[0])
    return skews, peaks


def _scaled(codes: Ints, values: Floats, n_arms: int) -> tuple[Floats, Floats]:
    """Rewards minus their arm's mean, in its standard deviations; and these deviations."""
    order = np.argsort(codes, kind="stable")
    ordered = values[:, order]
    present, starts = np.unique(codes[order], return_index=True)
    number = np.diff(np.append(starts, len(codes)))
    means = np.add.reduceat(ordered, starts, axis=1) / number
    off = ordered - np.repeat(means, number, axis=1)
    deviations = np.sqrt(np.add.reduceat(off**2, starts, axis=1) / (number - 1))
    spread = np.repeat(deviations, number, axis=1)
    found = np.empty_like(values)
    found[:, order] = np.divide(off, spread, out=np.zeros_like(off), where=spread > 0)
    whole = np.zeros((len(values), n_arms))
    whole[:, present] = deviations
    return found, whole


def _moments(scaled: Floats) -> tuple[Floats, Floats]:
    """Skewness and excess kurtosis of each row."""
    second = np.mean(scaled**2, axis=1)
    return (
        np.mean(scaled**3, axis=1) / second**1.5,
        np.mean(scaled**4, axis=1) / second**2 - 3.0,
    )


def _rounded_up(value: float) -> float:
    """The value rounded up to two significant digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.2g}")


def chosen_words(advice: NoiseAdvice) -> str:
    """A note that the noise was chosen by looking at the rewards."""
    rests = "" if advice.is_sure else " The number in it is a guess from these rewards."
    return (
        f"noise {advice.noise}, chosen by looking at the rewards ({advice.evidence[0]}): "
        f"{advice.why}{rests}"
    )
