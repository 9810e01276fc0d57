"""The noise attack: with a large delta and true randomness, how often is anything wrong?

A run fails when it ever certifies anything wrong, in any round. Each run fails
with probability at most delta, so that the failures of independent runs exceed
the quantile q with P(Binomial(runs, delta) > q) <= FALSE_ALARM at most that
often, whichever methods and families are pooled.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import binom

from standout.core import robust
from standout.core.compile import kernel
from standout.core.engine import begin_round, end_round, observe
from standout.core.method import Method
from standout.core.methods import METHODS, parse_method
from standout.core.noise import Gaussian
from standout.core.problem import Problem, Side
from standout.core.run import start_state
from standout.core.state import PULLS, SIZE, UNDECIDED, Spec, State
from standout.errors import MethodError
from standout.simulation.rewards import Rewards, draw, rewards_of
from tests.attack.memory import Fence

FALSE_ALARM = 1e-6
DELTA = 0.3
BUDGET = 4000
SIGMA = 0.3
LABELS = (
    *METHODS,
    "focus:goal=anytime",
    "focus:range=algorithm1",
    "roai-lucb:interval=auto",
    "roai-lucb:interval=auto,range=exact",
    "roai-elim:interval=auto,range=exact",
    "random:interval=auto,range=exact",
    "roai-lucb:lambda=2,epsilon=0.1",
    "roai-elim:lambda=2,epsilon=0.1,range=exact,interval=auto",
)
NOISES = (f"gaussian:{SIGMA}", "gaussian", f"heavy:{SIGMA}", "bounded:0,1", "bernoulli")
SIDES = (Side.HIGH, Side.LOW, Side.BOTH)
_WIDE = tuple(METHODS[name].rule for name in ("focus", "roai-lucb", "roai-elim"))


@dataclass(frozen=True)
class Setting:
    """A method against a family of noise."""

    label: str
    noise: str
    side: Side

    @property
    def problem(self) -> Problem:
        return Problem(
            noise=self.noise,  # type: ignore[arg-type]
            k=1 if self.side is not Side.BOTH and not parse_method(self.label).subset else 2,
            mad_scale=1,
            delta=DELTA,
            side=self.side,
        )

    @property
    def method(self) -> Method:
        """In batches, so that a run has few rounds: larger ones where a round pulls one arm."""
        method = parse_method(self.label)
        return replace(method, batch=8 if method.rule in _WIDE else 32)

    @property
    def means(self) -> np.ndarray:
        """Two groups and an outlier, which most runs decide; for both sides one on each."""
        is_narrow = self.noise in ("bernoulli", "bounded:0,1")
        if self.method.subset:
            body = np.random.default_rng(5).uniform(-0.5, 0.5, 16)
            means = np.concatenate([body, [-2.2, 2.3]])
            return 0.5 + 0.2 * means if is_narrow else means
        if self.side is Side.BOTH:
            means = np.array([-3.0, -0.6, -0.55, 0.0, 0.57, 0.62, 3.1])
            return 0.5 + 0.15 * means if is_narrow else means
        means = np.array([-1.0, -1.02, 0.0, 0.05, 2.6])
        if is_narrow:
            means = np.array([0.01, 0.015, 0.34, 0.35, 0.99])
            return means if self.side is Side.HIGH else 1 - means
        return means if self.side is Side.HIGH else -means


@dataclass
class Score:
    """Runs, those in which something wrong was certified, an interval missed, all was decided."""

    runs: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=Counter)

    def add(self, groups: tuple[str, ...], wrong: bool, missed: bool, decided: bool) -> None:
        for group in groups:
            self.runs[group] += 1
            self.wrong[group] += wrong
            self.missed[group] += missed
            self.decided[group] += decided

    def faults(self, delta: float = DELTA) -> list[str]:
        """Groups with more failures than chance allows."""
        return [
            f"{group}: {failed[group]} of {runs} runs {what}, at most {most_failures(runs, delta)}"
            for group, runs in self.runs.items()
            for what, failed in (("were wrong", self.wrong), ("missed a mean", self.missed))
            if failed[group] > most_failures(runs, delta)
        ]


def most_failures(runs: int, delta: float) -> int:
    return int(binom.isf(FALSE_ALARM, runs, delta))


def settings() -> Iterator[Setting]:
    """Every method with every family and side that it can be asked for.

    Two families are enough for `combined`, whose parts focus and joint are played with all of them,
    and for the methods of the paper with another interval, range or rule of stopping.
    """
    for label in LABELS:
        is_variant = ":" in label and not label.startswith("focus")
        is_short = is_variant or label == "combined"
        for noise in ("bernoulli", f"gaussian:{SIGMA}") if is_short else NOISES:
            for side in SIDES:
                setting = Setting(label, noise, side)
                try:
                    setting.method.spec(setting.problem, 9)
                except MethodError:
                    continue
                yield setting


def truth_of(setting: Setting, means: np.ndarray, state: State) -> np.ndarray:
    """Which arms stand out, as the method defines it: of its subset, or by mean and deviation."""
    problem = setting.problem
    found = np.zeros(len(means), dtype=np.bool_)
    for side in problem.sides():
        if not setting.method.is_robust:
            theta = robust.mean_std_threshold(means, problem.k, side)
        else:
            theta = robust.threshold(
                means, problem.factor, side, state.omega[: state.sampled[SIZE]]
            )
        assert np.abs(means - theta).min() > 1e-6, "no arm may lie on the threshold"
        found |= means > theta if side is Side.HIGH else means < theta
    return found


@kernel("interval")
def _pull(spec: Spec, state: State, rewards: Rewards, count: int, rng: np.random.Generator) -> None:
    """Draw and count the rewards of a round."""
    for j in range(count):
        for _ in range(state.amount[j]):
            observe(spec, state, state.chosen[j], draw(rewards, state.chosen[j], rng))


def play_one(setting: Setting, seed: int, number: int) -> tuple[bool, bool, bool]:
    """Whether a run certified anything wrong, missed a mean, decided all."""
    problem, method, means = setting.problem, setting.method, setting.means
    entropy = (seed, number, zlib.crc32(str(setting).encode()))
    reward_rng, rule_rng = (
        np.random.default_rng(child) for child in np.random.SeedSequence(entropy).spawn(2)
    )
    drawn = Gaussian(SIGMA) if setting.noise == "gaussian" else problem.noise
    rewards = rewards_of(means, drawn, None)
    spec = method.spec(problem, len(means))
    fence = Fence(start_state(problem, method, len(means), rule_rng))
    state = fence.state
    wanted = np.where(truth_of(setting, means, state), 2, 1)
    sign = state.signs[0]
    wrong = missed = False
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < BUDGET:
        # `simulation.play` in three steps, in the same order, which are compiled for far fewer
        # pairs of a rule and a noise.
        count = begin_round(spec, state, BUDGET - state.counters[PULLS], rule_rng)
        _pull(spec, state, rewards, count, reward_rng)
        end_round(spec, state)
        wrong |= bool(((state.verdict != 0) & (state.verdict != wanted)).any())
        wrong |= bool(fence.faults())
        low, high = state.lower[0], state.upper[0]
        missed |= bool(((sign * means < low) | (sign * means > high)).any())
    return wrong, missed, bool(state.counters[UNDECIDED] == 0)


def attack(seed: int, runs: int, score: Score, label: str | None = None) -> None:
    """Play every setting (of one method, if given) `runs` times."""
    for setting in settings():
        if label not in (None, setting.label):
            continue
        groups = ("all", setting.label, setting.noise, f"{setting.label} {setting.noise}")
        for number in range(runs):
            score.add(groups, *play_one(setting, seed, number))
