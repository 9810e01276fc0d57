"""Studies driven at random: late, doubled, out of order, paused, expired, reopened."""

from __future__ import annotations

import random

from standout.core.methods import as_method
from standout.study import Study, Ticket
from tests.attack.cases import JOINT, MEAN_STD, PLAIN, SUBSETS
from tests.attack.hands import family_of, pick_problem
from tests.attack.tape import Tape, draw_means
from tests.attack.watching import Count, Watch
from tests.study.asking import useful
from tests.study.conftest import Clock

LABELS = PLAIN + SUBSETS + MEAN_STD + JOINT
STEPS = 40


class Walk:
    """One study beside the truth; `step` does something, then everything is compared."""

    def __init__(self, place: str, seed: int, number: int) -> None:
        self.rng = random.Random(f"walk {seed}:{number}")
        self.label = LABELS[number % len(LABELS)]
        self.place, self.name = place, f"walk {seed}:{number}"
        self.problem = pick_problem(self.rng, self.label)
        family = family_of(self.problem)
        n = self.rng.choice([3, 4, 5, 8]) if "lambda" not in self.label else 17
        self.tape = Tape(self.rng, draw_means(self.rng, n, family), family)
        self.arms = [f"arm {i}" for i in range(n)]
        self.clock = Clock()
        self.study = Study.create(
            place,
            self.arms,
            self.problem,
            self.label,
            name=self.name,
            budget=self.rng.choice([None, None, n - 1, 60]),
            lease=10,
            pause_after=self.rng.choice([None, 1, 3]),
            ordered=self.rng.random() < 0.5,
            seed=number,
            clock=self.clock,
        )
        progress = self.study._state
        self.watch = Watch(
            self.problem, as_method(self.label), progress.spec, progress.state, self.tape.means
        )
        self.held: list[Ticket] = []
        self.was_pending = 0
        # Some arms are paused before they were ever measured.
        for arm in self.rng.sample(self.arms, self.rng.choice([0, 0, 1, (n - 1) // 2, n - 2])):
            self.study.pause(arm)

    def play(self, count: Count) -> None:
        count.runs[self.label] += 1
        faults: list[str] = []
        for number in range(STEPS):
            action = self.rng.choice(self.actions)
            try:
                action(self)
                faults = self.look()
            except Exception as error:
                faults = [f"{type(error).__name__}: {error}"]
            if faults:
                faults = [f"step {number} ({action.__name__}): {fault}" for fault in faults]
                break
        count.held[self.label] += self.watch.held
        count.verdicts[self.label] += int((self.study._state.certified != 0).sum())
        count.faults += [f"{self.name} {self.label} {self.problem}: {fault}" for fault in faults]
        self.study.close()

    def look(self) -> list[str]:
        """What the study says, as anyone who opens it would read it."""
        found = self.study.identification()
        progress = self.study._state
        faults = self.watch.look(progress.state, progress.certified)
        named = {arm for arm, verdict in zip(self.arms, progress.certified, strict=True) if verdict}
        if named != {*found.outliers, *found.normal} and not progress.is_stopped:
            faults.append(f"{found} does not say what was certified")
        return faults

    def ask(self) -> None:
        count = self.rng.choice([1, 3, 12, 40, 300])
        paused = set(self.study.status().paused)
        tickets = useful(self.study, count, worker=self.rng.choice("abc"))
        assert not paused & {ticket.arm for ticket in tickets}, "a paused arm was handed out"
        self.held += tickets
        status = self.study.status()
        free = set(status.undecided) - paused
        idle = not tickets and not status.pending and free and not status.stopped
        assert not idle, f"nothing to ask while {free} are undecided"

    def tell(self) -> None:
        self.rng.shuffle(self.held)
        some, self.held = self.held[:6], self.held[6:]
        for ticket in some:
            self.study.tell(ticket, self.reward(ticket.arm), worker=self.rng.choice("abc"))

    def tell_all(self) -> None:
        pairs = [(ticket, self.reward(ticket.arm)) for ticket in self.held]
        self.study.tell_many(pairs)
        self.held = []

    def tell_unasked(self) -> None:
        arm = self.rng.choice(self.arms)
        self.study.tell(arm=arm, reward=self.reward(arm))

    def fail(self) -> None:
        if self.held:
            ticket = self.held.pop()
            self.study.fail(ticket, "broken")
            if self.rng.random() < 0.3:
                self.held.append(ticket)

    def wait(self) -> None:
        self.clock.now += self.rng.choice([1, 11])

    def pause(self) -> None:
        act = self.rng.choice([self.study.pause, self.study.resume, self.study.resume])
        act(self.rng.choice(self.arms))

    def reopen(self) -> None:
        self.study.close()
        self.study = Study.open(self.place, self.name, clock=self.clock)

    def reward(self, arm: str) -> float:
        return self.tape.next(self.arms.index(arm))

    actions = (ask, ask, ask, tell, tell, tell_all, tell_unasked, fail, wait, pause, reopen)
