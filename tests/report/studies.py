"""Small real studies in every state that a report has to talk about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from standout import Problem, Study

NAMES = ("ash", "elm", "fir", "oak", "yew", "box", "fig")
MEANS = dict(zip(NAMES, (0.0, 0.3, -0.4, 0.6, 9.0, -0.2, 0.2), strict=True))
Reward = Callable[[np.random.Generator, str, int], float]


def make(folder: Path, name: str = "main", **options: Any) -> Study:
    """A study of seven arms, one far above the others."""
    problem = {"noise": "gaussian:1", "k": 3.0} | options.pop("problem", {})
    arms = options.pop("arms", NAMES)
    return Study.create(folder / "study.db", arms, Problem(**problem), name=name, **options)


def measure(
    study: Study,
    means: Mapping[str, float] = MEANS,
    *,
    most: int = 100_000,
    plate: int = 20,
    workers: tuple[str, ...] = ("ada", "ben"),
    reward: Reward | None = None,
    seed: int = 0,
) -> Study:
    """Ask and tell until the study stops, or `most` pulls are told."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < most and (tickets := study.ask(min(plate, most - done), worker="progress")):
        who = workers[int(rng.integers(len(workers)))]
        pairs = []
        for ticket in tickets:
            if reward is not None:
                value = reward(rng, ticket.arm, done)
            else:
                value = float(rng.normal(means[ticket.arm], 1.0))
            pairs.append((ticket, value))
            done += 1
        study.tell_many(pairs, worker=who)
    return study
