"""The studies that are tortured: what they ask, and what their arms are like."""

from __future__ import annotations

from typing import Any

from standout import Problem, Study

MEANS = {
    "ash": -4.0, "elm": -4.0, "fir": -4.0, "oak": 0.0, "yew": 0.0, "box": 0.0, "bay": 0.0,
    "fig": 4.0, "ivy": 4.0, "rue": 8.0, "tea": 40.0,
}  # fmt: skip
"""Median 0, MAD 4: with k = 2 rue is exactly at the threshold, and no study decides on it."""
NOISE, K, SCALE = "gaussian:1", 2.0, 1.0

STUDIES: dict[str, dict[str, Any]] = {
    "main": {"method": "focus", "ordered": True},
    "loose": {"method": "roai-lucb", "ordered": False},
    "line": {"method": "joint", "ordered": True},
    "mended": {"method": "focus", "ordered": True},
}
"""They go on for ever; beside them one with a budget begins at every checkpoint."""
MENDED = "mended"
"""The one whose settings and rewards are changed by hand: there pulls and verdicts may go."""
BUDGET = 150


def problem() -> Problem:
    return Problem(noise=NOISE, k=K, mad_scale=SCALE)


def create(place: str, name: str) -> None:
    """Begin a study; one that is in no list has a budget."""
    options = dict(STUDIES.get(name, {"method": "focus", "budget": BUDGET}))
    method = options.pop("method")
    Study.create(place, list(MEANS), problem(), method, name=name, lease=2.0, **options).close()
