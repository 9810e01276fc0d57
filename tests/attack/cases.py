"""Random states of a run whose intervals all hold their means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

from standout.core.compile import IS_COMPILED
from standout.core.method import Method
from standout.core.methods import as_method
from standout.core.problem import Problem
from standout.core.state import NEVER
from tests.attack.truth import slack_needed, theta

INF = math.inf
HUGE = 1e90
PLAIN = (
    "focus",
    "focus:goal=anytime",
    "focus:range=algorithm1",
    "focus:goal=anytime,range=algorithm1",
    "roai-lucb",
    "roai-lucb:range=exact",
    "roai-lucb:interval=auto",
    "roai-elim",
    "roai-elim:range=exact",
    "roai-elim:interval=auto",
    "roai-lucb-released",
    "roai-lucb-released:range=exact",
    "roai-elim-released",
    "roai-elim-released:range=exact",
    "random",
    "random:range=exact",
)
SUBSETS = tuple(
    f"{name}:lambda=2,epsilon=0.1{more}"
    for name in ("roai-lucb", "roai-elim", "roai-lucb-released", "roai-elim-released")
    for more in ("", ",range=exact")
)
SAMPLED = ("focus (sample)", "focus:goal=anytime (sample)")
MEAN_STD = ("rr", "wrr")
JOINT = (
    ("joint", "joint:batch=7", "joint:interval=beta-binomial", "combined") if IS_COMPILED else ()
)
"""Intervals alone say nothing of these: they need rewards. As plain Python they take minutes."""
LABELS = PLAIN + SUBSETS + SAMPLED + MEAN_STD
"""Every method with both ranges, subsets and samples."""


@dataclass(frozen=True)
class Round:
    """The intervals after a round, by arm, in the rewards' own orientation."""

    lower: list[float]
    upper: list[float]
    estimate: list[float]
    pulls: list[int]


@dataclass(frozen=True)
class Case:
    """A run seen from outside. `known` arms have zero width and are never pulled."""

    label: str
    side: str
    k: float
    k_low: float | None
    mad_scale: float
    tolerance: float
    noise: str
    is_exact: bool
    """Whether all arithmetic is exact, so that no rounding excuses anything."""
    truth: list[float]
    known: list[int]
    stage: list[int] | None
    slack: float
    room: int
    rounds: list[Round] = field(repr=False)

    @cached_property
    def method(self) -> Method:
        return as_method(self.label.removesuffix(" (sample)"))

    @property
    def is_sampled(self) -> bool:
        return self.label in SAMPLED

    @property
    def problem(self) -> Problem:
        return Problem(
            noise=self.noise,  # type: ignore[arg-type]
            k=self.k,
            k_low=self.k_low,
            mad_scale=self.mad_scale,
            side=self.side,  # type: ignore[arg-type]
            tolerance=self.tolerance,
            delta=0.1,
        )

    @property
    def signs(self) -> list[float]:
        return {"high": [1.0], "low": [-1.0], "both": [1.0, -1.0]}[self.side]

    @property
    def factors(self) -> list[float]:
        low = self.k if self.k_low is None else self.k_low
        return [(self.k if sign > 0 else low) * self.mad_scale for sign in self.signs]

    def samples(self) -> list[list[int]]:
        """The arms that make the threshold, at each size of the sample."""
        if self.stage is None:
            return [list(range(len(self.truth)))]
        stages = sorted(set(self.stage) - {NEVER})
        return [[i for i, own in enumerate(self.stage) if own <= stage] for stage in stages]

    def thetas(self) -> list[float]:
        """Each side's threshold, oriented: of all arms, or of a fixed subset."""
        arms = range(len(self.truth)) if self.is_sampled else self.samples()[-1]
        return [
            theta([sign * self.truth[i] for i in arms], factor)
            for sign, factor in zip(self.signs, self.factors, strict=True)
        ]

    def slack_needed(self) -> float:
        """What makes the premise of a sample true."""
        if not self.is_sampled:
            return 0.0
        return max(
            slack_needed([sign * t for t in self.truth], factor, self.samples())
            for sign, factor in zip(self.signs, self.factors, strict=True)
        )

    @property
    def fuzz(self) -> float:
        """Rounding that a verdict near the threshold may depend on."""
        if self.is_exact:
            return 0.0
        return 1e-9 * max(abs(value) for value in [*self.truth, *self.thetas()])

    def without(self, arm: int) -> Case:
        """The same run with one arm fewer."""

        def drop(values: Sequence[float]) -> list:  # type: ignore[type-arg]
            return [value for i, value in enumerate(values) if i != arm]

        changes = {
            "truth": drop(self.truth),
            "known": [i - (i > arm) for i in self.known if i != arm],
            "stage": None if self.stage is None else drop(self.stage),
            "rounds": [Round(*map(drop, vars(one).values())) for one in self.rounds],
        }
        kept = {one.name: getattr(self, one.name) for one in fields(self)}
        return Case(**{**kept, **changes})
