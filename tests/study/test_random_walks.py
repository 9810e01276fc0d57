"""What a study promises at every step of a random walk (`test_changing.py` walks), and any text."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from standout import Problem
from standout.errors import BatchError, ProblemError, RewardError
from standout.study import Study, Ticket
from tests.study.asking import useful
from tests.study.conftest import Clock

ARMS = [f"arm {i}" for i in range(6)]
_numbers = itertools.count()
METHODS = ["focus", "roai-lucb", "roai-elim", "random", "rr", "wrr", "roai-lucb:batch=3"]


class Walk:
    """One study, driven at random, beside a plain account of what it must have counted."""

    methods, noise = METHODS, "bounded:0,1"

    def __init__(self, place: str, clock: Clock, seed: int) -> None:
        self.rng = random.Random(seed)
        self.clock = clock
        self.budget = self.rng.choice([None, 40, 120])
        self.ordered = self.rng.random() < 0.5
        side = self.rng.choice(["high", "low", "both"])
        method = self.methods[seed % len(self.methods)]
        if method in ("rr", "wrr"):
            side = "high"
        self.place, self.name = place, f"walk {seed}"
        self.study = Study.create(
            place,
            ARMS,
            Problem(noise=self.noise, k=2, side=side),  # type: ignore[arg-type]
            method,
            name=self.name,
            budget=self.budget,
            lease=10,
            pause_after=self.rng.choice([None, 3]),
            ordered=self.ordered,
            seed=seed,
            clock=clock,
        )
        self.held: list[Ticket] = []
        self.told: dict[int, float] = {}
        self.unasked = 0
        self.certified: dict[str, str] = {}
        self.stopped = False

    def step(self) -> None:
        rng = self.rng
        actions = [self.ask, self.ask, self.tell, self.tell, self.tell, self.tell_many]
        actions += [
            self.tell_again,
            self.tell_unasked,
            self.fail,
            self.wait,
            self.pause,
            self.reopen,
        ]
        rng.choice(actions)()
        self.check()

    def ask(self) -> None:
        self.held += useful(self.study, self.rng.choice([1, 1, 2, 7, 30]))

    def take(self) -> Ticket | None:
        return self.held.pop(self.rng.randrange(len(self.held))) if self.held else None

    def reward(self) -> float:
        return self.rng.choice([0.0, 1.0, self.rng.random()])

    def tell(self) -> None:
        if ticket := self.take():
            reward = self.reward()
            self.study.tell(self.rng.choice([ticket, ticket.id]), reward)
            self.told[ticket.id] = reward

    def tell_many(self) -> None:
        some = [ticket for _ in range(5) if (ticket := self.take())]
        pairs = [(ticket, self.reward()) for ticket in some]
        if self.rng.random() < 0.3:
            with pytest.raises(BatchError):
                self.study.tell_many([*pairs, (10**6, 0.5)])
            self.held += some
        else:
            self.study.tell_many(pairs)
            self.told.update((ticket.id, reward) for ticket, reward in pairs)

    def tell_again(self) -> None:
        if self.told:
            number = self.rng.choice(list(self.told))
            assert self.study.tell(number, self.told[number]).repeated == 1

    def tell_unasked(self) -> None:
        self.study.tell(arm=self.rng.choice(ARMS), reward=self.reward())
        self.unasked += 1

    def fail(self) -> None:
        if ticket := self.take():
            self.study.fail(ticket, "clumsy")
            if self.rng.random() < 0.2:
                self.held.append(ticket)  # PriorFacts back, and told after all.

    def wait(self) -> None:
        self.clock.now += self.rng.choice([1, 11])

    def pause(self) -> None:
        arm = self.rng.choice(ARMS)
        self.rng.choice([self.study.pause, self.study.resume, self.study.resume])(arm)

    def reopen(self) -> None:
        self.study.close()
        self.study = Study.open(self.place, self.name, clock=self.clock)

    def check(self) -> None:
        """No flip, no restart, no overshoot, nothing lost."""
        status = self.study.status()
        verdicts = dict.fromkeys(status.outliers, "outlier")
        verdicts.update(dict.fromkeys(status.normal, "normal"))
        assert self.certified.items() <= verdicts.items(), "a verdict was taken back"
        self.certified = verdicts
        assert status.stopped or not self.stopped, "a stopped study goes on"
        self.stopped = status.stopped
        if self.budget is not None:
            assert status.pulls + status.pending <= self.budget
        assert status.pulls + status.surplus == len(self.told) + self.unasked

    def end(self) -> None:
        assert self.study.verify().problems == ()
        history = self.study.history()
        times = Counter(history["ticket"][history["ticket"] > 0].tolist())
        assert times == Counter(dict.fromkeys(self.told, 1))
        for number, reward in zip(history["ticket"], history["reward"], strict=True):
            assert number == 0 or self.told[number] == reward
        self.study.close()


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    arms=st.lists(st.text(max_size=30), min_size=3, max_size=6, unique=True),
    rewards=st.lists(st.floats() | st.integers() | st.text(max_size=3), max_size=6),
    reason=st.text(max_size=20),
)
def test_any_text_and_any_reward(
    place: str, arms: list[str], rewards: list[float], reason: str
) -> None:
    """Every name and reward is kept as it is, or refused with nothing changed."""
    name = f"study {next(_numbers)}"
    try:
        study = Study.create(place, arms, Problem(noise="gaussian:1"), name=name)
    except ProblemError:
        assert any("\x00" in a or not a or any("\ud800" <= c <= "\udfff" for c in a) for a in arms)
        return
    kept = []
    for number, reward in enumerate(rewards):
        arm = arms[number % len(arms)]
        try:
            study.tell(arm=arm, reward=reward, worker=reason)
            kept.append((arm, float(reward)))
        except RewardError:
            assert isinstance(reward, str) or not np.isfinite(float(reward)) or abs(reward) > 1e12
    study.fail(study.ask(1)[0], reason, worker=reason)
    study.pause(arms[0], reason)
    study.close()
    with Study.open(place, name) as again:
        assert list(again.arms) == arms
        history = again.history()
        assert list(zip(history["arm"], history["reward"], strict=True)) == kept
        assert again.verify().problems == ()
