"""Write the golden database of the present schema version: run once per version, then keep it."""

from __future__ import annotations

from pathlib import Path

from standout import Problem
from standout.study import Study
from standout.study.storage.migrations import STEPS


def main() -> None:
    path = Path(__file__).parent / "golden" / f"v{len(STEPS)}.db"
    if path.exists():
        raise SystemExit(f"{path} is there already; a golden database is never written anew")
    arms = ["a", "b,c", "ö\nü", "d"]
    problem = Problem(noise="bernoulli", k=2)
    options = {"items": {"a": {"text": "the first"}}, "page": {"question": "Is it?"}}
    with Study.create(
        path, arms, problem, "roai-lucb", budget=500, clock=lambda: 1e9, **options
    ) as study:
        for number in range(60):
            study.tell(arm=arms[number % 4], reward=number % 2, worker="golden")
        tickets = study.ask(5, worker="golden")
        failed = next(ticket for ticket in tickets if ticket.arm == "d")
        study.fail(failed, "spilt", worker="golden")
        study.set(budget=400, batch=2, reason="less money", worker="golden")
        study.pause("a", "out of stock", worker="golden")
        study.resume("a", "back again", worker="golden")
        study.void(7, value=1.0, reason="a slip", worker="golden")
        assert study.status().pending == 4


if __name__ == "__main__":
    main()
