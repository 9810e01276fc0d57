"""The service under load: telling against bare commits, with dashboards open, large studies.

Run it as: python benchmarks/bench_service.py [--seconds S] [--only PART]

Clients and server share the machine's cores. Every acknowledged answer is looked
for in the log afterwards, also when the server was killed in between.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from bars import disk, end, missed, report
from service_share import bench_shares
from serving import Server, in_child, said

from standout.client import Client

ANSWERS, UPDATE_MS, OPEN_SECONDS = 150, 50.0, 2.0
CLIENTS, ARMS = 8, 1_000
DASHBOARDS, MANY_ARMS, TELL_MS = 8, 100_000, 60.0


def answer(url: str, seed: int, seconds: float, pipe: int) -> None:
    """Answer as fast as the server goes; note each acknowledged ticket, after it is."""
    rng = random.Random(seed)
    study = Client(url, timeout=10).study("load")
    deadline = time.monotonic() + seconds
    tickets = study.ask(1)
    while time.monotonic() < deadline:
        pairs = [(t, float(rng.random() < 0.1 + 0.8 * (hash(t.arm) % 97) / 97)) for t in tickets]
        _, following = study.tell_and_ask(pairs, 1)
        os.write(pipe, "".join(f"{t.id}\n" for t in tickets).encode())
        tickets = following


def watch(url: str, seconds: float, pipe: int) -> None:
    """What an open dashboard does: listen, and fetch what changed at every event."""
    deadline = time.monotonic() + seconds
    views, since = 0, None
    client = Client(url)
    port = urlsplit(url).port
    while time.monotonic() < deadline:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/api/v1/studies/load/events")
            stream = connection.getresponse()
            while time.monotonic() < deadline and (line := stream.readline()):
                if line.startswith(b"event: change"):
                    view = client._transport.get("/studies/load/view", since=since)
                    since, views = view["seq"], views + 1
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
    os.write(pipe, f"{views}\n".encode())


def run_clients(server: Server, seconds: float, kill_after: float | None) -> tuple[Counter, int]:
    """Eight answering clients and a dashboard; what was acknowledged, and how many views."""
    url = server.url
    children = [
        in_child(lambda pipe, seed=seed: answer(url, seed, seconds, pipe))
        for seed in range(CLIENTS)
    ]
    dashboard = in_child(lambda pipe: watch(url, seconds, pipe))
    if kill_after is not None:
        time.sleep(kill_after)
        server.kill()
        time.sleep(0.3)
        server.start()
    acknowledged: Counter[int] = Counter()
    for _, pipe in children:
        acknowledged.update(said(pipe))
    (views,) = said(dashboard[1])
    for pid, _ in (*children, dashboard):
        if os.waitpid(pid, 0)[1] != 0:
            missed.append("a client failed")
    return acknowledged, views


def check_log(place: Path, acknowledged: Counter[int]) -> None:
    """Every acknowledged answer is in the log, once; all totals agree with the log."""
    from standout.study import Study

    with Study.open(place, "load") as study:
        problems = study.verify().problems
        logged = Counter(study.history()["ticket"].tolist())
    twice = [ticket for ticket, count in logged.items() if count > 1]
    lost = [ticket for ticket in acknowledged if logged[ticket] != 1]
    if lost or twice or problems:
        missed.append(f"{len(lost)} answers lost, {len(twice)} counted twice, {problems}")
    print(f"{'':<12}{len(acknowledged):,} acknowledged, {len(lost)} lost, {len(twice)} twice")


def bench_load(folder: Path, seconds: float) -> None:
    """150 answers per second with a dashboard open; and with the server killed."""
    place = folder / "load.db"
    server = Server(place)
    try:
        arms = [f"arm {i}" for i in range(ARMS)]
        Client(server.url).create("load", arms, "bernoulli", lease=600.0)
        run_clients(server, 1.0, None)  # Connections, caches, the first round.
        acknowledged, views = run_clients(server, seconds, None)
        report("8 clients, dashboard open", acknowledged.total() / seconds, "answers/s", ANSWERS)
        print(f"{'':<12}{views} views updated meanwhile")
        check_log(place, acknowledged)
        acknowledged, _ = run_clients(server, seconds, seconds / 2)
        report("the same, server killed and started again", acknowledged.total() / seconds,
               "answers/s")  # fmt: skip
        check_log(place, acknowledged)
    finally:
        server.stop()


def bench_large(folder: Path) -> None:
    """10,000 arms, 1,000,000 rewards: what opening a page and updating it cost."""
    import numpy as np

    from standout import Problem
    from standout.study import Study

    place = folder / "large.db"
    rng = np.random.default_rng(0)
    arms = [f"arm {i}" for i in range(10_000)]
    means = rng.normal(0, 1, len(arms))
    with Study.create(place, arms, Problem(noise="gaussian:5", k=3), name="large") as study:
        for _ in range(100):
            values = means + rng.normal(0, 5, len(arms))
            study.tell_many(zip(arms, values.tolist(), strict=True))
        assert study.status().pulls == 1_000_000
    server = Server(place)
    try:
        client = Client(server.url)
        remote = client.study("large")
        begin = time.perf_counter()
        view = client._transport.get("/studies/large/view")
        first = time.perf_counter() - begin
        report("10,000 arms, 1,000,000 rewards: first view", first, "s", OPEN_SECONDS)
        begin = time.perf_counter()
        view = client._transport.get("/studies/large/view")
        report("10,000 arms: full view again", (time.perf_counter() - begin) * 1000, "ms")
        times = []
        for _ in range(30):
            for ticket in remote.ask(5):
                remote.tell(ticket, 0.0)
            begin = time.perf_counter()
            view = client._transport.get("/studies/large/view", since=view["seq"])
            times.append((time.perf_counter() - begin) * 1000)
            assert not view["full"]
        # As the client sees it: the server's time and the way there and back.
        report("10,000 arms: update of a view, the slowest of 30", max(times), "ms", UPDATE_MS)
        size = len(json.dumps(client._transport.get("/studies/large/view")))
        print(f"{'':<12}median {sorted(times)[15]:.1f} ms; a full view has {size:,} bytes")
    finally:
        server.stop()


def look(url: str, name: str, seconds: float, pipe: int) -> None:
    """A dashboard that is loaded again and again: everything about a study, as bytes."""
    deadline = time.monotonic() + seconds
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=60)
    views = 0
    while time.monotonic() < deadline:
        connection.request("GET", f"/api/v1/studies/{name}/view")
        connection.getresponse().read()
        views += 1
    os.write(pipe, f"{views}\n".encode())


def tell_times(url: str, seconds: float) -> list[float]:
    """Milliseconds of each telling, one after the other."""
    study = Client(url).study("small")
    tickets, times = study.ask(1), []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        begin = time.perf_counter()
        _, tickets = study.tell_and_ask([(ticket, 1.0) for ticket in tickets], 1)
        times.append((time.perf_counter() - begin) * 1000)
    return sorted(times)


def bench_dashboards(folder: Path, seconds: float) -> None:
    """Telling to one study while many look at another, of 100,000 arms."""
    from standout import Problem
    from standout.study import Study

    place = folder / "looked-at.db"
    arms = [f"arm {i}" for i in range(MANY_ARMS)]
    with Study.create(place, arms, Problem(noise="gaussian:5", k=3), name="large") as study:
        study.tell_many((arm, float(i % 7)) for i, arm in enumerate(arms))
    problem = Problem(noise="gaussian:50", k=3)
    Study.create(place, arms[:100], problem, name="small", lease=600.0).close()
    server = Server(place)
    try:
        tell_times(server.url, 1.0)
        alone = tell_times(server.url, seconds)
        for count in (1, DASHBOARDS):
            children = [
                in_child(lambda pipe: look(server.url, "large", seconds + 3, pipe))
                for _ in range(count)
            ]
            time.sleep(2.0)
            beside = tell_times(server.url, seconds)
            views = sum(sum(said(pipe)) for _, pipe in children)
            for pid, _ in children:
                os.waitpid(pid, 0)
            middle, bar = beside[len(beside) // 2], TELL_MS if count == DASHBOARDS else None
            report(f"a tell beside {count} on 100,000 arms: median", middle, "ms", bar)
            print(f"{'':<12}90 %: {beside[int(0.9 * len(beside))]:.1f} ms; {views} views; "
                  f"alone: median {alone[len(alone) // 2]:.1f} ms")  # fmt: skip
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", choices=["share", "kill", "large", "dashboards"])
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="standout-bench-")))
        parts = {
            "share": lambda: bench_shares(folder, options.seconds),
            "kill": lambda: bench_load(folder, options.seconds),
            "large": lambda: bench_large(folder),
            "dashboards": lambda: bench_dashboards(folder, options.seconds),
        }
        for name, part in parts.items():
            if options.only in (None, name):
                part()
        sync = disk(folder)
    print(f"the disk takes {sync:.2f} ms to make a write safe: at most {1000 / sync:,.0f} a second")
    end()


if __name__ == "__main__":
    main()
