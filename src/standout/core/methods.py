"""Methods: a rule with its intervals and its threshold. The registry of all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from standout.core.families import INTERVALS, RANGES, best_interval, check_interval
from standout.core.intervals.mixture import mixture_rho, tuned_pulls
from standout.core.kinds import IntervalKind, RangeKind, RuleKind
from standout.core.noise import Bernoulli
from standout.core.problem import Problem
from standout.core.sample import FROM as SAMPLE_FROM
from standout.core.sample import sample_slack
from standout.core.state import Spec
from standout.errors import MethodError

ZHU = "Zhu, Katariya & Nowak 2020"
ZHUANG = "Zhuang, Wang & Wang 2017"
SUBSET_FLOOR = 15
"""Smallest subset that the paper's experiments use."""
MANY_ARMS = 1000
"""Beyond this many, focus pulls more arms per round, and each more often."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """How to choose pulls and when to stop.

    `interval` None means the tightest that fits the noise. `subset` = (lambda,
    epsilon) makes the threshold from a random subset of max(lambda * floor(n *
    epsilon) + 1, 15) arms (ROAI-lambda-n-epsilon, § 6). Each chosen arm is
    pulled `batch` times, or `growth` times its pulls so far if that is more;
    batch = 1, growth = 0 is the paper. `METHODS` has all of them by name.

    >>> METHODS["focus"].name
    'focus'
    """

    name: str
    rule: RuleKind
    summary: str
    reference: str
    interval: IntervalKind | None = IntervalKind.HOEFFDING
    range: RangeKind = RangeKind.ALGORITHM1
    keeps_decisions: bool = False
    intersects: bool = False
    needs_bounded_rewards: bool = False
    can_subset: bool = False
    is_guaranteed: bool = True
    has_goals: bool = False
    subset: tuple[float, float] | None = None
    batch: int = 1
    growth: float = 0.0

    def __post_init__(self) -> None:
        if self.batch < 1 or self.batch != int(self.batch):
            raise MethodError(f"batch must be a whole number of at least 1, not {self.batch}")
        if not 0 <= self.growth <= 1:
            raise MethodError(f"growth must lie between 0 and 1, not {self.growth:g}")
        if self.subset is not None:
            self._check_subset(*self.subset)

    def _check_subset(self, multiple: float, epsilon: float) -> None:
        if not self.can_subset:
            raise MethodError(f"{self.name} has no subset option; roai-lucb and roai-elim have")
        if multiple < 2:
            raise MethodError(
                f"lambda must be at least 2, not {multiple:g}; below that outliers can be "
                "the majority of the subset"
            )
        if not 0 <= epsilon < 0.5:
            raise MethodError(f"epsilon must lie in [0, 0.5), not {epsilon:g}")

    def subset_size(self, n_arms: int) -> int:
        """Number of arms that the threshold is made from."""
        if self.subset is None:
            return n_arms
        multiple, epsilon = self.subset
        # 1e-9: an epsilon written as 0.1 must not lose an arm to binary rounding.
        return min(n_arms, max(int(multiple * int(n_arms * epsilon + 1e-9)) + 1, SUBSET_FLOOR))

    def samples(self, n_arms: int) -> bool:
        """Whether the threshold of so many arms is made from a growing sample of them."""
        return self.is_ours and self.range == RangeKind.EXACT and n_arms >= SAMPLE_FROM

    def interval_for(self, problem: Problem) -> IntervalKind:
        """The interval in use: the method's own, or the tightest for the noise."""
        return best_interval(problem.noise) if self.interval is None else self.interval

    @property
    def is_ours(self) -> bool:
        """Whether it is standout's own: clipped intervals, plug-in guesses, a joint start."""
        return self.has_goals

    def label(self) -> str:
        """The text that `parse_method` reads back."""
        plain = METHODS[self.name]
        options = []
        if self.subset is not None:
            options += [f"lambda={self.subset[0]:g}", f"epsilon={self.subset[1]:g}"]
        if self.rule != plain.rule:
            options.append("goal=anytime")
        if self.interval != plain.interval:
            options.append(f"interval={_name_of(INTERVALS, self.interval)}")
        if self.range != plain.range:
            options.append(f"range={_name_of(RANGES, self.range)}")
        if self.batch != plain.batch:
            options.append(f"batch={self.batch}")
        if self.growth != plain.growth:
            options.append(f"growth={self.growth:g}")
        return self.name + (":" + ",".join(options) if options else "")

    def spec(self, problem: Problem, n_arms: int) -> Spec:
        """The constants that the kernels need for `problem` on `n_arms` arms."""
        problem.check_arms(n_arms)
        noise = problem.noise
        low, high = noise.support
        if self.needs_bounded_rewards and not (math.isfinite(low) and math.isfinite(high)):
            raise MethodError(
                f"{self.name} is defined for bounded rewards only; "
                "use bernoulli or bounded:A,B noise, or another method"
            )
        if self.range == RangeKind.MEAN_STD and problem.k_low is not None:
            raise MethodError(f"{self.name} has one k for both sides; leave out k_low")
        interval = self.interval_for(problem)
        check_interval(interval, noise)
        slack = 0.0
        delta = problem.delta
        if self.range == RangeKind.MEAN_STD:
            delta /= len(problem.sides())  # each side's threshold has a radius of its own
        if self.samples(n_arms):
            delta /= 2  # half for the rewards, half for the sample
            slack = sample_slack(n_arms, len(problem.sides()), delta)
        alpha = delta / n_arms
        return Spec(
            rule=int(self.rule),
            interval=int(interval),
            range=int(self.range),
            is_ours=self.is_ours,
            sorts=self.is_ours or self.range == RangeKind.EXACT,
            keeps_decisions=self.keeps_decisions,
            intersects=self.intersects,
            n_arms=int(n_arms),
            k=float(problem.k),
            delta=float(delta),
            alpha=float(alpha),
            sigma=float(noise.sigma),
            rho=float(mixture_rho(alpha, tuned_pulls(problem.factor))),
            low=float(low),
            high=float(high),
            lattice=1.0 if isinstance(noise, Bernoulli) else 0.0,
            tolerance=float(problem.tolerance),
            # No arm can be decided with fewer pulls than that, so pull them at once.
            initial=max(1, round(math.log(1 / alpha) / 2)) if self.is_ours else 1,
            batch=int(self.batch),
            growth=self._growth(n_arms),
            nearly_best=_nearly_best(n_arms),
            slack=float(slack),
        )

    def _growth(self, n_arms: int) -> float:
        """A round looks at every arm, so with very many of them it pays to pull more in each."""
        if not self.is_ours:
            return float(self.growth)
        return float(max(self.growth, min(0.25, self.growth * n_arms / MANY_ARMS)))


def _nearly_best(n_arms: int) -> float:
    """Arms whose score is at least this part of the best are pulled in the same round."""
    if n_arms <= MANY_ARMS:
        return 0.95
    return max(0.4, 0.95 - 0.18 * math.log10(n_arms / MANY_ARMS))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="focus",
            rule=RuleKind.FOCUS,
            interval=None,
            range=RangeKind.EXACT,
            keeps_decisions=True,
            intersects=True,
            has_goals=True,
            growth=0.02,
            summary="pulls what shrinks the binding overlap most; tight intervals, exact range",
            reference="standout, docs/focus.md",
        ),
        Method(
            name="roai-lucb",
            rule=RuleKind.LUCB,
            summary="pulls the arms at the boundaries of median, MAD and threshold, in rounds",
            reference=f"{ZHU}, Algorithm 3",
            can_subset=True,
        ),
        Method(
            name="roai-elim",
            rule=RuleKind.ELIM,
            summary="pulls every arm until median, MAD and threshold no longer need it",
            reference=f"{ZHU}, Algorithm 2",
            keeps_decisions=True,
            intersects=True,
            can_subset=True,
        ),
        Method(
            name="roai-lucb-released",
            rule=RuleKind.LUCB_RELEASED,
            interval=IntervalKind.RELEASED,
            summary="ROAILUCB as in the authors' code: one random candidate per step",
            reference=f"{ZHU}, released code",
            can_subset=True,
        ),
        Method(
            name="roai-elim-released",
            rule=RuleKind.ELIM_RELEASED,
            interval=IntervalKind.RELEASED,
            summary="ROAIElim as in the authors' code: one random active arm per step, no memory",
            reference=f"{ZHU}, released code",
            can_subset=True,
        ),
        Method(
            name="random",
            rule=RuleKind.RANDOM,
            summary="uniform sampling with the same threshold and stop rule; the baseline",
            reference=f"{ZHU}, § 7",
        ),
        Method(
            name="rr",
            rule=RuleKind.ROUND_ROBIN,
            interval=IntervalKind.ZHUANG,
            range=RangeKind.MEAN_STD,
            summary="round robin with the mean + k std threshold (not robust)",
            reference=ZHUANG,
            needs_bounded_rewards=True,
        ),
        Method(
            name="wrr",
            rule=RuleKind.WEIGHTED_ROUND_ROBIN,
            interval=IntervalKind.ZHUANG,
            range=RangeKind.MEAN_STD,
            summary="round robin, undecided arms up to rho times per visit; mean + k std",
            reference=ZHUANG,
            needs_bounded_rewards=True,
        ),
    )
}
DEFAULT_METHOD = "focus"
_NUMBERS = ("lambda", "epsilon", "batch", "growth")


def parse_method(text: str) -> Method:
    """Read `roai-lucb` or `roai-lucb:lambda=2,epsilon=0.1,interval=mixture,batch=5`.

    >>> parse_method("random:batch=10").batch
    10
    """
    name, _, rest = text.strip().partition(":")
    method = METHODS.get(name.strip().lower())
    if method is None:
        raise MethodError(f"no method {name!r}; there are {', '.join(METHODS)}")
    options: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator:
            raise MethodError(f"method option {part!r} must look like batch=5")
        options[key] = value
    return with_options(method, options)


def with_options(method: Method, options: dict[str, str]) -> Method:
    """`method` with options given as texts."""
    known = (*_NUMBERS, "interval", "range", "goal")
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise MethodError(f"no method option {', '.join(unknown)}; there are {', '.join(known)}")
    numbers = {key: _number(key, options[key]) for key in _NUMBERS if key in options}
    changes: dict[str, Any] = {}
    if ("lambda" in numbers) != ("epsilon" in numbers):
        raise MethodError("lambda and epsilon go together: e.g. roai-lucb:lambda=2,epsilon=0.1")
    if "lambda" in numbers:
        changes["subset"] = (numbers["lambda"], numbers["epsilon"])
    if "batch" in numbers:
        if numbers["batch"] != int(numbers["batch"]):
            raise MethodError(f"batch must be a whole number of at least 1, not {options['batch']}")
        changes["batch"] = int(numbers["batch"])
    if "growth" in numbers:
        changes["growth"] = numbers["growth"]
    if "interval" in options:
        changes["interval"] = _pick("interval", INTERVALS, options["interval"])
    if "range" in options:
        changes["range"] = _pick("range", RANGES, options["range"])
    if "goal" in options:
        changes |= _goal(method, options["goal"])
    if method.needs_bounded_rewards and ("interval" in changes or "range" in changes):
        raise MethodError(f"{method.name} has an interval and a threshold of its own")
    return replace(method, **changes)


def _goal(method: Method, value: str) -> dict[str, Any]:
    goals = {"certify": RuleKind.FOCUS, "anytime": RuleKind.FOCUS_ANYTIME}
    if not method.has_goals:
        raise MethodError(f"{method.name} has no goal option; focus has")
    rule = _pick("goal", goals, value)
    return {"rule": rule} if rule is RuleKind.FOCUS else {"rule": rule, "growth": 0.0}


def _number(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise MethodError(f"method option {key} must be a number, not {value!r}")
    return number


def _pick(what: str, choices: dict[str, Any], value: str) -> Any:
    if value not in choices:
        raise MethodError(f"no {what} {value!r}; there are {', '.join(choices)}")
    return choices[value]


def _name_of(choices: dict[str, Any], value: Any) -> str:
    return next(name for name, choice in choices.items() if choice == value)


def as_method(method: str | Method) -> Method:
    """A method as given, or read from its text."""
    return method if isinstance(method, Method) else parse_method(method)
