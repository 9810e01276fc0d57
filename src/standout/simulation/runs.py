"""One simulated run, as a part of many or alone and observed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from standout.core.compile import IS_COMPILED
from standout.core.engine import best_guess
from standout.core.identification import identification
from standout.core.kinds import Verdict
from standout.core.method import Method
from standout.core.problem import Problem
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import PULLS, ROUNDS, UNDECIDED, Spec, State
from standout.core.typing import Flags, Ints
from standout.estimation.until import Until, is_look_due
from standout.results import Chances, Identification, StopReason
from standout.simulation.instances import InstanceFamily
from standout.simulation.play import play
from standout.simulation.rewards import rewards_of

_SLICE = 4_000_000
"""Arms visited between two checks of the clock: well under a second of work."""
_SLICE_SECONDS = 0.1
"""Approximate time between two calls of `on_slice`."""


class Stopped(Exception):
    """Raised inside a run when the whole simulation was cancelled."""


@dataclass(frozen=True)
class Share:
    """Runs `first` ... `last - 1` of one method: the unit of work for a process."""

    family: InstanceFamily
    problem: Problem
    method: Method
    seed: int
    first: int
    last: int
    budget: int
    checkpoints: tuple[int, ...]
    until: Until | None = None


@dataclass(frozen=True)
class RunRecord:
    """The record of one run."""

    index: int
    pulls: int
    rounds: int
    is_stopped: bool
    is_wrong: bool
    errors: Flags
    seconds: float
    threshold: float
    min_gap: float
    is_probable: bool = False
    """Whether the run ended on its chances, with undecided arms."""
    expected_wrong: float | None = None
    """Number of wrong arms that the chances expected at the end; None without `until`."""
    wrong_arms: int = 0
    """Number of wrong arms at the end, by their verdicts or else by the best guess."""


OnSlice = Callable[[int, int], None]
"""Called with the pulls and the number of undecided arms during a run."""


def streams(seed: int, run: int) -> list[np.random.Generator]:
    """Independent generators for a run: the instance's, the rewards' and the method's.

    They depend only on the seed and the run's number. So the results do not depend on how the runs
    are divided among processes, nor on other methods.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(run,))
    return [np.random.default_rng(child) for child in sequence.spawn(3)]


def play_share(
    share: Share, is_called_off: Callable[[], bool], on_slice: OnSlice | None = None
) -> list[RunRecord]:
    """All runs of a share; `on_slice(pulls, undecided)` is called from time to time."""
    runs = range(share.first, share.last)
    return [play_run(share, run, is_called_off, on_slice) for run in runs]


def prepare(share: Share) -> None:
    """Compile, or load, what the runs of a share need.

    Then no run's time includes compilation, and no two processes do the same work.
    """
    if IS_COMPILED:
        play_run(replace(share, budget=1, checkpoints=()), 0, lambda: False)


def play_run(
    share: Share,
    run: int,
    is_called_off: Callable[[], bool],
    on_slice: OnSlice | None = None,
) -> RunRecord:
    """Draw the instance, play the method on it, and compare its answers with the truth."""
    begin = time.perf_counter()
    instance_rng, reward_rng, rule_rng = streams(share.seed, run)
    instance = share.family.draw(instance_rng)
    rewards = rewards_of(instance.means, instance.noise, instance.sigmas)
    spec = share.method.spec(share.problem, instance.n_arms)
    state = start_state(share.problem, share.method, instance.n_arms, rule_rng)
    checkpoints: Ints = np.array(share.checkpoints, dtype=np.int64)
    guesses = np.zeros((len(checkpoints), instance.n_arms), dtype=np.bool_)
    # With `until`, each round may be the last.
    rounds = max(1, _SLICE // instance.n_arms) if share.until is None else 1
    passed = 0
    found: Chances | None = None
    is_probable = False
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < share.budget:
        if is_called_off():
            raise Stopped
        before = int(state.counters[PULLS])
        passed = play(
            spec, state, rewards, share.budget, rounds,
            checkpoints, passed, guesses, reward_rng, rule_rng,
        )  # fmt: skip
        if on_slice is not None:
            on_slice(int(state.counters[PULLS]), int(state.counters[UNDECIDED]))
        if share.until is not None and _is_due(state, before, share.budget):
            found = _chances(share, share.until, spec, state)
            is_probable = share.until.is_met(found)
            if is_probable:
                break
    answer = np.zeros(instance.n_arms, dtype=np.bool_)
    best_guess(spec, state, answer)
    stopped = bool(state.counters[UNDECIDED] == 0)
    if share.until is not None and not stopped:
        found = _chances(share, share.until, spec, state) if found is None else found
        undecided = state.verdict == int(Verdict.UNDECIDED)
        answer[undecided] = found.chance[undecided] > 0.5
    truth = instance.truth(share.problem)
    counts = ~instance.free_arms(share.problem)
    wrong = int(((answer != truth) & counts).sum())
    return RunRecord(
        index=run,
        pulls=int(state.counters[PULLS]),
        rounds=int(state.counters[ROUNDS]),
        is_stopped=stopped,
        is_wrong=(stopped or is_probable) and wrong > 0,
        errors=((guesses != truth) & counts).any(axis=1),
        seconds=time.perf_counter() - begin,
        threshold=instance.threshold(share.problem),
        min_gap=instance.min_gap(share.problem),
        is_probable=is_probable,
        expected_wrong=None if found is None or stopped else found.expected_wrong,
        wrong_arms=wrong,
    )


def _is_due(state: State, before: int, budget: int) -> bool:
    """Whether the chances are computed after these pulls, as in `identify`."""
    pulls = int(state.counters[PULLS])
    if state.counters[UNDECIDED] == 0:
        return False
    return pulls >= budget or is_look_due(before, pulls, len(state.pulls))


def _chances(share: Share, until: Until, spec: Spec, state: State) -> Chances:
    # Imported late: it is slow, and few simulations need it.
    from standout.estimation.estimate import estimate
    from standout.estimation.evidence import evidence_of

    evidence = evidence_of(spec, state)
    names = [str(i) for i in range(len(state.pulls))]
    return estimate(share.problem, evidence, names, false_share=until.flag_share)


def budget_or_none(budget: int | None) -> int:
    """The budget as the kernels expect it."""
    return NO_LIMIT if budget is None else budget


def watch(
    family: InstanceFamily,
    problem: Problem,
    method: Method,
    seed: int = 0,
    *,
    budget: int | None = None,
    on_slice: OnSlice | None = None,
) -> Identification:
    """Run 0 of `simulate` with this seed: the same draws and pulls, but the whole answer.

    `on_slice(pulls, undecided)` is called from time to time.
    """
    instance_rng, reward_rng, rule_rng = streams(seed, 0)
    instance = family.draw(instance_rng)
    rewards = rewards_of(instance.means, instance.noise, instance.sigmas)
    spec = method.spec(problem, instance.n_arms)
    state = start_state(problem, method, instance.n_arms, rule_rng)
    limit = budget_or_none(budget)
    no_marks = np.zeros(0, dtype=np.int64)
    no_guesses = np.zeros((0, instance.n_arms), dtype=np.bool_)
    rounds = 1
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < limit:
        begin = time.perf_counter()
        play(
            spec, state, rewards, limit, rounds,
            no_marks, 0, no_guesses, reward_rng, rule_rng,
        )  # fmt: skip
        # The length of rounds varies during a run; the slicing does not change the result.
        is_quick = time.perf_counter() - begin < _SLICE_SECONDS
        rounds = 2 * rounds if is_quick else max(1, rounds // 2)
        if on_slice is not None:
            on_slice(int(state.counters[PULLS]), int(state.counters[UNDECIDED]))
    guess = np.zeros(instance.n_arms, dtype=np.bool_)
    best_guess(spec, state, guess)
    reason = StopReason.BUDGET if state.counters[UNDECIDED] else StopReason.DECIDED
    found = identification(state, instance.arms, guess, reason)
    return replace(found, problem=problem.question())
