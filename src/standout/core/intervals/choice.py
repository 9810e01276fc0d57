"""The interval for each noise, and the names of intervals for users."""

from __future__ import annotations

from standout.core.kinds import IntervalKind, RangeKind
from standout.core.noise import (
    Bernoulli,
    Bounded,
    Gaussian,
    GaussianUnknown,
    HeavyTailed,
    Noise,
)
from standout.errors import MethodError

INTERVALS: dict[str, IntervalKind | None] = {
    "auto": None,
    "hoeffding": IntervalKind.HOEFFDING,
    "released": IntervalKind.RELEASED,
    "mixture": IntervalKind.MIXTURE,
    "beta-binomial": IntervalKind.BERNOULLI,
    "bernstein": IntervalKind.BERNSTEIN,
    "student": IntervalKind.STUDENT,
    "heavy": IntervalKind.HEAVY,
    "betting": IntervalKind.BETTING,
}
RANGES: dict[str, RangeKind] = {
    "algorithm1": RangeKind.ALGORITHM1,
    "exact": RangeKind.EXACT,
}

_SUB_GAUSSIAN = (Gaussian, Bernoulli, Bounded)
_VALID: dict[IntervalKind, tuple[type[Noise], ...]] = {
    IntervalKind.HOEFFDING: _SUB_GAUSSIAN,
    IntervalKind.RELEASED: _SUB_GAUSSIAN,
    IntervalKind.ZHUANG: (Bernoulli, Bounded),
    IntervalKind.MIXTURE: _SUB_GAUSSIAN,
    IntervalKind.BERNOULLI: (Bernoulli, Bounded),
    IntervalKind.BERNSTEIN: (Bernoulli, Bounded),
    IntervalKind.STUDENT: (GaussianUnknown,),
    IntervalKind.BETTING: (Bernoulli, Bounded),
    IntervalKind.HEAVY: (HeavyTailed, *_SUB_GAUSSIAN),
}
_BEST: dict[type[Noise], IntervalKind] = {
    Gaussian: IntervalKind.MIXTURE,
    GaussianUnknown: IntervalKind.STUDENT,
    Bernoulli: IntervalKind.BERNOULLI,
    Bounded: IntervalKind.BETTING,
    HeavyTailed: IntervalKind.HEAVY,
}


def interval_name(interval: IntervalKind | None) -> str:
    """The name of an interval for users; its own name if it belongs to a method."""
    names = {kind: name for name, kind in INTERVALS.items()}
    return "auto" if interval is None else names.get(interval, interval.name.lower())


def best_interval(noise: Noise) -> IntervalKind:
    """The tightest interval that is valid for the noise family."""
    return _BEST[type(noise)]


def check_interval(interval: IntervalKind, noise: Noise) -> None:
    """Refuse an interval that would not be valid for the noise."""
    if not isinstance(noise, _VALID[interval]):
        names = [
            name
            for name, kind in INTERVALS.items()
            if kind is not None and isinstance(noise, _VALID[kind])
        ]
        raise MethodError(
            f"the {interval_name(interval)} interval is not valid for {noise.spec()} noise; "
            f"valid: {', '.join(names)} (focus chooses by itself)"
        )
