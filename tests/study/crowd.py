"""Many processes at one study, some of them killed: run as a program by the tests.

A process of its own forks quickly and without threads. Each child tells rewards
and writes down what was acknowledged on a pipe, after the call has returned.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable

from standout import Problem
from standout.errors import AllOutError
from standout.study import Study, Ticket

ARMS = [f"arm {i}" for i in range(12)]
# So narrow a gap that the study goes on until its budget ends.
PROBLEM = Problem(noise="gaussian:1", k=2)


READY = 0


def say(pipe: int, *tickets: int) -> None:
    """Acknowledge: one short write is never torn."""
    os.write(pipe, "".join(f"{ticket}\n" for ticket in tickets).encode())


def ask(study: Study, count: int, seed: int) -> list[Ticket]:
    """Tickets with a short lease; waits while all that is useful is out."""
    while True:
        try:
            return study.ask(count, worker=str(seed), lease=0.05)
        except AllOutError as error:
            time.sleep(min(error.wait, 0.05))


def work_single(place: str, pipe: int, seed: int) -> None:
    """Ask and tell one by one."""
    rng = random.Random(seed)
    study = Study.open(place)
    say(pipe, READY)
    while tickets := ask(study, 1, seed):
        for ticket in tickets:
            study.tell(ticket, reward_of(ticket.id), worker=str(seed))
            say(pipe, ticket.id)
            if rng.random() < 0.05:
                study.fail(ask(study, 1, seed)[0], "clumsy")


def work_batch(place: str, pipe: int, seed: int) -> None:
    """Ask for plates and tell them at once; a dead worker's pulls come back with its lease."""
    study = Study.open(place)
    say(pipe, READY)
    while tickets := ask(study, 40, seed):
        study.tell_many([(t, reward_of(t.id)) for t in tickets], worker=str(seed))
        say(pipe, *(ticket.id for ticket in tickets))


def work_until_spent(place: str, pipe: int, seed: int) -> None:
    """Ask and tell until nothing is left, waiting while others have the rest."""
    study = Study.open(place)
    rng = random.Random(seed)
    while not study.status().stopped:
        try:
            tickets = study.ask(rng.choice((1, 1, 1, 3)), worker=str(seed))
        except AllOutError:
            time.sleep(0.01)
            continue
        for ticket in tickets:
            study.tell(ticket, reward_of(ticket.id), worker=str(seed))
            say(pipe, ticket.id)


def work_open(place: str, pipe: int, seed: int) -> None:
    """Nothing but opening and closing: the moments in which a file gets and loses its log."""
    while True:
        Study.open(place).close()
        say(pipe, READY)


WORK: dict[str, Callable[[str, int, int], None]] = {
    "single": work_single,
    "batch": work_batch,
    "open": work_open,
    "spend": work_until_spent,
}


def reward_of(ticket: int) -> float:
    return (ticket * 7919 % 1000) / 1000


class Child:
    def __init__(self, place: str, kind: str, seed: int) -> None:
        self.said = b""
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(self.reader)
                WORK[kind](place, writer, seed)
                code = 0
            except BaseException as error:
                print(f"worker {seed}: {type(error).__name__}: {error}", file=sys.stderr)
            finally:
                os._exit(code)
        os.close(writer)

    def wait_for(self, lines: int) -> None:
        """Until it has said so many lines, or has ended."""
        while self.said.count(b"\n") < lines and (part := os.read(self.reader, 4096)):
            self.said += part

    def end(self) -> tuple[int, list[int]]:
        """Wait for it; its exit status and what it had been acknowledged."""
        while part := os.read(self.reader, 65536):
            self.said += part
        os.close(self.reader)
        _, status = os.waitpid(self.pid, 0)
        said = [int(line) for line in self.said.split()]
        return status, [ticket for ticket in said if ticket != READY]


def check(place: str, acknowledged: Counter[int]) -> None:
    """Every acknowledged reward is there exactly once, and all totals agree."""
    study = Study.open(place)
    problems = study.verify().problems
    assert problems == (), problems
    history = study.history()
    times = Counter(history["ticket"].tolist())
    assert max(times.values(), default=1) == 1, "a ticket was counted twice"
    lost = [ticket for ticket in acknowledged if times[ticket] != 1]
    assert lost == [], f"acknowledged but not there: {lost}"
    assert max(acknowledged.values(), default=1) == 1, "a ticket was acknowledged twice"
    for ticket, reward in zip(history["ticket"].tolist(), history["reward"].tolist(), strict=True):
        assert reward == reward_of(ticket)
    study.close()


def kill_again_and_again(place: str, kind: str, kills: int, seed: int) -> dict[str, int]:
    """Kill workers at random moments; look at the study after each."""
    rng = random.Random(seed)
    acknowledged: Counter[int] = Counter()
    silent = 0
    for number in range(kills):
        children = [Child(place, kind, 1000 * number + i) for i in range(2)]
        if number % 5:  # Every fifth time they are killed while they start.
            children[number % 2].wait_for(rng.choice((1, 2, 3, 6)))
        time.sleep(rng.uniform(0.0, 0.02))
        for child in children:
            os.kill(child.pid, signal.SIGKILL)
        for child in children:
            status, tickets = child.end()
            assert os.WIFSIGNALED(status), "a worker failed by itself"
            acknowledged.update(tickets)
            silent += not tickets
        check(place, acknowledged)
    return {"kills": 2 * kills, "acknowledged": len(acknowledged), "silent": silent}


def spend_together(place: str, processes: int) -> dict[str, int]:
    """Several processes until the budget is spent."""
    children = [Child(place, "spend", seed) for seed in range(processes)]
    acknowledged: Counter[int] = Counter()
    for child in children:
        status, tickets = child.end()
        assert status == 0, "a worker failed"
        acknowledged.update(tickets)
    check(place, acknowledged)
    return {"acknowledged": len(acknowledged)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["kill", "spend"])
    parser.add_argument("place")
    parser.add_argument("--kind", choices=list(WORK), default="single")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=int)
    options = parser.parse_args()
    study = Study.create(options.place, ARMS, PROBLEM, "roai-lucb", budget=options.budget)
    study.tell_many([(t, reward_of(t.id)) for t in study.ask(len(ARMS))])
    study.status()
    study.close()  # Kernels are compiled now; a child must not wait for that.
    if options.what == "kill":
        done = kill_again_and_again(options.place, options.kind, options.count, options.seed)
    else:
        done = spend_together(options.place, options.count)
    print(json.dumps(done))


if __name__ == "__main__":
    main()
