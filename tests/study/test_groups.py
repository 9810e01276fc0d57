"""Groups of requests of every kind, as the service makes them, against the same one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from standout import Problem
from standout.study import Study
from standout.study.transaction import MOMENT, Mark, Transaction
from tests.study.conftest import Clock
from tests.study.test_conformance import ARMS

METHODS = ("focus", "roai-lucb", "random", "joint")
KINDS = (
    *["tell"] * 6, *["both"] * 6, *["many"] * 6, "ask", "ask", "fail", "release", "key", "other",
)  # fmt: skip


class Wish(NamedTuple):
    """A request, and the tickets that are to be looked up for it."""

    kind: str
    hints: list[int]
    call: Callable[[Transaction], Any]


def random_wish(rng: random.Random, known: list[int]) -> Wish:
    """Mostly a told ticket; now and then again, too late, given back, among others, or wrong."""
    kind = rng.choice(KINDS) if known else "ask"
    ticket = rng.choice(known or [1])
    value, who, arm = float(rng.randrange(9)), rng.choice("ab"), rng.choice(ARMS)
    lease = rng.choice((None,) * 9 + (1.5,))
    one = [(ticket, float(ticket % 5))]
    some = [(each, float(each % 5)) for each in rng.sample(known, min(len(known), 3))]
    mark = Mark.of(f"key {rng.randrange(30)}")
    calls: dict[str, Callable[[Transaction], Any]] = {
        "tell": lambda turn: turn.tell_many(one, worker=who),
        "both": lambda turn: turn.tell_and_ask(one, 2, worker=who, lease=lease),
        "ask": lambda turn: turn.ask(2, worker=who, lease=lease),
        "fail": lambda turn: turn.fail(ticket, "spilt", worker=who),
        "release": lambda turn: turn.release([ticket]),
        "many": lambda turn: turn.tell_many([*some, (arm, value)], worker=who),
        "key": lambda turn: turn.tell_many([(arm, 1.0)], worker=who, mark=mark),
        "other": lambda turn: turn.tell_many([(ticket, value + 0.5)], worker=who),
    }
    has_hint = kind in ("tell", "both", "other") or (kind == "fail" and rng.random() < 0.5)
    return Wish(kind, [ticket] if has_hint else [], calls[kind])


def plain(found: Any) -> Any:
    return (type(found), str(found)) if isinstance(found, Exception) else found


def state(study: Study) -> Any:
    """Everything that the two must have in common."""
    status, history = study.status(), study.history()
    columns = ("arm", "reward", "ticket", "worker", "counted")
    assert study.verify().problems == ()
    return (
        status.pulls, status.undecided, status.threshold, status.paused, status.failures,
        [(one.ticket, one.arm, one.worker) for one in study.pending()],
        [history[name].tolist() for name in columns],
        study._stored.progress.held.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_group_is_as_one_by_one(place: str, folder: Path, seed: int) -> None:
    rng, clocks = random.Random(seed), (Clock(), Clock())
    grouped, single = (
        Study.create(
            at, ARMS, Problem(noise="gaussian:9", k=2), METHODS[seed % 4], ordered=seed % 6 != 5,
            lease=(6.0, 1000.0)[seed % 2], budget=500, clock=clock, seed=3,
            pause_after=(None, 2)[seed // 2 % 2],
        )
        for at, clock in zip((place, folder / "single.db"), clocks, strict=True)
    )  # fmt: skip
    known: list[int] = []
    for _ in range(60):
        wishes = [random_wish(rng, known) for _ in range(rng.choice((1, 2, 4, 8)))]
        now = clocks[0].now
        hints = [number for wish in wishes for number in wish.hints]
        found = grouped.in_one_transaction([wish.call for wish in wishes], 2, hints)
        for number, (wish, mine) in enumerate(zip(wishes, found, strict=True)):
            clocks[1].now = now + number * MOMENT
            [yours] = single.in_one_transaction([wish.call], 2)
            assert plain(mine) == plain(yours), wish.kind
            if wish.kind in ("ask", "both") and not isinstance(yours, Exception):
                known += [one.id for one in (yours if wish.kind == "ask" else yours[1])]
        clocks[0].now = clocks[1].now = now + rng.choice((0.5, 1.0, 3.0))
        change = rng.random()
        for study in (grouped, single):
            if change < 0.1:
                study.pause(ARMS[1], "none left")
            elif change < 0.2:
                study.resume(ARMS[1])
        known = known[-25:]
    assert state(grouped) == state(single)
    grouped.close()
    single.close()
