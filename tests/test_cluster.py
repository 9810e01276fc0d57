"""Work on a Dask cluster of separate processes: the same tables, also when a worker dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from standout import Problem, analyse, simulate
from standout.analysis import folder_shares
from standout.errors import ProblemError, RewardError
from standout.simulation import workers
from tests.study.cli import standout

METHODS = ["focus", "random:batch=100"]


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


class Deadly(Executor):
    """The first worker to get something to do dies of it."""

    def __init__(self, client: Any, mark: Path) -> None:
        self.executor, self.mark = client.get_executor(pure=False), str(mark)

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        return self.executor.submit(die_once, self.mark, function, *args, **options)


def die_once(mark: str, function: Callable[..., Any], *args: Any) -> Any:
    found = function(*args)
    try:
        os.mkdir(mark)
    except FileExistsError:
        return found
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


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


def some_folder(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    means = {"ash": 0.0, "elm": 0.1, "fir": 0.3, "oak": 0.2, "yew": 5.0}
    for number in range(6):
        arms = rng.choice(list(means), 300)
        values = rng.normal([means[arm] for arm in arms], 0.05)
        frame = pandas.DataFrame({"arm": arms, "value": values})
        frame.to_parquet(folder / f"{number}.parquet")
    return folder


def test_a_folder_is_added_up_by_the_workers(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same to the last digit, with one thread, several, a cluster, or one that loses one."""
    from distributed import Client

    monkeypatch.setattr(folder_shares, "SHARE_ROWS", 500)
    problem = Problem(noise="gaussian", k=2)
    place = some_folder(tmp_path)
    here = analyse(place, problem, jobs=1).to_dict()
    assert here["rewards"] == 1800
    assert here["found"]["outliers"] == ["yew"]
    assert not here["found"]["undecided"], "how long is left would be played against the clock"
    assert analyse(place, problem, jobs=3).to_dict() == here
    with Client(cluster) as client:
        executor = client.get_executor(pure=False)
        assert analyse(place, problem, jobs=2, executor=executor).to_dict() == here
        deadly = Deadly(client, tmp_path / "died")
        assert analyse(place, problem, jobs=2, executor=deadly).to_dict() == here
        assert (tmp_path / "died").is_dir()
        with pytest.raises(RewardError, match="lies outside"):
            analyse(place, Problem(noise="bernoulli"), executor=executor)
        (place / "7.parquet").write_bytes(b"PAR1 no Parquet PAR1")
        with pytest.raises(ProblemError, match="cannot be read"):
            analyse(place, problem, executor=executor)


def test_a_folder_on_the_command_line(cluster: Any, tmp_path: Path) -> None:
    words = ("analyse", str(some_folder(tmp_path)), "--noise", "gaussian:0.05", "--json")
    there = standout(*words, "--dask", cluster.scheduler_address).json
    assert there == standout(*words).json
    (tmp_path / "log.csv").write_text("arm,value\na,1\n")
    found = standout(
        "analyse", str(tmp_path / "log.csv"), *words[2:], "--dask", "tcp://127.0.0.1:1"
    )
    assert found.code == 2
    assert "--dask is for folders" in found.err


def test_the_paper_again(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table of a figure, byte for byte: one process, two, and a cluster."""
    monkeypatch.setattr(workers, "_WORTH_A_POOL", 0.0)
    ways = {"one": ("--jobs", "1"), "two": ("--jobs", "2"), "cluster": ()}
    tables = {}
    for name, words in ways.items():
        words = words or ("--dask", cluster.scheduler_address)
        out = tmp_path / name
        standout("reproduce", "fig4", "--runs", "2", "--seed", "9", "--out", str(out), *words)
        tables[name] = {path.name: path.read_bytes() for path in out.glob("*.csv")}
    assert tables["one"]
    assert tables["one"] == tables["two"] == tables["cluster"]
