"""How `standout run` begins without a noise, and how it ends."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from standout import Study
from tests.cli.command_line import refused, run

RNG = np.random.default_rng(3)
MEANS = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 3.0}


def gaussian(arm: str) -> float:
    return RNG.normal(MEANS[arm], 0.3)


def skewed(arm: str) -> float:
    return MEANS[arm] + RNG.lognormal(0, 1.5)


def broken(arm: str) -> float:
    raise OSError("no instrument")


COUNTER = itertools.count()


def counted(arm: str) -> float:
    next(COUNTER)
    return gaussian(arm)


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("arms.csv").write_text("arm\n" + "\n".join(MEANS))
    return ["run", "x.db", "--arms", "arms.csv", "--k", "2", "--measure-python"]


def test_the_last_lines_are_the_answer(words: list[str]) -> None:
    code, out, _ = run(*words, f"{__name__}:gaussian", "--noise", "gaussian:0.3")
    *_, answer, threshold, step = out.strip().splitlines()
    assert code == 0
    assert answer.startswith("1 of the 5 arms stands out: yew (")
    assert "interval" in answer
    assert threshold.startswith("The threshold lies between ")
    assert step.startswith("Next: standout report x.db -o report.html")


def test_at_the_end_of_a_budget_the_next_step_is_more_of_it(words: list[str]) -> None:
    _, out, _ = run(*words, f"{__name__}:gaussian", "--noise", "gaussian:0.3", "--budget", "20")
    assert "Best guess, not certain: yew would stand out." in out
    assert (
        out.strip().splitlines()[-1].startswith("Next: standout study set x.db --budget 40, then")
    )


def test_without_a_noise_a_pilot_says_what_it_assumes(words: list[str]) -> None:
    code, _out, err = run(*words, f"{__name__}:gaussian", "--budget", "60")
    assert code == 0
    assert "no --noise given; pilot pulls suggest gaussian: there is too little data" in err
    assert "- 24 rewards of 3 arms" in err
    with Study.open("x.db") as study:
        assert study.problem.noise.spec() == "gaussian"
        assert len(study.history()) == 60, "the pilot does not count"
    # Going on asks nothing: the study has its noise.
    assert "no --noise" not in run(*words, f"{__name__}:counted", "--budget", "60")[2]
    assert next(COUNTER) == 0


def test_gaussian_noise_is_not_assumed_for_skewed_timings(words: list[str]) -> None:
    said = refused(*words, f"{__name__}:skewed")
    assert "pilot pulls suggest --noise heavy:" in said
    assert not Path("x.db").exists()


def test_a_pilot_that_fails(words: list[str]) -> None:
    assert "3 arms could not be measured: no instrument" in refused(*words, f"{__name__}:broken")
