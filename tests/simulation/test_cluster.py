"""Runs on a Dask cluster of separate processes: the same table, also when a worker dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from standout import simulate
from tests.study.cli import standout

METHODS = ["focus", "random:batch=100"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes, which are started again if they die."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as running:
        yield running


def table(found: Any) -> list[dict[str, Any]]:
    rows = found.to_dict()["results"]
    return [{name: row[name] for name in row if "seconds" not in name} for row in rows]


def test_the_same_table_on_a_cluster_and_when_a_worker_dies(cluster: Any) -> None:
    from distributed import Client

    options: dict[str, Any] = {"runs": 12, "seed": 3}
    alone = simulate("fig1:gap=0.6", METHODS, **options)
    with Client(cluster) as client:
        executor = client.get_executor(pure=False)
        there = simulate("fig1:gap=0.6", METHODS, jobs=2, executor=executor, **options)
        assert table(there) == table(alone)
        first = sorted(_pids(client))[0]

        def kill() -> None:
            time.sleep(0.2)
            os.kill(first, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        harder = {"runs": 12, "seed": 4}
        there = simulate("fig1:gap=0.3", METHODS, jobs=2, executor=executor, **harder)
        killer.join()
        assert table(there) == table(simulate("fig1:gap=0.3", METHODS, **harder))
        assert first not in _pids(client)


def _pids(client: Any) -> set[int]:
    return set(client.run(os.getpid).values())


def test_on_the_command_line(cluster: Any) -> None:
    words = ("fig4", "--runs", "6", "--budget", "500", "--seed", "1", "--json")
    here = standout("simulate", *words).json
    there = standout("simulate", *words, "--dask", cluster.scheduler_address).json
    for each in (here, there):
        for row in each["results"]:
            row.pop("seconds", None)
    assert there == here
