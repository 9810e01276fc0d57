"""How much of what disk and database allow is left when telling goes over HTTP."""

from __future__ import annotations

import os
import time
from pathlib import Path

from bars import missed, report
from lean import Load, cpu_of, raw_commits, tell_and_ask, watch_all
from serving import Server, in_child, said

from standout.client import Client
from tests.study.postgres import find_programs, start_server

CLIENTS, ARMS, DASHBOARDS = 8, 1_000, 8
SHARE, CPU_MS, P99_MS = 0.12, 2.0, 50.0


def bench_share(place: str, kind: str, seconds: float) -> None:
    """Telling and asking over HTTP with 8 clients, as a share of bare commits on the same disk.

    Bare commits and requests take turns, second by second: neighbours that use the same disk
    disturb both alike.
    """
    server = Server(place)
    try:
        arms = [f"arm {i}" for i in range(ARMS)]
        Client(server.url).create("load", arms, "bernoulli", lease=600.0)
        tell_and_ask(server.port, "load", CLIENTS, 2.0)
        total, raw, cpu = Load(), [], 0.0
        for _ in range(max(2, round(seconds))):
            raw.append(raw_commits(place, 1.0))
            before = cpu_of(server.process.pid)
            total.add(tell_and_ask(server.port, "load", CLIENTS, 1.0))
            cpu += cpu_of(server.process.pid) - before
        bare = sum(raw) / len(raw)
        report(f"{kind}: {CLIENTS} clients, share of bare commits", total.rate / bare, "", SHARE)
        print(f"{'':<12}{total.rate:,.0f} requests/s, {bare:,.0f} bare commits/s "
              f"(from {min(raw):,.0f} to {max(raw):,.0f})")  # fmt: skip
        report(f"{kind}: processor time of the server per request", 1000 * cpu / len(total.times),
               "ms", CPU_MS)  # fmt: skip
        show_times(total, cpu)
        bench_watched(server, kind, seconds)
    finally:
        server.stop()


def bench_watched(server: Server, kind: str, seconds: float) -> None:
    """The same with eight dashboards open on that study."""
    child, pipe = in_child(
        lambda pipe: watch_all(server.port, "load", DASHBOARDS, seconds + 1, pipe)
    )
    time.sleep(1.0)
    before = cpu_of(server.process.pid)
    beside = tell_and_ask(server.port, "load", CLIENTS, seconds)
    cpu = cpu_of(server.process.pid) - before
    views, used = said(pipe)
    if os.waitpid(child, 0)[1] != 0:
        missed.append("a dashboard failed")
    report(f"{kind}: a tell beside {DASHBOARDS} dashboards: 99 %", beside.at(0.99), "ms", P99_MS)
    show_times(beside, cpu)
    print(f"{'':<12}{views} views updated; dashboards took {used / 10 / seconds:.0f} % of a core")


def show_times(load: Load, cpu: float) -> None:
    """How long requests took, and who used the processor meanwhile."""
    print(f"{'':<12}half within {load.at(0.5):.1f} ms, 99 % within {load.at(0.99):.1f} ms; "
          f"of a core the server took {100 * cpu / load.seconds:.0f} %, "
          f"the clients {100 * load.cpu / load.seconds:.0f} %")  # fmt: skip


def bench_shares(folder: Path, seconds: float) -> None:
    """On both databases."""
    bench_share(str(folder / "share.db"), "sqlite", seconds)
    if find_programs() is None:
        print("no PostgreSQL: scripts/install-system.sh installs it")
        return
    with start_server(durable=True) as database:
        bench_share(database.new_database("share"), "postgresql", seconds)
