"""The content of a rating page: its question, its answers, and the item of each arm.

A scale has evenly spaced answers, including both ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from standout.core.noise import Noise
from standout.csv_files import PARTS
from standout.errors import ProblemError, RewardError, shown
from standout.study.arguments import encodable, real

USUAL_STEPS = 10
MOST_STEPS = 100_000
_ROUNDING = 1e-9
"""The relative error of a step by binary rounding of numbers such as 0.1."""


def check_steps(where: str, low: float, high: float, given: Mapping[str, Any], noise: Noise) -> int:
    """The number of steps from `low` to `high`: `steps`, or from `step`, or `USUAL_STEPS`.

    Raises ProblemError for a step that misses `high`, and for answers that the noise does not
    allow.
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

    The rating page computes the same, operation by operation.
    """
    return high if number == steps else low + (high - low) * number / steps


LONGEST = 100_000
"""Characters of one part of an item, and of one text of the page."""
MOST_ANSWERS = 100_000
"""The largest number of answers after which a page may be complete."""
IMAGE_STARTS = ("https://", "http://", "data:image/", "/")

PAGE_KEYS = ("question", "buttons", "scale", "consent", "end", "completion")
_COMPLETION_KEYS = ("after", "url", "code")
_BUTTON_KEYS = ("label", "value", "key")
_SCALE_KEYS = ("min", "max", "steps", "step", "low_label", "high_label")

Parts = dict[str, str]


def check_items(
    items: Mapping[str, Mapping[str, str]] | None, arms: Sequence[str]
) -> dict[int, Parts]:
    """Items by the arm's position; refuses unknown arms and parts."""
    if items is None:
        return {}
    if not isinstance(items, Mapping):
        raise ProblemError(f"items must be a mapping from arms, not {shown(items)}")
    index = {name: place for place, name in enumerate(arms)}
    checked: dict[int, Parts] = {}
    for arm, parts in items.items():
        if arm not in index:
            raise ProblemError(f"there is an item for {arm!r}, which is no arm of this study")
        where = f"the item of {arm!r}"
        _check_keys(where, parts, PARTS, "a mapping")
        kept = {key: _text(f"{where}: {key}", parts[key]) for key in PARTS if parts.get(key)}
        image = kept.get("image", "/")
        if not image.startswith(IMAGE_STARTS):
            raise ProblemError(
                f"{where}: image {image[:60]!r} is no address of a picture; "
                "it must begin with https://, http://, data:image/ or /"
            )
        if kept:
            checked[index[arm]] = kept
    return checked


def check_page(page: Mapping[str, Any] | None, noise: Noise) -> dict[str, Any] | None:
    """The settings of a rating page; every answer must be a reward of this noise."""
    if page is None:
        return None
    _check_keys("the page", page, PAGE_KEYS)
    checked: dict[str, Any] = {}
    for key in ("question", "consent", "end"):
        if page.get(key) is not None:
            checked[key] = _text(f"the page's {key}", page[key])
    if page.get("buttons") is not None:
        checked["buttons"] = _check_buttons(page["buttons"], noise)
    if page.get("scale") is not None:
        checked["scale"] = _check_scale(page["scale"], noise)
    if page.get("completion") is not None:
        checked["completion"] = _check_completion(page["completion"])
    if "buttons" in checked and "scale" in checked:
        raise ProblemError("the page has both buttons and a scale; keep one of them")
    return checked


def _check_buttons(buttons: Any, noise: Noise) -> list[dict[str, Any]]:
    if not isinstance(buttons, Sequence) or isinstance(buttons, str) or not buttons:
        raise ProblemError("the page's buttons must be a list of at least one button")
    checked: list[dict[str, Any]] = []
    keys: set[str] = set()
    for number, button in enumerate(buttons, start=1):
        where = f"button {number} of the page"
        _check_keys(where, button, _BUTTON_KEYS)
        label = _text(f"{where}: label", button.get("label"))
        kept: dict[str, Any] = {"label": label, "value": _answer(where, button, "value", noise)}
        key = button.get("key")
        if key is not None:
            if not isinstance(key, str) or len(key) != 1 or not key.isprintable():
                raise ProblemError(f"{where}: key {key!r} must be one character")
            if key.lower() in keys:
                raise ProblemError(f"{where}: key {key!r} belongs to another button already")
            keys.add(key.lower())
            kept["key"] = key
        checked.append(kept)
    return checked


def _check_completion(given: Any) -> dict[str, Any]:
    """The number of answers after which a rater is done, and the link or code for a panel."""
    where = "the page's completion"
    _check_keys(where, given, _COMPLETION_KEYS)
    after = _number(where, "after", given.get("after"))
    if after != int(after) or not 1 <= after <= MOST_ANSWERS:
        raise ProblemError(f"{where}: after must be a number of answers, not {after:g}")
    checked: dict[str, Any] = {"after": int(after)}
    for key in ("url", "code"):
        if given.get(key) is not None:
            checked[key] = _text(f"{where}: {key}", given[key])
    if len(checked) == 1:
        raise ProblemError(f"{where} needs a url to return to, or a code")
    if not checked.get("url", "https://").startswith(("https://", "http://")):
        raise ProblemError(f"{where}: url must begin with https:// or http://")
    return checked


def _check_scale(scale: Any, noise: Noise) -> dict[str, Any]:
    where = "the page's scale"
    _check_keys(where, scale, _SCALE_KEYS)
    low, high = (_answer(where, scale, key, noise) for key in ("min", "max"))
    if low >= high:
        raise ProblemError(f"{where}: min {low:g} is not below max {high:g}")
    steps = check_steps(where, low, high, scale, noise)
    checked: dict[str, Any] = {"min": low, "max": high, "steps": steps}
    for key in ("low_label", "high_label"):
        if scale.get(key) is not None:
            checked[key] = _text(f"{where}: {key}", scale[key])
    return checked


def _answer(where: str, given: Mapping[str, Any], key: str, noise: Noise) -> float:
    value = _number(where, key, given.get(key))
    try:
        return noise.check_reward(value)
    except RewardError as error:
        raise ProblemError(f"{where}: {key}: {error}") from None


def _number(where: str, key: str, value: Any) -> float:
    number = real(value)
    if number is None:
        raise ProblemError(f"{where}: {key} must be a number, not {shown(value)}")
    return number


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ProblemError(f"{where} must be a text that is not empty, not {shown(value)}")
    if len(value) > LONGEST:
        raise ProblemError(f"{where} has {len(value):,} characters; {LONGEST:,} is the most")
    return encodable(where, value)


def _check_keys(where: str, given: object, known: Sequence[str], kind: str = "an object") -> None:
    names = ", ".join(known)
    if not isinstance(given, Mapping):
        raise ProblemError(f"{where} must be {kind} with {names}")
    for key in given:
        if key not in known:
            raise ProblemError(f"{where} has {key!r}, which means nothing here; use {names}")
