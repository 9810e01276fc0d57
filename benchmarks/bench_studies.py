"""Throughput of live studies, on both databases, with every told reward on disk.

Run it as: python benchmarks/bench_studies.py [--seconds S] [--only sqlite|postgresql] [--crowds]
With --disk MS every commit to SQLite takes so much longer, ours and bare ones alike.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import bare
import crowds
from bars import disk, end, report
from growth import bench_growth

from standout import Problem
from standout.study import Study, Ticket
from standout.study.storage.store import Store
from tests.study.postgres import Server, find_programs, start_server

# The least that is promised; None: for information.
PAIRS, BATCH, OPEN_SECONDS, EXPORT_SECONDS = 300, 50_000, 1.0, 10.0
MILLION = 1_000_000
UNITS = 2_000
"""Transactions that are recorded and run again bare."""
CROWDS = {1: 0.28, 2: None, 4: None, 8: None}
"""Processes, and the least part of raw commits with as many that they must reach."""
SLOWER = 2.0
"""Times that one process alone may be faster than eight together."""
KEYED = 5_000
BYTES = {"sqlite": 250, "postgresql": 450}
"""Tells with a key of our own, and the most that the events of one may take."""


def make(place: str, n_arms: int, name: str) -> tuple[Study, np.ndarray]:
    """A study past its first round, that will not end soon."""
    rng = np.random.default_rng(0)
    means = rng.normal(0, 1, n_arms)
    study = Study.create(
        place, [f"arm {i}" for i in range(n_arms)], Problem(noise="gaussian:5", k=3), name=name
    )
    while study.status().rounds == 0:
        tickets = study.ask(n_arms)
        study.tell_many([(t, means[int(t.arm[4:])] + rng.normal(0, 5)) for t in tickets])
    return study, means


def pairs_alone(study: Study, means: np.ndarray, seconds: float) -> float:
    """Single ask+tell pairs per second."""
    rng = np.random.default_rng(os.getpid())
    for _ in range(20):
        for ticket in study.ask(1):
            study.tell(ticket, means[int(ticket.arm[4:])] + rng.normal(0, 5))
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for ticket in study.ask(1):
            study.tell(ticket, means[int(ticket.arm[4:])] + rng.normal(0, 5))
            count += 1
    return count / (time.perf_counter() - start)


def workers_of(place: str, name: str, means: np.ndarray) -> Callable[[], crowds.Unit]:
    """What each of several processes does: tell a reward and ask for the next pull, in one call."""

    return lambda: worker(Study.open(place, name), means)


def worker(study: Study, means: np.ndarray) -> crowds.Unit:
    """Tell the reward of the pull that is held, and ask for the next."""
    rng = np.random.default_rng(os.getpid())
    held: list[Ticket] = []

    def unit() -> None:
        told = [(t, float(means[int(t.arm[4:])] + rng.normal(0, 5))) for t in held]
        held[:] = study.tell_and_ask(told, 1)[1]

    return unit


def bench_floor(folder: Path, raw: Callable[[], crowds.Unit]) -> None:
    """The statements of tell-and-ask without Python around them: what SQLite itself allows."""
    place, copy = folder / "floor.db", folder / "bare.db"
    study, means = make(str(place), 100, "floor")
    study.close()
    shutil.copy(place, copy)
    with Study.open(place) as study:
        found = bare.record(study._store, worker(study, means), UNITS)
    share = bare.beside(copy, found, raw())
    report("sqlite: its statements alone, 1 process (the floor)", share, "of raw")
    count = sum(map(len, found)) / len(found)
    print(f"{'':<12}({count:.1f} statements each, with the same waits for the disk)", flush=True)


def bench_crowds(place: str, label: str, raw: Callable[[], crowds.Unit], seconds: float) -> None:
    """Tell-and-ask on one study, beside a program that only commits a row; both in turns."""
    study, means = make(place, 100, "crowd")
    study.close()
    alone = 0.0
    for processes, least in CROWDS.items():
        rate, possible = crowds.side_by_side(
            workers_of(place, "crowd", means), raw, processes, seconds
        )
        what = f"{label}: tell-and-ask, {processes} processes"
        report(what, rate.units / possible.units, "of raw", least)
        print(
            f"{'':<12}({rate.units:,.0f}/s at {rate.cost:.2f} ms of processor time each; "
            f"raw commits {possible.units:,.0f}/s)",
            flush=True,
        )
        alone = alone or rate.units
    report(f"{label}: 1 process, over {max(CROWDS)}", alone / rate.units, "times", SLOWER)
    with Study.open(place, "crowd") as study:
        assert study.verify()


def event_bytes(store: Store) -> float:
    """What the events of a store take, with their indices."""
    with store.read() as session:
        if store.is_sqlite:
            asked = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%standout_events%'"
        else:
            asked = "SELECT pg_total_relation_size('standout_events')"
        return float(session.run(asked)[0][0])


def bench_bytes(place: str, label: str) -> None:
    """What one reward adds to the log: told alone, with a key."""
    study, means = make(place, 100, "bytes")
    before = event_bytes(study._store)
    for number in range(KEYED):
        study.tell(
            arm=f"arm {number % 100}", reward=float(means[number % 100]), key=secrets.token_hex(16)
        )
    added = (event_bytes(study._store) - before) / KEYED
    report(f"{label}: events of a keyed tell", added, "bytes", BYTES[label])


def bench_batch(study: Study, label: str) -> None:
    """100,000 rewards in one call: told by ticket, and without asking."""
    rng = np.random.default_rng(1)
    tickets = study.ask(100_000)
    rewards = rng.normal(0, 5, len(tickets)).tolist()
    start = time.perf_counter()
    study.tell_many(zip(tickets, rewards, strict=True))
    rate = len(tickets) / (time.perf_counter() - start)
    report(f"{label}: tell 100,000 tickets at once", rate, "rewards/s", BATCH)
    names = [study.arms[i] for i in rng.integers(0, len(study.arms), 100_000)]
    start = time.perf_counter()
    study.tell_many(zip(names, rewards, strict=False))
    rate = len(rewards) / (time.perf_counter() - start)
    report(f"{label}: tell 100,000 rewards without asking", rate, "rewards/s", BATCH)


def bench_million(place: str, study: Study, label: str) -> None:
    """Open, status and export with a million rewards."""
    rng = np.random.default_rng(2)
    while (missing := MILLION - study.status().pulls) > 0:
        count = min(missing, 100_000)
        names = [study.arms[i] for i in rng.integers(0, len(study.arms), count)]
        study.tell_many(zip(names, rng.normal(0, 5, count).tolist(), strict=True))
    start = time.process_time()
    opened = Study.open(place, study.name)
    opened.status()
    took = time.process_time() - start
    report(f"{label}: open and status, {MILLION:,} rewards", took, "s of CPU", OPEN_SECONDS)
    start = time.perf_counter()
    with tempfile.TemporaryFile("w") as file:
        assert opened.export(file, "csv") >= MILLION
    took = time.perf_counter() - start
    report(f"{label}: export of {MILLION:,} rows as CSV", took, "s", EXPORT_SECONDS)
    start = time.perf_counter()
    problems = opened.verify().problems
    report(f"{label}: verify, {MILLION:,} rewards", time.perf_counter() - start, "s")
    assert problems == (), problems


def bench(place: str, label: str, seconds: float) -> None:
    bench_bytes(place, label)
    for n_arms in (100, 10_000):
        name = f"n{n_arms}"
        study, means = make(place, n_arms, name)
        rate = pairs_alone(study, means, seconds)
        allowed = 500 / disk(tempfile.gettempdir())
        least = PAIRS if label == "sqlite" and n_arms == 100 else None
        report(f"{label}: ask+tell, {n_arms:,} arms, 1 process", rate, "pairs/s", least)
        print(f"{'':<12}(the disk alone would allow {allowed:,.0f})", flush=True)
        assert study.verify()
        if n_arms == 100:
            bench_batch(study, label)
            bench_million(place, study, label)
    bench_growth(make(place, 100, "growth")[0], label)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--crowds", action="store_true", help="only tell-and-ask by processes")
    parser.add_argument("--disk", type=float, default=0.0, help="milliseconds more per commit")
    options = parser.parse_args()
    if options.disk:
        crowds.slow_down(options.disk / 1000)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="standout-bench-"))
        print(f"the disk takes {disk(folder):.2f} ms to make a write safe; a pair needs two")
        if options.only != "postgresql":
            raw = crowds.raw_sqlite(Path(folder) / "raw.db")
            bench_crowds(str(Path(folder) / "crowd.db"), "sqlite", raw, options.seconds)
            bench_floor(Path(folder), raw)
            if not options.crowds:
                bench(str(Path(folder) / "study.db"), "sqlite", options.seconds)
            if os.access("/dev/shm", os.W_OK) and not options.crowds:
                memory = stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm"))
                study, means = make(str(Path(memory) / "study.db"), 100, "memory")
                rate = pairs_alone(study, means, options.seconds)
                # No promise: this says what is left when the disk is not waited for.
                report("sqlite in memory: ask+tell, 100 arms, 1 process", rate, "pairs/s")
        if options.only != "sqlite":
            if find_programs() is None:
                print("no PostgreSQL: scripts/install-system.sh installs it")
            else:
                server: Server = stack.enter_context(start_server(durable=True))
                raw = crowds.raw_postgresql(server.new_database("raw"))
                place = server.new_database("crowd")
                bench_crowds(place, "postgresql", raw, options.seconds)
                if not options.crowds:
                    bench(server.new_database("bench"), "postgresql", options.seconds)
    end()


if __name__ == "__main__":
    main()
