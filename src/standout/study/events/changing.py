"""Changes by hand: pauses, settings, a stop, a voided reward, a note.

`standout.study.settings` explains why settings may change. Voiding a reward is different. It is
right on two conditions: the recorded value is not the measured one (a typing error, the wrong arm),
and the mistake was not found because the value looked unusual. The reward stays in the ledger, and
the event says who voided it and why. With the measured value in its place, the arm has exactly the
sequence of rewards that it should have had, so the guarantee holds. A user who voids unwelcome
rewards changes the arm's mean, and no interval covers that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from standout.core import engine
from standout.core.many_rewards import observe_many
from standout.core.order import sort_ends
from standout.core.run import start_state
from standout.core.state import PULLS, ROUNDS, SIZE, STAGE, TOUCHED, UNDECIDED, State, forget_bets
from standout.core.threshold import update_threshold
from standout.results import Change, StopReason
from standout.study.events.state import StudyState
from standout.study.events.tables import RewardStatus
from standout.study.events.telling import At, Outcome, end_round, give_up_plans, settle
from standout.study.settings import Settings, change_words
from standout.text import listed, printable

NOTE = "note"
"""The kind of a change that consists of its reason only."""


def _keep(state: StudyState, at: At, kind: str, reason: str, words: str) -> None:
    state.changes.append(Change(at.number, at.time, kind, at.worker, reason, words))


def pause(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Hand out no more pulls of an arm."""
    outcome, arm, why = Outcome(), content["arm"], content.get("reason", "")
    outcome.is_due = state.pause(arm, why)
    _keep(state, at, "pause", why, f"paused {printable(state.arms[arm])}")
    settle(state, at, outcome)
    return outcome


def resume(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Hand out pulls of a paused arm again, and forget its failures in a row."""
    arm = content["arm"]
    state.paused.pop(arm, None)
    state.streak[arm] = 0
    state.touch(arm)
    words = f"resumed {printable(state.arms[arm])}"
    _keep(state, at, "resume", content.get("reason", ""), words)
    return Outcome()


def change_settings(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Use other settings."""
    outcome, before = Outcome(), state.settings
    settings = before.with_values(content["set"], len(state.arms))
    words = change_words(before, settings)
    _keep(state, at, "set", content.get("reason", ""), words)
    if settings == before:
        return outcome
    adopt(state, settings)
    outcome.is_due = settings.tolerance != before.tolerance
    outcome.is_by_hand = True
    settle(state, at, outcome)
    state.touch_all()
    return outcome


def adopt(state: StudyState, settings: Settings) -> None:
    """Change the settings; `settle` then draws the consequences.

    Verdicts of a larger tolerance are withdrawn; those that still hold return.
    """
    before = state.settings.tolerance
    state.use(settings)
    state.look = None
    if settings.tolerance != before:
        forget_alternatives(state)
    if settings.tolerance < before:
        withdraw(state)
    elif state.reason is StopReason.DECIDED:
        return
    state.reason, state.stopped_at = StopReason.RUNNING, None


def void(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Take a reward out of the totals, or put another value in its place."""
    outcome, ledger, place = Outcome(), state.ledger, content["place"]
    arm = ledger.arm.item(place - 1)
    words = f"reward {place} of {printable(state.arms[arm])}, {ledger.value[place - 1]:g}, void"
    new = None
    if content.get("value") is not None:
        code, value = ledger.code_of(at.worker), content["value"]
        new = ledger.add(at.time, arm, value, 0, code, at.number, RewardStatus.COUNTED)
        words += f"; {value:g} in its place (reward {new})"
    else:
        state.totals.pulls -= 1
    ledger.replace(place, new)
    state.voided.add(place)
    recount(state, arm)
    state.reason, state.stopped_at, state.look = StopReason.RUNNING, None, None
    _keep(state, at, "void", content.get("reason", ""), words)
    outcome.is_due = outcome.is_by_hand = True
    settle(state, at, outcome)
    return outcome


def add(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Let arms join: from now on the question is about all of them.

    Why the guarantee holds: let N be the room, declared when the study was created. The interval of
    the arm in the j-th place depends only on rewards that are measured after the arm joined. So,
    given all events before the arm joined, it fails to contain the arm's mean, at any time, with
    probability at most delta / N. With probability 1 - delta no interval of the N places ever
    fails. This holds even if the choice, number and times of new arms depend on all earlier
    rewards. Then, at all moments together, the threshold of the current arms lies in its interval,
    and each verdict on the current question is right. Verdicts on earlier questions are withdrawn,
    because a new arm moves the threshold.
    """
    outcome, names = Outcome(), content["arms"]
    give_up_plans(state)
    grow(state, names)
    state.reason, state.stopped_at, state.look = StopReason.RUNNING, None, None
    listed_names = listed([printable(name) for name in names], 6)
    _keep(state, at, "add", content.get("reason", ""), f"added {listed_names}")
    if state.rounds_known:
        end_round(state, outcome, engine.refresh)
    settle(state, at, outcome)
    return outcome


def note(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Store a remark."""
    _keep(state, at, NOTE, content["text"], NOTE)
    return Outcome()


def look(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """The chances were computed: if they keep the promise, the study ends."""
    outcome = Outcome(is_promised=content["excess"] is not None and content["excess"] <= 1.0)
    state.look = None
    settle(state, at, outcome)
    return outcome


PER_ARM = {"certified": 0, "pending": 0, "held": 0, "failures": 0, "streak": 0, "touched_at": 0}
"""The data of a study per arm, apart from the core, for a new arm."""
_OF_REWARDS = ("pulls", "sums", "origin", "moments", "is_touched")
_OF_INTERVALS = ("lower", "upper", "estimate", "deviation_lower", "deviation_upper")


def recount(state: StudyState, arm: int) -> None:
    """Count the rewards of `arm` again, from the current ledger.

    Only its current intervals are computed: earlier knowledge of them rested on void rewards. So
    did all verdicts, through the threshold.
    """
    core = state.state
    clean = start_state(
        state.problem, state.method, len(state.arms), np.random.default_rng(0), core.costs
    )
    for name in _OF_REWARDS:
        getattr(core, name)[arm] = 0
    for name in _OF_INTERVALS:
        getattr(core, name)[:, arm] = getattr(clean, name)[:, arm]
    # A rule may have dropped arms because of void rewards.
    core.active[...] = core.stage == 0
    forget_alternatives(state)
    # The threshold of a sample is intersected with those before it.
    core.bounds[...] = clean.bounds
    _derive(state, core)
    core.counters[PULLS] = core.pulls.sum()
    rows = state.ledger.sequence(arm) - 1
    if len(rows):
        arms = np.full(len(rows), arm, dtype=np.int64)
        observe_many(state.spec, core, arms, state.ledger.value[rows])
    withdraw(state)
    state.touch(arm)


def grow(state: StudyState, names: Sequence[str]) -> None:
    """Let arms without rewards join a study.

    The rewards and the intervals of the other arms stay, because they belong to single arms.
    Thresholds and verdicts are dropped, because they answer another question, and so is the memory
    of the rule.
    """
    before, core = len(state.arms), state.state
    state.definition = replace(state.definition, arms=(*state.arms, *names))
    state.arms = state.definition.arms
    vars(state).pop("index", None)
    state.use(state.settings)
    fresh = start_state(
        state.problem, state.method, len(state.arms), np.random.default_rng(0),
        state.definition.cost_array(),
    )  # fmt: skip
    for name in _OF_REWARDS:
        getattr(fresh, name)[:before] = getattr(core, name)
    for name in _OF_INTERVALS:
        getattr(fresh, name)[:, :before] = getattr(core, name)
    # Until it is measured, a new arm must not move the estimate of the threshold.
    fresh.estimate[:, before:] = np.median(core.estimate, axis=1, keepdims=True)
    fresh.counters[PULLS] = core.counters[PULLS]
    state.state = fresh
    _derive(state, fresh)
    for name, fill in PER_ARM.items():
        column = getattr(state, name)
        added = np.full(len(names), fill, dtype=column.dtype)
        setattr(state, name, np.concatenate([column, added]))
    withdraw(state)


def withdraw(state: StudyState) -> None:
    """Withdraw all verdicts until the intervals certify them again."""
    state.certified[:] = 0
    state.state.verdict[:] = 0
    state.state.counters[UNDECIDED] = len(state.arms)
    state.touch_all()


def forget_alternatives(state: StudyState) -> None:
    """Clear the joint certificate's memory, which rests on another tolerance or other rewards."""
    forget_bets(state.state)


def _derive(state: StudyState, core: State) -> None:
    """Update all quantities that depend on the intervals."""
    touched = np.flatnonzero(core.is_touched)
    core.touched[: len(touched)] = touched
    core.counters[TOUCHED] = len(touched)
    members = np.flatnonzero(core.stage <= core.sampled[STAGE])
    core.omega[: len(members)] = members
    core.sampled[SIZE] = len(members)
    bounds = core.bounds.copy()
    for side in range(len(core.signs)):
        sort_ends(core, side)
        if core.counters[ROUNDS] > 0:
            update_threshold(state.spec, core, side)
    core.bounds[...] = bounds
