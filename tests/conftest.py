"""Settings of all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.long import group, is_long

# The same examples in every run, so that a red build is red for everyone.
# HYPOTHESIS_PROFILE=search looks for new ones, at length.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=3000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# Programs that are started in the background are told to ignore Ctrl-C, and so would all be that
# the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# All commands are made from their functions' hints once, not for each command that a test runs:
# that was more than half of the time of all such tests.
typer.testing._get_command = cache(typer.testing._get_command)


class Groups(LoadScopeScheduling):
    """Hands out the tests of one group to one process (`tests.long.group`)."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups | None:
    """For `--dist loadscope`; `loadgroup` marks names, which pytest 9.2 keeps as they are."""
    return Groups(config, log) if config.getoption("dist") == "loadscope" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: a long one that began last would keep one process busy alone."""
    for item in items:
        if is_long(item.nodeid):
            item.add_marker(pytest.mark.long)
    items.sort(key=lambda item: not is_long(item.nodeid))


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Close what a test has drawn, as matplotlib warns of more than twenty open figures."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Dask cluster of two worker processes, which are started again if they die."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as running:
        yield running


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str | bytes], str]:
    """Writes means to a file and gives its path."""

    def write(text: str | bytes) -> str:
        path = tmp_path / "means.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write
