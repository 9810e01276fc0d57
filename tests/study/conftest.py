"""Both storages for every test that asks for a `place`."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.study.postgres import Server, find_programs, start_server

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server; where CI=true it must be there."""
    if find_programs() is None:
        message = "NO POSTGRESQL: its tests do not run; scripts/install-system.sh installs it"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    with start_server() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: waiting for the disk is most of these tests' time."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="standout-test-") as made:
        yield Path(made)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, folder: Path) -> str:
    """Somewhere for a new study: a file, or an empty PostgreSQL database."""
    if request.param == "sqlite":
        return str(folder / "study.db")
    running: Server = request.getfixturevalue("server")
    return running.new_database(f"study_{os.getpid()}_{next(_numbers)}")


class Clock:
    """A clock that tests move by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()
