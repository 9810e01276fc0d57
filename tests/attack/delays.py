"""The noise attack on studies and hand-stepped runs: rewards that come late, the high ones last."""

from __future__ import annotations

import heapq
import zlib
from collections.abc import Callable

import numpy as np

from standout.core.run import Run
from standout.core.state import PULLS
from standout.simulation.rewards import draw, rewards_of
from standout.study import Study
from tests.attack.noise import SIGMA, Gaussian, Score, Setting, truth_of
from tests.study.asking import useful
from tests.study.conftest import Clock

LEASE = 1000.0
AT_ONCE = 6
"""Pulls under way at a time."""
MOST = 220
"""Pulls of a study."""


def _source(setting: Setting, seed: int, number: int) -> tuple[Callable[[int], float], int]:
    """Rewards of an arm by its position, and a seed for the method's own choices."""
    entropy = (seed, number, zlib.crc32(f"delays {setting}".encode()))
    rng = np.random.default_rng(entropy)
    drawn = Gaussian(SIGMA) if setting.noise == "gaussian" else setting.problem.noise
    rewards = rewards_of(setting.means, drawn, None)
    return lambda arm: float(draw(rewards, arm, rng)), int(rng.integers(2**31))


def delay_of(reward: float, mean: float) -> float:
    """A reward above its arm's mean takes long, but never longer than its lease."""
    return 1.0 if reward < mean else 0.9 * LEASE


def study_one(
    place: str, setting: Setting, seed: int, number: int, *, ordered: bool, slow_high: bool
) -> tuple[bool, bool, bool]:
    """A study whose workers hold several tickets each; as `noise.play_one`."""
    measure, own = _source(setting, seed, number)
    means, clock = setting.means, Clock()
    arms = [str(i) for i in range(len(means))]
    study = Study.create(
        place, arms, setting.problem, setting.label, name=f"{setting} {number} {ordered}",
        budget=MOST, lease=LEASE, ordered=ordered, seed=own, clock=clock,
    )  # fmt: skip
    progress = study._state
    wanted = np.where(truth_of(setting, means, progress.state), 2, 1)
    order = np.random.default_rng(number)
    under_way: list[tuple[float, int, float]] = []
    wrong = missed = False
    while not progress.is_stopped:
        for ticket in useful(study, AT_ONCE - len(under_way)):
            reward = measure(int(ticket.arm))
            late = delay_of(reward, means[int(ticket.arm)]) if slow_high else order.random() * 9
            heapq.heappush(under_way, (clock.now + late, ticket.id, reward))
        clock.now, ticket_id, reward = heapq.heappop(under_way)
        study.tell(ticket_id, reward)
        wrong |= bool(((progress.certified != 0) & (progress.certified != wanted)).any())
        oriented = progress.state.signs[0] * means
        low, high = progress.state.lower[0], progress.state.upper[0]
        missed |= bool(((oriented < low) | (oriented > high)).any())
    study.close()
    return wrong, missed, bool((progress.certified != 0).all())


def run_one(setting: Setting, seed: int, number: int) -> tuple[bool, bool, bool]:
    """A run by hand that gets one reward at a time, in any order, as `noise.play_one`."""
    measure, own = _source(setting, seed, number)
    means = setting.means
    rng = np.random.default_rng(own)
    arms = [str(i) for i in range(len(means))]
    run = Run(setting.problem, arms, setting.label, rng, budget=MOST)
    wanted = np.where(truth_of(setting, means, run.state), 2, 1)
    wrong = missed = False
    while chosen := run.choose():
        pulls = [int(arm) for arm, amount in chosen for _ in range(amount)]
        for arm in rng.permutation(pulls)[: run.budget]:
            run.tell(arms[arm], measure(int(arm)))
            run.update()
            state = run.state
            wrong |= bool(((state.verdict != 0) & (state.verdict != wanted)).any())
            oriented = state.signs[0] * means
            missed |= bool(((oriented < state.lower[0]) | (oriented > state.upper[0])).any())
            if run.is_decided or state.counters[PULLS] >= MOST:
                break
    return wrong, missed, run.is_decided


def attack_runs(score: Score, settings: list[Setting], seed: int, runs: int) -> None:
    for setting in settings:
        for number in range(runs):
            score.add(("all", setting.label, setting.noise), *run_one(setting, seed, number))


def attack_studies(
    score: Score, place: str, settings: list[Setting], seed: int, runs: int,
    *, ordered: bool, slow_high: bool,
) -> None:  # fmt: skip
    for setting in settings:
        for number in range(runs):
            found = study_one(place, setting, seed, number, ordered=ordered, slow_high=slow_high)
            score.add(("all", setting.label, setting.noise), *found)
