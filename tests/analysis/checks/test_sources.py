"""Answers that a few sources gave, or that came in a burst."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from standout import Problem, Study
from standout.analysis.checks.findings import FINE, NOTE, WARNING
from standout.analysis.checks.ranks import ALPHA, sort_rewards
from standout.analysis.checks.sources import Sources, look_at_sources
from standout.core.typing import Floats, Ints
from standout.report.facts import gather
from standout.study.names import link_of
from tests.report.played import play
from tests.study.conftest import Clock

LINKS = ("4f0c2a91be77", "aaaaaaaaaaaa")


def look(
    arm: Ints, reward: Floats, rater: Ints, time: Floats, delay: float = 5.0, link: int = 0
) -> Sources | None:
    names = [f"rater:{LINKS[link]}:{number}" for number in range(int(rater.max()) + 1)]
    arms = sort_rewards(arm, reward, int(arm.max()) + 1)
    return look_at_sources(arms, rater, names, time, np.full(len(arm), delay))


def crowd(seed: int, burst: int = 0) -> Sources | None:
    """400 raters in five hours; `burst` more within a minute say yes to arm 3 and no to others."""
    rng = np.random.default_rng(seed)
    count = 3000
    arm = rng.integers(0, 12, count)
    reward = (rng.random(count) < 0.2 + 0.04 * arm).astype(float)
    time = np.sort(rng.uniform(0, 18_000, count))
    rater = rng.integers(0, 400, count)
    more = rng.integers(0, 12, burst)
    arm, reward = np.append(arm, more), np.append(reward, (more == 3).astype(float))
    time = np.append(time, rng.uniform(9_000, 9_060, burst))
    rater = np.append(rater, rng.integers(400, 500, burst))
    order = np.argsort(time, kind="stable")
    return look(arm[order], reward[order], rater[order], time[order])


def test_workers_and_links() -> None:
    assert link_of("rater:4f0c2a91be77:x_y-z") == "4f0c2a91be77"
    assert [link_of(name) for name in ("owner:local:x", "worker:4f", "bench 3", "")] == [None] * 4


def test_crowds_without_fault_pass() -> None:
    """False alarms: fewer than 4 of 300 at the level .001 (chance of more: 3e-4 at most)."""
    found = [crowd(seed) for seed in range(300)]
    p = np.array([one.p for one in found if one is not None])
    assert len(p) == 300
    assert np.count_nonzero(p < ALPHA) <= 3
    assert np.count_nonzero(p < 0.1) <= 30 + 4 * math.sqrt(27)
    assert not any(one.is_narrow or one.is_too_quick for one in found if one is not None)


def yes_or_no(rng: np.random.Generator, means: Floats, worker: Ints, gone: object) -> Floats:
    return (rng.random(len(means)) < means).astype(np.float64)


def test_adaptive_studies_pass() -> None:
    """Which arms are asked for changes over time, and goes by the rewards."""
    for seed in range(12):  # A false alarm once in 250 times.
        means = np.append(np.random.default_rng(seed).uniform(0.1, 0.5, 11), 0.9)
        problem = Problem(noise="bernoulli", k=2)
        log = play(problem, "focus", means, yes_or_no, budget=3000, seed=seed)
        time = 7.0 * np.arange(len(log.arm), dtype=np.float64)
        found = look(log.arm, log.reward, np.arange(len(log.arm)) % 300, time)
        if found is not None and found.p is not None:
            assert found.p > ALPHA / 3, seed


@pytest.mark.parametrize("seed", range(5))
def test_a_burst_is_found(seed: int) -> None:
    found = crowd(seed, burst=150)
    assert found is not None
    assert found.p is not None
    assert found.p < ALPHA
    assert any(begin >= 8_400 and begin <= 9_060 for _, begin, _ in found.odd) or not found.odd


def test_few_raters_and_quick_ones() -> None:
    rng = np.random.default_rng(0)
    arm, reward = rng.integers(0, 5, 400), (rng.random(400) < 0.5).astype(float)
    time = np.sort(rng.uniform(0, 5000, 400))
    few = look(arm, reward, np.where(np.arange(400) % 3, 0, rng.integers(1, 30, 400)), time)
    assert few is not None
    assert few.is_narrow
    quick = look(arm, reward, np.arange(400), time, delay=0.1)
    assert quick is not None
    assert (quick.is_narrow, quick.is_too_quick, quick.raters) == (False, True, 400)
    assert look(arm[:19], reward[:19], np.arange(19), time[:19]) is None


def rated(path: Path, pace: float) -> Study:
    """A campaign in which every second item is left open, and taken up by another."""
    clock = Clock()
    problem = Problem(noise="bernoulli", k=2)
    study = Study.create(
        path / "s.db", [f"c{n}" for n in range(8)], problem, lease=60, budget=120, clock=clock
    )
    rng = np.random.default_rng(1)
    for number in range(120):
        for part in range(2):
            ticket = study.ask(worker=f"rater:{LINKS[0]}:{number}-{part}")
            clock.now += 61 if part == 0 else pace
        if ticket is None:
            break
        study.tell(ticket, float(rng.random() < 0.4), worker=f"rater:{LINKS[0]}:{number}-1")
    return study


def test_items_left_open_are_not_held_against_a_campaign(tmp_path: Path) -> None:
    with rated(tmp_path, pace=4.0) as study:
        found = {one.key: one for one in gather(study).findings}
    assert found["late"].level == NOTE
    assert "went to another rater" in found["late"].text
    assert found["sources"].level == FINE
    assert "raters by 1 link" in found["sources"].text


def test_a_machine_that_answers_is_warned_of(tmp_path: Path) -> None:
    with rated(tmp_path, pace=0.2) as study:
        (found,) = [one for one in gather(study).findings if one.key == "sources"]
    assert found.level == WARNING
    assert "faster than a person can read" in found.text
    assert "revoke the link" in found.advice
