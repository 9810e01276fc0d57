"""The kinds of workers, and what each does in its process."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from standout import Client, Study
from standout.errors import StorageError
from tests.torture import forks, runs, slow, watchers
from tests.torture.journal import Journal
from tests.torture.machine import Clock, Disk
from tests.torture.studies import STUDIES
from tests.torture.worker import Worker

KINDS = (
    *("direct",) * 6, *("http",) * 6, "run", "run over http", "look", "look over http",
    "open and close", "copy", "slow", "fork",
)  # fmt: skip


DIRECT = tuple(kind for kind in KINDS if "http" not in kind and kind != "slow")
"""Those that need no server."""


@dataclass(frozen=True)
class Near:
    """What a worker finds around it; `far` is the place behind a bad line, if it has one."""

    folder: Path
    place: str
    far: str
    url: str
    port: int
    file: str | None
    spending: str
    """The newest study with a budget."""
    twin: int
    """The number of a second worker, for one that forks."""


def warm_up(place: str, *, serves: bool) -> None:
    """Compile and import all that a child needs, so that it begins at once."""
    import standout.cli.main

    if serves:
        import standout.service.server  # noqa: F401
    from standout.driver.warm import warm_up as compile_all

    compile_all()
    for name in STUDIES:
        with Study.open(place, name) as study:
            study.verify()
            study.status()


def do(kind: str, near: Near, journal: Journal, rng: random.Random) -> None:
    """Be a worker of a kind, until its work is done."""
    name = rng.choice((*STUDIES, *STUDIES, near.spending))
    moves = rng.choice((3, 30, 100))
    place = rng.choice((near.place, near.far))
    if kind == "direct":
        _work_directly(place, name, near, journal, rng, moves)
    elif kind == "http":
        with Client(near.url, patience=20, timeout=10, say=_quiet) as client:
            Worker(client.study(name), journal, rng, remote=True, disk=None).work(moves)
    elif kind.startswith("run"):
        url = near.url if kind == "run over http" else None
        runs.run(journal, rng, rng.choice(runs.STEADY), place, url, near.folder)
    elif kind == "look":
        watchers.look(_open(place, name, rng), journal, rng, moves)
    elif kind == "look over http":
        with Client(near.url, patience=20, timeout=10, say=_quiet) as client:
            watchers.look(client.study(name), journal, rng, moves)
    elif kind == "open and close":
        watchers.open_and_close(lambda: Study.open(place, name), rng, moves)
    elif kind == "copy":
        watchers.copy(near.place, journal, near.folder)
    elif kind == "fork":
        twin = partial(Journal, near.folder, near.twin)
        forks.work(lambda: _open(place, name, rng), journal, twin, rng, moves)
    else:
        slow.dawdle(near.port, journal, rng, rng.randrange(5, 30), moves)


def _quiet(_: str) -> None:
    pass


def _open(place: str, name: str, rng: random.Random, **options: Any) -> Study:
    """Open a study, however long it takes."""
    while True:
        try:
            return Study.open(place, name, **options)
        except StorageError:
            time.sleep(rng.uniform(0.01, 0.1))


def _work_directly(
    place: str, name: str, near: Near, journal: Journal, rng: random.Random, moves: int
) -> None:
    """Every third with a clock that jumps, every third on a full disk (of a file)."""
    clock = Clock(rng, journal) if rng.random() < 1 / 3 else None
    disk = None
    if near.file is not None and rng.random() < 1 / 3:
        disk = Disk(rng, journal, near.file)
    with _open(place, name, rng, clock=clock) as study:
        Worker(study, journal, rng, remote=False, disk=disk).work(moves)
