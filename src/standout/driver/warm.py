"""Compile or load kernels in advance, so that the first measurement need not wait."""

from __future__ import annotations

import tempfile
from pathlib import Path

from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD
from standout.core.noise import Bernoulli, Noise
from standout.core.problem import Problem
from standout.study.study import Study
from standout.study.view import view


def warm_up(noise: Noise | None = None, method: str | Method = DEFAULT_METHOD) -> None:
    """Play a very small study once, on temporary files; with 0/1 rewards if `noise` is None."""
    with tempfile.TemporaryDirectory(prefix="standout-warm-") as folder:
        problem = Problem(noise=noise or Bernoulli(), k=2)
        place = Path(folder) / "warm.db"
        with Study.create(place, ["a", "b", "c"], problem, method) as study:
            tickets = study.ask(3)
            for _ in range(3):
                pairs = [(ticket, float(ticket.id % 2)) for ticket in tickets]
                _, tickets = study.tell_and_ask(pairs, 3)
            view(study)
            study.forecast_range()
