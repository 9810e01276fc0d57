"""The logic attack: if every interval holds its mean, whatever is certified is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from standout.core.engine import begin_round, best_guess, end_round
from standout.core.intervals import MOMENTS
from standout.core.kinds import ROUNDING
from standout.core.order import sort_ends
from standout.core.state import (
    NEVER,
    PULLS,
    SIZE,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    UNDECIDED,
    Spec,
    State,
    new_state,
)
from tests.attack.cases import MEAN_STD, Case, Round
from tests.attack.making import make_case
from tests.attack.memory import Fence, Strict
from tests.attack.truth import is_right


@dataclass
class Tally:
    """What was tried: by label and by side; a sample's premise holds by construction."""

    states: Counter[str] = field(default_factory=Counter)
    sides: Counter[str] = field(default_factory=Counter)
    noises: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    choices: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Fault:
    """A counterexample: what went wrong in which round of a case."""

    what: str
    case: Case
    name: str = ""

    def __str__(self) -> str:
        case = self.case
        last = case.rounds[-1]
        lines = [f"{self.name} {self.what}", f"  {case}"]
        lines += [
            f"  arm {i}: mean {mean:g} in [{low:g}, {high:g}], estimate {estimate:g}, {pulls} pulls"
            for i, (mean, low, high, estimate, pulls) in enumerate(
                zip(case.truth, *vars(last).values(), strict=True)
            )
        ]
        return "\n".join(lines)


def build(case: Case) -> tuple[Spec, State]:
    """Constants and a fresh state, as `start_state` makes them but for the sample."""
    problem, method, n = case.problem, case.method, len(case.truth)
    spec = replace(method.spec(problem, n), slack=case.slack)
    costs = np.ones(n)
    costs[case.known] = np.inf
    state = new_state(
        n,
        signs=tuple(case.signs),
        factors=tuple(case.factors),
        stage=None if case.stage is None else np.array(case.stage, dtype=np.int8),
        n_moments=MOMENTS.get(method.interval_for(problem), 0),
        costs=costs,
        learns=method.learns,
    )
    return spec, state


def write(spec: Spec, state: State, case: Case, one: Round) -> None:
    """Put the intervals of a round into the state, as if its rewards had given them."""
    lower, upper, estimate = (np.array(values) for values in (one.lower, one.upper, one.estimate))
    state.pulls[:] = one.pulls
    state.sums[:] = estimate * state.pulls
    state.moments[:] = 1.0
    measured = np.ones(len(lower), dtype=np.bool_)
    measured[case.known] = False
    state.counters[PULLS] = state.pulls[measured].sum()
    for side, sign in enumerate(case.signs):
        state.lower[side] = lower if sign > 0 else -upper
        state.upper[side] = upper if sign > 0 else -lower
        state.estimate[side] = sign * estimate
        if spec.sorts:
            sort_ends(state, side)


def play(
    case: Case, tally: Tally | None = None, kind: type[Fence] | type[Strict] = Fence
) -> list[str]:
    """Go through the rounds of a case; what was wrong, if anything."""
    spec, state = build(case)
    guard = kind(state)
    state = guard.state
    rng = np.random.default_rng(len(case.truth))
    thetas = case.thetas()
    guess = np.zeros(len(case.truth), dtype=np.bool_)
    for number, one in enumerate(case.rounds):
        where = f"in round {number} of {case.label}:"
        try:
            write(spec, state, case, one)
            size = state.sampled[SIZE]
            end_round(spec, state)
            best_guess(spec, state, guess)
            found = [
                *faults_of_verdicts(case, state, thetas, one),
                *faults_of_bounds(case, state, thetas),
            ]
            if size == state.sampled[SIZE]:  # Verdicts lag behind a sample that has grown.
                found += faults_of_waiting(case, state)
            if state.counters[UNDECIDED] > 0:
                count = begin_round(spec, state, case.room, rng)
                found += faults_of_choice(case, state, count)
                if tally:
                    tally.choices[case.label] += count
        except Exception as error:  # The kernels refuse what is impossible; these states are not.
            found = [f"{type(error).__name__}: {error}"]
        found += guard.faults()
        if tally:
            tally.states[case.label] += 1
            tally.sides[case.side] += 1
            tally.noises[case.noise] += 1
            tally.verdicts[case.label] += int((state.verdict != 0).sum())
        if found:
            return [f"{where} {what}" for what in found]
    return []


def faults_of_bounds(case: Case, state: State, thetas: list[float]) -> Iterator[str]:
    """Theta's interval holds theta; nothing is NaN but an estimate of what is not known."""
    for side, at in enumerate(thetas):
        bounds = state.bounds[side]
        low, high = bounds[THRESHOLD_LOWER], bounds[THRESHOLD_UPPER]
        others = np.delete(bounds, THRESHOLD)
        if np.isnan(others).any():
            yield f"NaN among the bounds {bounds}"
        is_known = np.isfinite(low) and np.isfinite(high) and case.label not in MEAN_STD
        if is_known and not low - case.fuzz <= bounds[THRESHOLD] <= high + case.fuzz:
            yield f"theta's estimate {bounds[THRESHOLD]:g} is not in [{low:g}, {high:g}]"
        if not low <= high:
            yield f"theta's interval [{low:g}, {high:g}] is empty"
        if case.label not in MEAN_STD and not low - case.fuzz <= at <= high + case.fuzz:
            yield f"theta {at:g} is not in [{low:g}, {high:g}]"


def faults_of_verdicts(case: Case, state: State, thetas: list[float], one: Round) -> Iterator[str]:
    """Every certified verdict is right; RR's own threshold is not checked here."""
    decided = np.flatnonzero(state.verdict)
    if case.label in MEAN_STD:
        if 0 in one.pulls and len(decided):
            yield f"arms {decided} are decided while some arm was never measured"
        for i in decided:
            if one.lower[i] == -np.inf and one.upper[i] == np.inf:
                yield f"arm {i} is decided without an interval"
        return
    # Within this of theta an arm counts as on it (`core.threshold.rounding`).
    largest = max(map(abs, case.truth))
    rounding = ROUNDING * (max(map(abs, thetas)) + (1 + float(state.factors.max())) * largest)
    for i in decided:
        verdict, mean = int(state.verdict[i]), case.truth[i]
        if not is_right(
            verdict, mean, thetas, case.signs, case.tolerance, max(case.fuzz, rounding)
        ):
            name = ("", "normal", "an outlier")[verdict]
            yield f"arm {i} with mean {mean!r} is called {name}; theta is {thetas}"


def faults_of_waiting(case: Case, state: State) -> Iterator[str]:
    """An arm that cannot lie beyond theta is normal, touching or not: else it waits for ever."""
    floors = state.bounds[:, [THRESHOLD_LOWER]]
    waits = (state.verdict == 0) & (state.upper <= floors).all(axis=0)
    if case.label not in MEAN_STD and waits.any():
        yield f"arms {np.flatnonzero(waits)} do not reach beyond theta's interval, yet wait"


def faults_of_choice(case: Case, state: State, count: int) -> Iterator[str]:
    """A rule gives distinct arms that can be pulled, within the room, and not none."""
    chosen, amount = state.chosen[:count].tolist(), state.amount[:count].tolist()
    if not 0 <= count <= len(case.truth):
        yield f"{count} arms were chosen"
    if any(not 0 <= arm < len(case.truth) for arm in chosen):
        yield f"arms {chosen} were chosen"
    if len(set(chosen)) != len(chosen):
        yield f"arms {chosen} were chosen, some of them twice"
    if any(one < 1 for one in amount) or sum(amount) > case.room:
        yield f"amounts {amount} do not fit into {case.room}"
    if known := set(chosen) & set(case.known):
        yield f"arms {known} were chosen although they are known"
    can = [i for i in range(len(case.truth)) if i not in case.known]
    if count == 0 and any(state.upper[0, i] > state.lower[0, i] for i in can):
        yield "no arm was chosen, though some arm is undecided"


def attack(seed: int, numbers: range, tally: Tally, most: int = 20) -> list[Fault]:
    """Play the cases of these numbers; up to `most` counterexamples, the smallest first."""
    found = []
    for number in numbers:
        case = make_case(seed, number)
        if faults := play(case, tally):
            found.append(shrunk(case, faults[0], f"{seed}:{number}"))
    return sorted(found, key=lambda fault: len(fault.case.truth))[:most]


def shrunk(case: Case, what: str, name: str) -> Fault:
    """The same kind of fault with as few arms as dropping one after the other leaves."""
    best = Fault(what, case, name)
    for last in range(1, len(case.rounds)):
        shorter = replace(case, rounds=case.rounds[:last])
        if faults := play(shorter):
            best = Fault(faults[0], shorter, name)
            break
    arm = len(case.truth) - 1
    while arm >= 0 and len(best.case.truth) > 3:
        smaller = best.case.without(arm)
        if _stands(smaller) and (faults := play(smaller)):
            best = Fault(faults[0], smaller, name)
        arm = min(arm, len(best.case.truth)) - 1
    return best


def _stands(case: Case) -> bool:
    """Whether the premise still holds with fewer arms."""
    if case.stage is None:
        return True
    if sum(own != NEVER for own in case.stage) < 3 or 0 not in case.stage:
        return False
    return case.slack_needed() <= case.slack
