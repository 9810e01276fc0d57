"""The question of a rating page: from a study's settings, or else from its noise."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from standout.core.noise import Bernoulli, Noise
from standout.errors import RewardError
from standout.study import Study
from standout.study.rating import value_at

MOST_POINTS = 11
"""A scale with at most this many values is shown as points, a finer one as a slider."""
QUESTION = "What is your answer?"
"""The default question."""
MOST_HOSTS = 100
"""Hosts of pictures that a page's policy names one by one; with more, any host is allowed."""
_DIGITS = "1234567890"
_HOST = re.compile(r"[0-9a-z_.-]+|\[[0-9a-f:.]+\]")


def question_of(study: Study) -> dict[str, Any]:
    """The question and its answers: `kind` is buttons, points, slider or number."""
    page = study.page or {}
    asked: dict[str, Any] = {"question": page.get("question") or QUESTION}
    if page.get("buttons"):
        return {**asked, "kind": "buttons", "buttons": _with_keys(page["buttons"])}
    scale = page.get("scale") or _usual_scale(study.problem.noise)
    if scale is not None:
        return {**asked, **_scale(scale)}
    if isinstance(study.problem.noise, Bernoulli):
        buttons = [
            {"label": "No", "value": 0.0, "key": "n"},
            {"label": "Yes", "value": 1.0, "key": "y"},
        ]
        return {**asked, "kind": "buttons", "buttons": buttons}
    return {**asked, "kind": "number"}


def _usual_scale(noise: Noise) -> dict[str, Any] | None:
    low, high = noise.support
    if isinstance(noise, Bernoulli) or not (math.isfinite(low) and math.isfinite(high)):
        return None
    span = high - low
    is_whole = low == int(low) and high == int(high) and span <= MOST_POINTS - 1
    return {"min": low, "max": high, "steps": int(span) if is_whole else MOST_POINTS - 1}


def _scale(scale: dict[str, Any]) -> dict[str, Any]:
    low, high, steps = scale["min"], scale["max"], scale["steps"]
    ends = {"low_label": scale.get("low_label"), "high_label": scale.get("high_label")}
    if steps >= MOST_POINTS:
        return {"kind": "slider", "min": low, "max": high, "steps": steps, **ends}
    values = [value_at(low, high, steps, number) for number in range(steps + 1)]
    points: list[dict[str, Any]] = [
        {"label": label, "value": value}
        for label, value in zip(_labels_of(values), values, strict=True)
    ]
    if all(len(point["label"]) == 1 for point in points[:10]):
        # A value of one digit has that digit's key.
        for point in points[:10]:
            point["key"] = point["label"]
    return {"kind": "points", "buttons": _with_keys(points), **ends}


def _with_keys(buttons: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Buttons without a key get the remaining digits, in order."""
    listed = [dict(button) for button in buttons]
    taken = {str(button["key"]).lower() for button in listed if button.get("key")}
    free = (digit for digit in _DIGITS if digit not in taken)
    for button in listed:
        if not button.get("key"):
            button["key"] = next(free, None)
    return listed


def check_answer(study: Study, value: float) -> None:
    """Refuse an answer that the page does not offer."""
    asked = question_of(study)
    if asked["kind"] in ("buttons", "points"):
        fits = any(value == button["value"] for button in asked["buttons"])
    elif asked["kind"] == "slider":
        fits = _number_of(asked["min"], asked["max"], asked["steps"], value) is not None
    else:
        study.problem.noise.check_reward(value)
        fits = True
    if not fits:
        raise RewardError(f"{value:g} is not among the answers of this page")


def image_policy(addresses: Iterable[str]) -> str:
    """The sources that a page with these pictures must allow, and no others.

    >>> image_policy(["https://a.example/x.jpg", "/y.jpg", "https://a.example/z.jpg"])
    "'self' https://a.example"
    """
    found: set[str] = set()
    schemes: set[str] = set()
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme == "data":
            found.add("data:")
        elif parts.netloc and (host := _host(parts.netloc)):
            found.add(f"{parts.scheme}://{host}" if parts.scheme else host)
            schemes.add(f"{parts.scheme or 'https'}:")
    if len(found) > MOST_HOSTS:
        found = schemes | (found & {"data:"})
    return " ".join(["'self'", *sorted(found)])


def _host(netloc: str) -> str | None:
    """Host and port, checked strictly because they go into a header."""
    place = netloc.rpartition("@")[2].lower()
    host, _, port = place.rpartition(":")
    if not host or place.endswith("]"):
        host, port = place, ""
    try:
        host = host if host.startswith("[") else host.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    if not _HOST.fullmatch(host) or (port and not (port.isascii() and port.isdigit())):
        return None
    return f"{host}:{port}" if port else host


def _number_of(low: float, high: float, steps: int, value: float) -> int | None:
    """The step of this answer; None if it is not on the scale."""
    if not low <= value <= high:
        return None
    number = round((value - low) / (high - low) * steps)
    return number if value_at(low, high, steps, number) == value else None


def _labels_of(values: list[float]) -> list[str]:
    """Short texts for evenly spaced answers: exact if they are short, else rounded.

    >>> _labels_of([0.0, 1 / 6, 2 / 6, 0.5]), _labels_of([1.0, 1.5, 2.0])
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
