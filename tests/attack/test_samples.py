"""Thresholds from samples that are far too small: the guarantee holds, and the samples grow."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from standout.core import method
from standout.core.problem import Problem
from standout.core.run import Run
from standout.core.state import SIZE, THRESHOLD_LOWER, THRESHOLD_UPPER
from standout.core.threshold import sample
from tests.attack.tape import Tape
from tests.attack.watching import Watch

ROUNDS = 60
LABELS = ("focus:growth=0.1", "focus:goal=anytime,batch=8")


def sampled_run(rng: random.Random, label: str, seed: int) -> tuple[Run, Tape, Watch]:
    """Some twenty to sixty arms of which a few make the threshold."""
    n = rng.randint(20, 60)
    means = [rng.choice([rng.gauss(0, 1), float(rng.randint(-2, 2))]) for _ in range(n)]
    for i in rng.sample(range(n), 3):
        means[i] = rng.choice([30.0, -30.0, 12.0])
    problem = Problem(
        noise=rng.choice(["gaussian:0.05", "gaussian", "heavy:0.05"]),  # type: ignore[arg-type]
        k=rng.choice([1, 2, 3]),
        side=rng.choice(["high", "low", "both"]),  # type: ignore[arg-type]
        mad_scale=rng.choice([1, 0.5, 1.4826]),
        delta=rng.choice([0.1, 0.5, 0.9]),
        tolerance=rng.choice([0, 0.3, 1]),
    )
    run = Run(problem, [str(i) for i in range(n)], label, np.random.default_rng(seed))
    assert run.spec.slack > 0
    return run, Tape(rng, means, "gaussian"), Watch(problem, run.method, run.spec, run.state, means)


def step(run: Run, tape: Tape) -> None:
    for arm, amount in run.choose():
        for _ in range(amount):
            run.tell(arm, tape.next(int(arm)))
    run.update()


@pytest.mark.parametrize("first", [3, 12])
def test_small_samples(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """If the counts hold for the sample, theta of ALL arms is inside, and verdicts are right."""
    monkeypatch.setattr(sample, "FIRST", first)
    monkeypatch.setattr(method, "SAMPLE_FROM", 10)
    seen: Counter[str] = Counter()
    for seed in range(24):
        rng = random.Random(f"sample {first} {seed}")
        monkeypatch.setattr(sample, "GROWTH", rng.choice([2, 4]))
        run, tape, watch = sampled_run(rng, LABELS[seed % 2], seed)
        size = run.state.sampled[SIZE]
        for _ in range(ROUNDS):
            if run.is_decided:
                break
            step(run, tape)
            faults = watch.look(run.state)
            assert not faults, f"{seed}: {faults[0]}"
        seen["held"] += watch.held
        seen["grown"] += run.state.sampled[SIZE] > size
        seen["verdicts"] += int((run.state.verdict != 0).sum())
    assert seen["held"] > 12
    assert seen["grown"] > 6
    assert seen["verdicts"] > 200


def test_a_sample_too_small_for_its_ranks_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three arms bound no median: the run must not wait for what they can never tell."""
    monkeypatch.setattr(sample, "FIRST", 3)
    monkeypatch.setattr(method, "SAMPLE_FROM", 10)
    run, tape, _ = sampled_run(random.Random("grow"), "focus:growth=0.1", 1)
    for _ in range(ROUNDS):
        step(run, tape)
    assert np.isfinite(run.state.bounds[:, [THRESHOLD_LOWER, THRESHOLD_UPPER]]).all()
