"""Runs stepped by hand as no sane caller would: too early, too few, in any order."""

from __future__ import annotations

import random
from typing import Any

import numba
import numpy as np

from standout.core.intervals import MOMENTS
from standout.core.kinds import IntervalKind
from standout.core.methods import as_method
from standout.core.prior import PriorFacts
from standout.core.problem import Problem
from standout.core.run import Run
from standout.results import StopReason
from tests.attack.cases import JOINT, MEAN_STD, PLAIN, SUBSETS
from tests.attack.memory import Fence, Strict
from tests.attack.tape import FAMILIES, Tape, draw_means
from tests.attack.watching import Count, Watch

LABELS = PLAIN + SUBSETS + MEAN_STD + JOINT
STEPS = 25


def pick_problem(rng: random.Random, label: str) -> Problem:
    """A question that the method can be asked."""
    method = as_method(label)
    noises = FAMILIES if method.interval is None else ("gaussian:0.05", "bounded:-8,8", "bernoulli")
    if method.interval is IntervalKind.BERNOULLI:
        noises = ("bounded:-8,8", "bernoulli")
    if method.needs_bounded_rewards:
        noises = ("bounded:-8,8", "bernoulli")
    side = rng.choice(["high", "low", "both"])
    return Problem(
        noise=rng.choice(noises),  # type: ignore[arg-type]
        k=rng.choice([1, 1.5, 2, 3]),
        k_low=rng.choice([None, 1, 3]) if side == "both" and label not in MEAN_STD else None,
        side=side,  # type: ignore[arg-type]
        mad_scale=rng.choice([1, 1.4826, 0.5]),
        tolerance=rng.choice([0, 0, 0, 0.05, 0.5]),
        delta=rng.choice([0.05, 0.3]),
    )


def family_of(problem: Problem) -> str:
    """The family as the tape names it."""
    spec = problem.noise.spec()
    found = [one for one in FAMILIES if one.partition(":")[0] == spec.partition(":")[0]]
    return next((one for one in found if (":" in one) == (":" in spec)), found[0])


class Hand:
    """One run, and what is wrong with it after each step."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = random.Random(f"hand {seed}:{number}")
        self.label = LABELS[number % len(LABELS)]
        self.problem = pick_problem(self.rng, self.label)
        family = family_of(self.problem)
        n = self.rng.choice([3, 4, 5, 8, 17]) if "lambda" not in self.label else 17
        means = draw_means(self.rng, n, family)
        self.tape = Tape(self.rng, means, family)
        self.arms = [str(i) for i in range(n)]
        self.known: set[str] = set()
        self.run = Run(
            self.problem,
            self.arms,
            self.label,
            np.random.default_rng(number),
            budget=self.rng.choice([None, None, 1, 30, 400]),
            given=self._given(),
        )
        self.guard = (Strict if numba.config.DISABLE_JIT else Fence)(self.run.state)
        self.run.state = self.guard.state
        self.watch = Watch(
            self.problem, self.run.method, self.run.spec, self.run.state, self.tape.means
        )

    def _given(self) -> PriorFacts:
        facts: dict[str, dict[str, Any]] = {"costs": {}, "prior": {}, "known": {}}
        if self.label.startswith(("focus", "joint", "combined")) and self.rng.random() < 0.4:
            count = self.rng.randint(1, len(self.arms))
            self.known = set(self.rng.sample(self.arms, count))
            facts["known"] = {arm: self.tape.means[int(arm)] for arm in self.known}
        interval = as_method(self.label).interval_for(self.problem)
        if interval not in MOMENTS and self.rng.random() < 0.4:
            share = self.rng.choice([0.3, 1.0])
            for arm in self.arms:
                if arm not in self.known and self.rng.random() < share:
                    rewards = [self.tape.next(int(arm)) for _ in range(self.rng.choice([1, 3, 50]))]
                    facts["prior"][arm] = (len(rewards), sum(rewards))
        if self.rng.random() < 0.2:
            facts["costs"] = {arm: self.rng.choice([0.1, 1, 50]) for arm in self.arms}
        return PriorFacts(**facts)

    def play(self, count: Count) -> None:
        count.runs[self.label] += 1
        faults: list[str] = []
        for _ in range(STEPS):
            if self.run.reason is not StopReason.RUNNING:
                break
            try:
                faults = self._step()
                faults += self.watch.look(self.run.state) + self.guard.faults()
            except Exception as error:  # Nothing here gives a reason to refuse anything.
                faults = [f"{type(error).__name__}: {error}"]
            if faults:
                break
        count.held[self.label] += self.watch.held
        count.verdicts[self.label] += int((self.run.state.verdict != 0).sum())
        count.faults += [
            f"{self.label}, {self.problem}, {self.tape.means}: {one}" for one in faults
        ]

    def _step(self) -> list[str]:
        action = self.rng.choice(["obey", "obey", "obey", "some", "stray", "early"])
        if action == "early":
            self.run.update()
            return []
        if action == "stray":
            free = [arm for arm in self.arms if arm not in self.known]
            for arm in self.rng.choices(free, k=self.rng.choice([1, 5])) if free else ():
                self.run.tell(arm, self.tape.next(int(arm)))
            self.run.update()
            return []
        chosen = self.run.choose()
        faults = self._faults_of_choice(chosen)
        pulls = [arm for arm, amount in chosen for _ in range(min(amount, 50))]
        self.rng.shuffle(pulls)
        for arm in pulls[: self.rng.randint(0, len(pulls))] if action == "some" else pulls:
            self.run.tell(arm, self.tape.next(int(arm)))
        self.run.update()
        return faults

    def _faults_of_choice(self, chosen: list[tuple[str, int]]) -> list[str]:
        numbers = self.run.state.chosen[: len(chosen)].tolist()
        faults = []
        if any(not 0 <= number < len(self.arms) for number in numbers):
            faults.append(f"arms {numbers} were chosen")
        if self.known & {arm for arm, _ in chosen}:
            faults.append(f"known arms of {chosen} were chosen")
        room = np.inf if self.run.budget is None else self.run.budget - self.run.pulls
        if any(amount < 1 for _, amount in chosen) or sum(a for _, a in chosen) > room:
            faults.append(f"{chosen} does not fit into {room}")
        if not chosen and len(self.known) < len(self.arms):
            faults.append("nothing was chosen")
        return faults
