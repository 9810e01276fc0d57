from __future__ import annotations

import json

import numpy as np
import pytest

from standout import METHODS, MethodError, Problem, ProblemError, simulate
from standout.simulation import Simulation, workers

CHECKPOINTS = (20, 100, 400)


def numbers(simulation: Simulation) -> list[object]:
    """All that has to be the same again; not the seconds."""
    return [
        (
            result.method,
            record.index,
            record.pulls,
            record.rounds,
            record.is_wrong,
            record.threshold,
            *record.errors.tolist(),
        )
        for result in simulation.results
        for record in result.records
    ]


def small(**changes: object) -> Simulation:
    given = {"runs": 12, "seed": 4, "budget": 600, "checkpoints": CHECKPOINTS} | changes
    return simulate("normal:n=21,outliers=2", ["random", "roai-elim"], **given)  # type: ignore[arg-type]


def test_one_process_or_two(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = small()
    monkeypatch.setattr(workers, "_WORTH_A_POOL", 0.0)
    started = []
    real = workers._play_in_pool
    monkeypatch.setattr(workers, "_play_in_pool", lambda *args: (started.append(1), real(*args))[1])
    assert numbers(small(jobs=2)) == numbers(alone)
    assert started


def test_more_runs_begin_with_the_same_runs() -> None:
    more = [row for row in numbers(small(runs=15)) if row[1] < 12]  # type: ignore[index]
    assert more == numbers(small())


def test_other_methods_do_not_matter() -> None:
    alone = simulate(
        "normal:n=21,outliers=2", "roai-elim", runs=12, seed=4, budget=600, checkpoints=CHECKPOINTS
    )
    assert numbers(alone) == [row for row in numbers(small()) if row[0] == "roai-elim"]  # type: ignore[index]


def test_another_seed_gives_other_runs() -> None:
    assert numbers(small()) != numbers(small(seed=5))


def test_all_methods_see_the_same_instances() -> None:
    one, other = small().results
    assert [r.threshold for r in one.records] == [r.threshold for r in other.records]
    assert len({r.threshold for r in one.records}) == 12


def test_checkpoints_change_nothing_else() -> None:
    plain, marked = small(checkpoints=()), small()
    assert [row[:6] for row in numbers(plain)] == [row[:6] for row in numbers(marked)]  # type: ignore[index]


def test_summary() -> None:
    seen: list[tuple[str, int, int]] = []
    found = small(progress=lambda *args: seen.append(args))
    assert [s[0] for s in seen] == sorted([s[0] for s in seen])
    assert [s[2] for s in seen] == [12] * len(seen)
    assert seen[-1] == ("roai-elim", 12, 12)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["instance"]["n_arms"] == 21
    assert plain["problem"]["noise"] == "bernoulli"
    for given, result in zip(plain["results"], found.results, strict=True):
        assert given["pulls_mean"] == result.pulls.mean()
        assert given["pulls_se"] == pytest.approx(result.pulls.std(ddof=1) / np.sqrt(12))
        assert given["checkpoints"] == list(CHECKPOINTS)
        assert given["error_rate"] == result.error_rate.tolist()
        assert given["runs"] == 12
        assert given["stopped"] == sum(r.is_stopped for r in result.records)
    assert found.results[0].error_rate[0] == 1.0


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_simulated(name: str) -> None:
    found = simulate("normal:n=20,outliers=2", name, runs=2, budget=300, checkpoints=(300,))
    (result,) = found.results
    assert result.method == name
    assert all(r.pulls == 300 or r.is_stopped for r in result.records)


BAD = [
    ({"runs": 0}, ProblemError, "runs must be at least 1, not 0"),
    ({"jobs": 0}, ProblemError, "jobs must be at least 1, not 0"),
    ({"seed": -1}, ProblemError, "seed must not be negative, not -1"),
    ({"budget": 0}, ProblemError, "budget must be a whole number of at least 1"),
    ({"checkpoints": (5, 5)}, ProblemError, "checkpoints must be increasing"),
    ({"checkpoints": (0,)}, ProblemError, "checkpoints must be increasing"),
    ({"methods": []}, ProblemError, "name at least one method"),
    ({"methods": "best"}, MethodError, "no method 'best'"),
    ({"methods": "rr"}, MethodError, "bounded rewards only"),
]


@pytest.mark.parametrize(("changes", "error", "message"), BAD)
def test_mistakes(changes: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        simulate("fig1:gap=0.6", **({"methods": "random", "runs": 1} | changes))  # type: ignore[arg-type]


def test_a_problem_of_ones_own() -> None:
    problem = Problem(noise="gaussian:0.5", k=2, delta=0.2, side="low")
    found = simulate("fig1:gap=0.6", "roai-elim", problem, runs=1, budget=200)
    assert found.problem is problem
    assert found.instance["outliers"] == []


def test_a_method_named_twice_is_run_once() -> None:
    found = simulate("fig1:gap=0.6", ["random", "random"], runs=2, budget=50)
    assert all(result.runs == 2 for result in found.results)
