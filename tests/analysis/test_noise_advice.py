"""Which noise is recommended, and that a wrong family is hardly ever ruled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from standout import ProblemError, analyse, recommend_noise
from standout.analysis.noise_advice import _moments, _scaled

RNG = np.random.default_rng(11)


def table(draw: Any, n_arms: int = 20, number: int = 30) -> dict[str, Any]:
    return {f"arm {i}": draw(number) for i in range(n_arms)}


@pytest.mark.parametrize(
    ("rewards", "noise", "is_sure", "word"),
    [
        (table(lambda n: RNG.integers(0, 2, n)), "bernoulli", True, "every reward is 0 or 1"),
        (table(lambda n: RNG.random(n) < 0.5, 3, 2), "bernoulli", True, "0 or 1"),
        (table(lambda n: RNG.integers(1, 6, n)), "bounded:1,5", False, "marks on a scale"),
        (table(lambda n: RNG.normal(5, 1, n)), "gaussian", True, "consistent with Gaussian"),
        (table(lambda n: RNG.exponential(1, n)), "heavy:", False, "skewed"),
        (table(lambda n: RNG.standard_t(2.5, n)), "heavy:", False, "heavy tails"),
        (table(lambda n: RNG.normal(5, 1, n), 3, 5), "gaussian", False, "too little data"),
        (table(lambda n: RNG.normal(5, 1, n), 5, 1), "gaussian", False, "too few rewards"),
    ],
)
def test_what_is_recommended(rewards: Any, noise: str, is_sure: bool, word: str) -> None:
    said = recommend_noise(rewards)
    assert said.noise.startswith(noise)
    assert said.family().spec().startswith(noise.partition(":")[0])
    assert said.is_sure == is_sure
    assert word in said.why
    assert said.summary().startswith(f"{said.noise}: ")
    assert f"rewards of {len(rewards)} arms" in said.evidence[0]


def test_timings_are_better_measured_as_logarithms() -> None:
    said = recommend_noise(table(lambda n: RNG.lognormal(0, 0.7, n)))
    assert said.noise.startswith("heavy:")
    assert "log(value) with gaussian noise" in said.hint
    assert float(said.noise.partition(":")[2]) >= 1.5 * 0.7


def test_arms_of_different_scale_are_no_heavy_tails() -> None:
    rng = np.random.default_rng(5)
    rewards = {i: rng.normal(10 * i, 10.0**i, 60) for i in range(6)}
    assert recommend_noise(rewards).noise == "gaussian"


def test_a_false_alarm_is_rare() -> None:
    """At most 0.01 each. 4 or more of 60 would come with probability at most 0.003."""
    rng = np.random.default_rng(17)
    alarms = sum(
        recommend_noise({i: rng.normal(i, 1 + i, 6) for i in range(5)}).noise != "gaussian"
        for _ in range(60)
    )
    assert alarms < 4


def test_scaling_and_moments_as_plain_loops() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, 60)
    values = rng.exponential(1, (2, 60))
    scaled, deviations = _scaled(codes, values, 5)
    for row in range(2):
        for arm in range(4):
            own = values[row, codes == arm]
            np.testing.assert_allclose(deviations[row, arm], own.std(ddof=1))
            np.testing.assert_allclose(
                scaled[row, codes == arm], (own - own.mean()) / own.std(ddof=1)
            )
        off = scaled[row]
        spread = (off**2).mean() ** 0.5
        np.testing.assert_allclose(_moments(scaled)[0][row], (off**3).mean() / spread**3)
        np.testing.assert_allclose(_moments(scaled)[1][row], (off**4).mean() / spread**4 - 3)


@pytest.mark.parametrize(
    ("rewards", "words"),
    [
        ({"a": [2, 2], "b": [2]}, "every reward is 2: there is no visible noise"),
        ({"a": [1, np.inf], "b": [2]}, "infinite"),
        ({"arm": ["a"], "count": [2], "sum": [1]}, "one row per reward"),
        ({"arm": [], "value": []}, "no reward"),
    ],
)
def test_what_nothing_is_recommended_for(rewards: Any, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        recommend_noise(rewards)


def test_arms_without_noise_beside_others() -> None:
    rewards = table(lambda n: RNG.normal(0, 1, n)) | {"still": np.zeros(40)}
    assert recommend_noise(rewards).noise == "gaussian"


def test_an_analysis_with_the_noise_that_its_rewards_suggest(tmp_path: Path, capsys: Any) -> None:
    rewards = table(lambda n: RNG.integers(0, 2, n), 5, 20)
    for problem in ("auto", {"noise": "auto", "k": 2}):
        said = analyse(rewards, problem)
        assert said.problem.noise == "bernoulli"
        assert said.notes[0].startswith("noise bernoulli, chosen by looking at the rewards (100 ")
    assert said.problem.k == 2


def test_in_one_command(tmp_path: Path) -> None:
    from tests.cli.command_line import refused, run

    rng = np.random.default_rng(2)
    rows = [f"{arm},{rng.normal(arm == 'yew', 0.1)}" for arm in ("ash", "elm", "yew") * 40]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["arm,value", *rows]))
    code, out, err = run("analyse", str(path), "--k", "2")
    assert code == 0
    assert "noise gaussian, chosen by looking at the rewards (120 rewards of 3 arms)" in err
    assert "gaussian noise, k 2" in out
    assert "give the noise of a folder's rewards" in refused("analyse", str(tmp_path))
