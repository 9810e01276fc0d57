"""Methods: a rule with its intervals, its threshold and its batch size."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, cast

from standout.core.crossing.gains import GAINS
from standout.core.intervals.choice import RANGES, best_interval, check_interval, interval_name
from standout.core.intervals.mixture import MOST_SCALES, SCALES, mixture_rho, tuned_pulls
from standout.core.joint.costs import EVIDENCE
from standout.core.kinds import IntervalKind, RangeKind
from standout.core.noise import Bernoulli
from standout.core.problem import Problem
from standout.core.rules.base import Rule
from standout.core.state import Spec
from standout.core.threshold.sample import FROM as SAMPLE_FROM
from standout.core.threshold.sample import sample_slack
from standout.errors import MethodError
from standout.text import plural

ZHU = "Zhu, Katariya & Nowak 2020"
ZHUANG = "Zhuang, Wang & Wang 2017"
SUBSET_FLOOR = 15
"""The smallest subset in the paper's experiments."""
MOST_JOINT = 300
"""The largest number of arms for which a joint bet is affordable in each round."""
JOINT_SHARE = 5.0
MANY_SHARE = 0.8
"""See `joint_share`."""
MEANS_PART = 0.25
"""If there is a crossing bet: share of the joint bets' delta for the bet on the means."""
JOINT_RHO = 3.0
"""Times the rho of single intervals. What an arm has to learn, about log(pulls / rho) / 2, is paid
for each arm that moves, so that it is worth more to learn less."""
MANY_ARMS = 1000
"""With more arms than this, focus pulls more arms per round, and each more often."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """How to choose pulls and when to stop. `standout.METHODS` has all methods by name.

    Attributes:
        name: The name, such as `focus`.
        rule: The rule that chooses pulls.
        summary: One line on what it does.
        reference: Where it comes from.
        range: How the threshold's interval is computed from the arms'.
        interval: The interval of an arm; None means the tightest for the noise.
        scales: The number of scales of the interval.
        subset: (lambda, epsilon) makes the threshold from a random subset of
            max(lambda * floor(n * epsilon) + 1, 15) arms (ROAI-lambda-n-epsilon, § 6).
        batch: Pulls of each chosen arm in a round; 1 is the paper's.
        growth: A round pulls a chosen arm at least this multiple of its pulls so far; 0 is the
            paper's.
        keeps_decisions: A decided arm stays decided.
        intersects: An arm's interval is the intersection of all its intervals so far.
        refines: Intervals are clipped to the possible means, theta and the means are estimated
            jointly, and every arm begins with the smallest number of pulls that can decide it.
        spares_known: The rule never chooses an arm of infinite cost, so means can be given as
            known.
        anytime: The rule for the lowest error at any time.
        crosses: The joint certificate has a crossing bet, too.
        box_part: Share of delta for the arms' own intervals where the joint certificate looks for
            flips; the certificate has the rest.
        narrows_many: With too many arms for that, half of delta is for a joint bet that narrows
            the threshold.
        fallback: The method to use where the joint certificate is not affordable.
        rho: There is no threshold; outliers are the first 1 - rho of all arms that separate from
            the others.
        needs_bounded_rewards: Whether it is defined for bounded rewards only.
        can_subset: Whether it is defined for a threshold from a subset.

    Example:
        >>> from standout import METHODS
        >>> METHODS["focus"].label()
        'focus'
    """

    name: str
    rule: Rule
    summary: str
    reference: str
    interval: IntervalKind | None = IntervalKind.HOEFFDING
    range: RangeKind = RangeKind.ALGORITHM1
    keeps_decisions: bool = False
    intersects: bool = False
    needs_bounded_rewards: bool = False
    can_subset: bool = False
    refines: bool = False
    crosses: bool = False
    box_part: float = 1.0
    narrows_many: bool = False
    spares_known: bool = False
    anytime: Rule | None = None
    fallback: Method | None = None
    subset: tuple[float, float] | None = None
    batch: int = 1
    growth: float = 0.0
    scales: int = SCALES
    rho: float | None = None
    _plain: Method | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self._plain is None:  # A copy made by `replace` keeps this reference.
            object.__setattr__(self, "_plain", self)
        if self.batch < 1 or self.batch != int(self.batch):
            raise MethodError(f"batch must be a whole number of at least 1, not {self.batch}")
        if not 0 <= self.growth <= 1:
            raise MethodError(f"growth must lie between 0 and 1, not {self.growth:g}")
        if not 1 <= self.scales <= MOST_SCALES or self.scales != int(self.scales):
            raise MethodError(
                f"scales must be a whole number from 1 to {MOST_SCALES}, not {self.scales}"
            )
        if self.range == RangeKind.JOINT and self.fallback is None:
            raise MethodError(f"{self.name} has no joint range; combined and joint have")
        if self.rho is not None and self.range != RangeKind.GAPS:
            raise MethodError(f"{self.name} has no rho option; gold has")
        if self.rho is not None and not 0.5 < self.rho < 1:
            raise MethodError(f"rho must lie between 0.5 and 1, not {self.rho:g}")
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
        """The number of arms that make the threshold."""
        if self.subset is None:
            return n_arms
        multiple, epsilon = self.subset
        # 1e-9: an epsilon written as 0.1 must not lose an arm to binary rounding.
        return min(n_arms, max(int(multiple * int(n_arms * epsilon + 1e-9)) + 1, SUBSET_FLOOR))

    def samples(self, n_arms: int) -> bool:
        """Whether the threshold of this many arms is made from a growing sample of them."""
        return self.refines and self.range != RangeKind.ALGORITHM1 and n_arms >= SAMPLE_FROM

    def joins(self, problem: Problem, n_arms: int) -> bool:
        """Whether there is a bet on all means together, besides the arms' intervals."""
        return (
            self.range == RangeKind.JOINT
            and self.rule == self.plain.rule
            and not self.samples(n_arms)
            and (n_arms <= MOST_JOINT or self.narrows_many)
            and self.interval_for(problem) in EVIDENCE
        )

    def has_stages(self, problem: Problem, n_arms: int) -> bool:
        """Whether there is a crossing bet, too."""
        return self.crosses and self.flips(problem, n_arms) and self.interval_for(problem) in GAINS

    def flips(self, problem: Problem, n_arms: int) -> bool:
        """Whether the crossing bet certifies arms; otherwise it narrows the threshold."""
        return self.joins(problem, n_arms) and n_arms <= MOST_JOINT

    @property
    def learns(self) -> bool:
        """Whether its rule and its best guess learn the distribution of the means."""
        return self.rule == self.anytime

    @property
    def is_robust(self) -> bool:
        """Whether its threshold is that of median and MAD."""
        return self.range not in (RangeKind.MEAN_STD, RangeKind.DRAWN, RangeKind.GAPS)

    def interval_for(self, problem: Problem) -> IntervalKind:
        """The interval in use: the method's own, or the tightest for the noise."""
        return best_interval(problem.noise) if self.interval is None else self.interval

    @property
    def plain(self) -> Method:
        """The method without any options."""
        return cast("Method", self._plain)

    def label(self) -> str:
        """Its name and options, as `parse_method` reads them.

        Returns:
            The name, and after a colon the options that differ from the method's own.
        """
        plain = self.plain
        options = []
        if self.subset is not None:
            options += [f"lambda={self.subset[0]:g}", f"epsilon={self.subset[1]:g}"]
        if self.rule != plain.rule:
            options.append("goal=anytime")
        if self.interval != plain.interval:
            options.append(f"interval={interval_name(self.interval)}")
        if self.range != plain.range:
            (name,) = (name for name, kind in RANGES.items() if kind == self.range)
            options.append(f"range={name}")
        if self.batch != plain.batch:
            options.append(f"batch={self.batch}")
        # The goal has a growth of its own, which need not be said.
        if self.growth != (0.0 if self.learns else plain.growth):
            options.append(f"growth={self.growth:g}")
        if self.scales != plain.scales:
            options.append(f"scales={self.scales}")
        if self.rho is not None and self.rho != plain.rho:
            options.append(f"rho={self.rho:g}")
        return self.name + (":" + ",".join(options) if options else "")

    def check_room(self, room: int) -> None:
        """Raise `MethodError` unless each verdict follows from intervals of single arms.

        Only then arms may be added, up to `room`. A new arm would invalidate a bet on all means
        together, a sample of the arms, or a mean of drawn arms.
        """
        is_own = self.is_robust and self.range != RangeKind.JOINT and self.subset is None
        if not is_own or self.samples(room):
            raise MethodError(
                f"{self.label()} with {plural(room, 'arm')} judges all arms together: it has no "
                f"room for arms that are added later; focus has, below {plural(SAMPLE_FROM, 'arm')}"
            )

    def spec(self, problem: Problem, n_arms: int, room: int | None = None) -> Spec:
        """The constants that the kernels need for `problem` on `n_arms` arms.

        With `room`, this many arms share delta; those not present may be added later.
        """
        problem.check_arms(n_arms)
        if room is not None:
            self.check_room(room)
        noise = problem.noise
        low, high = noise.support
        if self.needs_bounded_rewards and not (math.isfinite(low) and math.isfinite(high)):
            raise MethodError(
                f"{self.name} is defined for bounded rewards only; "
                "use bernoulli or bounded:A,B noise, or another method"
            )
        if not self.is_robust and problem.k_low is not None:
            raise MethodError(f"{self.name} has one k for both sides; leave out k_low")
        interval = self.interval_for(problem)
        check_interval(interval, noise)
        slack = 0.0
        delta = problem.delta
        if self.range == RangeKind.MEAN_STD:
            delta /= len(problem.sides())  # each side's threshold has a radius of its own
        if self.range == RangeKind.DRAWN:
            delta /= 2  # half for the arms, half for the threshold
        if self.samples(n_arms):
            delta /= 2  # half for the rewards, half for the sample
            slack = sample_slack(n_arms, len(problem.sides()), delta)
        alpha = delta / (room or n_arms)
        rho = mixture_rho(alpha, tuned_pulls(problem.factor))
        joins = self.joins(problem, n_arms)
        share = joint_share(n_arms) if joins else 0.0
        flips = self.flips(problem, n_arms)
        crosses = self.has_stages(problem, n_arms)
        joint_delta = delta
        joint_rho = JOINT_RHO * rho
        if joins:
            # One share for the arms' intervals, the rest for the bet. With very many arms, each is
            # certified by its own interval.
            part = self.box_part if flips else 0.5
            alpha = part * delta / n_arms
            joint_delta = (1 - part) * delta
        return Spec(
            rule=self._own("rule", flips).number,
            interval=int(interval),
            range=int(self.range if joins or self.range != RangeKind.JOINT else RangeKind.EXACT),
            refines=self.refines,
            learns=self.learns,
            sorts=self.refines or self.range == RangeKind.EXACT,
            keeps_decisions=self.keeps_decisions,
            intersects=self.intersects,
            n_arms=int(n_arms),
            k=float(problem.k),
            delta=float(delta),
            alpha=float(alpha),
            sigma=float(noise.sigma),
            rho=float(rho),
            scales=int(self.scales),
            low=float(low),
            high=float(high),
            lattice=1.0 if isinstance(noise, Bernoulli) else 0.0,
            tolerance=float(problem.tolerance),
            # No arm can be decided with fewer pulls, so pull them at once.
            initial=max(1, round(math.log(n_arms / delta) / 2)) if self.refines else 1,
            batch=int(self.batch),
            growth=self._growth(n_arms, flips),
            nearly_best=_nearly_best(n_arms),
            slack=float(slack),
            share=float(share),
            joint_delta=float(joint_delta),
            joint_rho=float(joint_rho),
            means_part=MEANS_PART if crosses else 1.0,
            flips=flips,
            crosses=crosses,
            # 1e-9: a share written as 0.1 must not lose an arm to binary rounding.
            parting=0 if self.rho is None else max(1, int((1 - self.rho) * n_arms + 1e-9)),
        )

    def _own(self, option: str, flips: bool) -> Any:
        """An option's value: the fallback's where no flips are looked for and it was not chosen."""
        value = getattr(self, option)
        if flips or self.fallback is None or value != getattr(self.plain, option):
            return value
        return getattr(self.fallback, option)

    def _growth(self, n_arms: int, flips: bool) -> float:
        """A round looks at every arm, so with very many arms larger rounds are faster."""
        growth = self._own("growth", flips)
        if not self.refines:
            return float(growth)
        return float(max(growth, min(0.25, growth * n_arms / MANY_ARMS)))


def joint_share(n_arms: int) -> float:
    """q of the joint bet: the share of each arm's factor that follows its rewards.

    Each arm that an alternative moves costs log(1/q), and all arms together about n q. The number
    of pulls changes little for values of q within a factor of two. With thousands of arms, an
    alternative that moves the threshold moves more of them.
    """
    if n_arms > MOST_JOINT:
        return float(MANY_SHARE / math.sqrt(n_arms))
    return float(min(0.5, JOINT_SHARE / n_arms))


def _nearly_best(n_arms: int) -> float:
    """Arms whose score is at least this part of the best are pulled in the same round."""
    if n_arms <= MANY_ARMS:
        return 0.95
    return max(0.4, 0.95 - 0.18 * math.log10(n_arms / MANY_ARMS))
