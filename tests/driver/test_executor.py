"""`identify(..., executor=...)` on threads, processes and a Dask cluster of two workers."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from standout import Problem, identify
from standout.errors import MeasureError
from standout.study import Study
from tests.cli.test_study import write_arms
from tests.study.cli import standout

ARMS = [f"arm {i}" for i in range(9)]
PROBLEM = Problem(noise="gaussian:0.002", k=3)


def steady(arm: str) -> float:
    """A reward that depends on nothing but the arm: comparable between runs."""
    return 40.0 if arm == "arm 7" else 0.01 * int(arm.split()[1])


def noisy(arm: str) -> float:
    return steady(arm) + random.gauss(0, 0.002)


def fails_on_four(arm: str) -> float:
    if arm == "arm 4":
        raise RuntimeError("the needle is bent")
    return steady(arm)


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    from distributed import Client

    with Client(cluster) as connected:
        yield connected


def test_same_answer_on_any_executor() -> None:
    alone = identify(steady, ARMS, PROBLEM)
    assert alone.outliers == ("arm 7",)
    with ThreadPoolExecutor(5) as threads:
        assert identify(steady, ARMS, PROBLEM, executor=threads).to_dict() == alone.to_dict()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert identify(steady, ARMS, PROBLEM, executor=processes).to_dict() == alone.to_dict()


def test_rewards_are_counted_in_the_plans_order() -> None:
    """Slow and quick measurements: what is counted depends on the plan alone."""
    order: list[str] = []

    def uneven(arm: str) -> float:
        time.sleep(random.random() * 0.004)
        return steady(arm)

    def remember(run: Any) -> None:
        order.append(str(run.state.sums.tolist()))

    with ThreadPoolExecutor(4) as threads:
        found = identify(uneven, ARMS, PROBLEM, executor=threads, progress=remember)
    sums = order[:]
    order.clear()
    assert identify(steady, ARMS, PROBLEM, progress=remember).to_dict() == found.to_dict()
    assert order == sums


def test_a_failing_measurement_names_its_arm() -> None:
    with ThreadPoolExecutor(4) as threads:
        with pytest.raises(MeasureError, match=r"'arm 4' failed .* the needle is bent") as caught:
            identify(fails_on_four, ARMS, PROBLEM, executor=threads)
        assert caught.value.arm == "arm 4"
        # Everything before it in the plan is in the partial answer.
        assert caught.value.partial.pulls >= 4
        with pytest.raises(MeasureError, match="not a number"):
            identify(lambda arm: "high", ARMS, PROBLEM, executor=threads)  # type: ignore[arg-type,return-value]


def test_a_broken_executor_is_an_error_of_measuring() -> None:
    class Broken(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(RuntimeError("the machine is gone"))
            return future

    with pytest.raises(MeasureError, match="the machine is gone"):
        identify(steady, ARMS, PROBLEM, executor=Broken())


def test_dask(client: Any) -> None:
    alone = identify(steady, ARMS, PROBLEM)
    found = identify(steady, ARMS, PROBLEM, executor=client.get_executor())
    assert found.to_dict() == alone.to_dict()
    # Dask keeps results of calls it takes for pure; every pull must be measured anew.
    rewards: list[float] = []

    def remember(run: Any) -> None:
        rewards.extend(run.state.sums.tolist())

    wide = Problem(noise="gaussian:9", k=3)
    identify(noisy, ARMS, wide, budget=60, executor=client.get_executor(), progress=remember)
    first, last = rewards[: len(ARMS)], rewards[-len(ARMS) :]
    assert len({round(value, 12) for value in first}) == len(ARMS)
    assert sum(a != b for a, b in zip(first, last, strict=True)) >= 1


def test_run_on_dask(cluster: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    arms = write_arms(folder, ARMS)
    question = ("--noise", "gaussian:0.002", "--k", 3, "--dask", cluster.scheduler_address)
    function = ("--measure-python", "tests.driver.test_executor:noisy")
    outcome = standout("run", "--arms", arms, *function, *question, "--json", "x.db")
    assert outcome.code == 0, outcome.err
    assert outcome.json["outliers"] == ["arm 7"]
    command = ("--measure", "sh -c 'echo 0.$((RANDOM % 10)); true' {arm}", "--budget", 40)
    outcome = standout("run", "--arms", arms, *command, *question, "--json", "y.db")
    assert outcome.json["pulls"] == 40
    with Study.open(folder / "x.db") as study:
        assert study.verify()
        assert len(set(study.history()["reward"])) == len(study.history())
