"""The scale of a rating page: evenly spaced answers, both ends among them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from standout.core.noise import Noise
from standout.errors import ProblemError, RewardError, shown
from standout.study.arguments import real

USUAL_STEPS = 10
MOST_STEPS = 100_000
_ROUNDING = 1e-9
"""A step may miss `max` by this part of itself: what writing 0.1 in binary costs."""


def check_steps(where: str, low: float, high: float, given: Mapping[str, Any], noise: Noise) -> int:
    """How many steps lead from `low` to `high`: `steps`, or from `step`, or `USUAL_STEPS`.

    Raises ProblemError for a step that misses `high`, and for answers that are
    no rewards of this noise.
    """
    if given.get("steps") is not None and given.get("step") is not None:
        raise ProblemError(f"{where} has both steps and step; keep steps, the number of them")
    if given.get("steps") is not None:
        steps = _whole(where, given["steps"])
    elif given.get("step") is not None:
        steps = _from_step(where, low, high, given["step"])
    else:
        steps = USUAL_STEPS
    if steps > MOST_STEPS:
        raise ProblemError(f"{where} has {steps:,} steps; {MOST_STEPS:,} is the most")
    first = value_at(low, high, steps, 1)
    if not low < first <= high:
        raise ProblemError(f"{where}: {steps:,} steps from {low:g} to {high:g} are too small")
    try:
        noise.check_reward(first)
    except RewardError as error:
        raise ProblemError(
            f"{where}: {steps} steps from {low:g} to {high:g} lead to a value that cannot be: "
            f"{error}"
        ) from None
    return steps


def _whole(where: str, steps: Any) -> int:
    number = real(steps)
    if number is None or number != int(number):
        raise ProblemError(f"{where}: steps must be a whole number, not {shown(steps)}")
    if number < 1:
        raise ProblemError(f"{where}: steps must be at least 1, not {number:g}")
    return int(number)


def _from_step(where: str, low: float, high: float, given: Any) -> int:
    step = real(given)
    if step is None:
        raise ProblemError(f"{where}: step must be a number, not {shown(given)}")
    if not 0 < step <= high - low:
        raise ProblemError(f"{where}: step {step:g} must be positive and at most {high - low:g}")
    exact = (high - low) / step
    if not math.isfinite(exact) or exact > MOST_STEPS + 1:
        raise ProblemError(f"{where}: step {step:g} makes more than {MOST_STEPS:,} steps")
    steps = round(exact)
    if abs(exact - steps) > _ROUNDING:
        near = sorted({math.floor(exact), math.ceil(exact)} | {steps})
        named = " or ".join(f'"steps": {n} ({(high - low) / n:.6g} each)' for n in near)
        raise ProblemError(
            f"{where}: steps of {step!r} from {low:g} miss {high:g}; say how many there are "
            f"instead: {named}"
        )
    return steps


def value_at(low: float, high: float, steps: int, number: int) -> float:
    """The answer after `number` steps; exactly `low` and `high` at the ends.

    The rating page works out the same, operation by operation.
    """
    return high if number == steps else low + (high - low) * number / steps


def number_of(low: float, high: float, steps: int, value: float) -> int | None:
    """After how many steps this answer comes; None if it is none of them."""
    if not low <= value <= high:
        return None
    number = round((value - low) / (high - low) * steps)
    return number if value_at(low, high, steps, number) == value else None


def scale_of(kept: Mapping[str, Any]) -> tuple[float, float, int]:
    """`min`, `max` and steps of a scale as a study keeps it.

    Studies from before scales had a number of steps keep a step, which may
    miss `max`; the last answer before it is then the top.
    """
    low, high = float(kept["min"]), float(kept["max"])
    if "steps" in kept:
        return low, high, int(kept["steps"])
    exact = (high - low) / kept["step"]
    steps = max(1, math.floor(exact + _ROUNDING))
    return low, high if abs(exact - steps) <= _ROUNDING else low + steps * kept["step"], steps


def labels_of(values: list[float]) -> list[str]:
    """Short texts for evenly spaced answers: exact if they are short, else rounded.

    >>> labels_of([0.0, 1 / 6, 2 / 6, 0.5]), labels_of([1.0, 1.5, 2.0])
    (['0', '0.17', '0.33', '0.5'], ['1', '1.5', '2'])
    """
    plain = [f"{value:g}" for value in values]
    if all(float(text) == value for text, value in zip(plain, values, strict=True)):
        return plain
    step = (values[-1] - values[0]) / (len(values) - 1)
    decimals = math.ceil(1 - math.log10(step))
    if not 0 < decimals <= 6:
        return plain
    rounded = [f"{value:.{decimals}f}".rstrip("0").rstrip(".") for value in values]
    return ["0" if text == "-0" else text for text in rounded]
