"""Loading compiled code before the first request has to wait for it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from standout.core.problem import Problem
from standout.study import Study
from standout.study.view import view


def warm_up() -> None:
    """Play a very small study through once, on throw-away files."""
    with tempfile.TemporaryDirectory(prefix="standout-warm-") as folder:
        problem = Problem(noise="bernoulli", k=2)  # type: ignore[arg-type]  # it reads texts
        with Study.create(Path(folder) / "warm.db", ["a", "b", "c"], problem) as study:
            tickets = study.ask(3)
            for _ in range(3):
                pairs = [(ticket, float(ticket.id % 2)) for ticket in tickets]
                _, tickets = study.tell_and_ask(pairs, 3)
            view(study)
            study.forecast_range()
