"""A study worked out anew from its log, step by step, through the core.

What comes out is what a study must have stored if its steps are true. The
digests of the steps are checked on the way. What a rule remembers of its own
choices (`RULE_MEMORY`) is not worked out: it decides what is asked next, and
nothing of the answer rests on it.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from standout.core import engine
from standout.core.many_rewards import observe_many
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED, State
from standout.core.typing import Floats
from standout.results import StopReason
from standout.study.log.chain import (
    COVERED,
    Kind,
    Logged,
    is_worked_out_alike,
    link,
    pack,
    read_ranges,
)
from standout.study.log.counted_order import counted_sequences
from standout.study.progress import Progress, split_verdicts
from standout.study.storage.database import Connection
from standout.study.storage.log import audit
from standout.study.storage.log.chain_start import drawn_bytes, settings_digest
from standout.study.storage.log.reward_log import read_part
from standout.study.storage.log.steps import Log, read_steps
from standout.study.storage.log.trace import is_due
from standout.study.storage.packing import restore_derived
from standout.study.storage.stored_study import REASONS, StoredStudy
from standout.study.tickets import pause_if_often

RULE_MEMORY = ("guesses", "quota", "active")
MOST_PROBLEMS = 20
NEARLY = 1e-6
"""Estimates may differ by so much from machine to machine."""


class Replay:
    """Goes through all steps; afterwards `progress` is how the study must stand.

    `problems` says what does not fit, `waiting` are the places of told rewards
    that are not counted yet, `trace` the rows that a trace must have.
    """

    def __init__(self, connection: Connection, stored: StoredStudy) -> None:
        self.connection, self.stored = connection, stored
        self.problems: list[str] = []
        self.progress = _twin(stored)
        self.waiting: dict[int, tuple[int, float]] = {}
        self.taken: dict[int, tuple[int, float]] = {}
        """Rewards from before the steps that were counted in one of them."""
        self.trace: list[dict[str, Any]] = []
        self.heads: set[str] = set()
        self.begun: list[tuple[int, float]] = []
        """Per arm, pulls and sum of rewards when the steps began."""
        self.is_exact = True
        self.base = audit.read_base(connection, stored.key)
        self._last_trace = 0
        self._rewards: list[tuple[int, float]] = []
        if self.base is not None:
            self._begin_from(self.base)

    def _begin_from(self, base: audit.Base) -> None:
        """Stand as the study stood when its steps began to be kept."""
        progress = self.progress
        rows = audit.read_base_arms(self.connection, self.stored.key)
        if len(rows) != len(progress.arms):
            self.problems.append("how the study stood when its steps began is incomplete")
            return
        progress.state.pulls[:] = [row.pulls for row in rows]
        progress.state.sums[:] = [row.total for row in rows]
        progress.certified[:] = [row.verdict for row in rows]
        progress.failures[:] = [row.failures for row in rows]
        progress.streak[:] = [row.streak for row in rows]
        progress.paused = {row.position: row.paused for row in rows if row.paused is not None}
        layout, everyone = self.stored.layout, np.arange(len(rows))
        fields = json.loads(base.fields)
        layout.unpack_arms(progress.state, everyone, [row.memory for row in rows], fields)
        found = layout.unpack_run(progress.state, base.scalars)
        progress.state.counters[PULLS] = progress.state.pulls.sum()
        restore_derived(progress.spec, progress.state, found)
        sums = sums_of(progress.state)
        self.begun = list(zip(progress.state.pulls.tolist(), sums.tolist(), strict=True))
        progress.totals.pulls, progress.totals.surplus = base.pulls, base.surplus
        progress.totals.log, progress.totals.failed = base.log, base.failed
        progress.reason, progress.stopped_at = REASONS[base.reason], base.stopped
        self._last_trace = audit.last_trace(self.connection, self.stored.key, base.pulls)

    def run(self) -> None:
        """Go through all steps."""
        drawn = b"" if self.base is not None else drawn_bytes(self.stored.progress.state)
        digest = settings_digest(self.connection, self.stored.key, drawn)
        log = Log(self.connection, self.stored.key, self.progress.totals.log)
        number = 0
        for row in read_steps(self.connection, self.stored.key):
            if row["number"] != number:
                self._complain(f"step {number} is missing")
                number = row["number"]
            rewards = log.take(int(row["logged"]))
            detail = self._detail(row, rewards)
            logged = [Logged(r[2], r[3], r[4], r[5], bool(r[7])) for r in rewards]
            covered = [row[name] for name in COVERED]
            if link(digest, covered, detail, pack(logged)) != row["digest"]:
                self._complain(_does_not_fit(row))
            digest = row["digest"]
            self.heads.add(digest.hex())
            self._apply(row, detail, rewards)
            number += 1
        self._observe()
        self.progress.totals.steps, self.progress.head = number, digest
        if log.take(1):
            self._complain("the log goes on behind the last step")

    def _complain(self, problem: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def _detail(self, row: dict[str, Any], rewards: list[Any]) -> Any:
        """What a step's digest covers besides its row and its rewards."""
        if row["kind"] == Kind.FAIL:
            return audit.read_failure(
                self.connection, self.stored.key, self.progress.totals.failed + 1
            )
        for place, reward in enumerate(rewards, row["first"]):
            alike = reward[1] == row["time"] and reward[6] == rewards[0][6]
            if reward[0] != place or not alike:
                self._complain(
                    f"place {reward[0]} of the log: place, time or worker is not that of its step"
                )
                break
        return rewards[0][6] if rewards else None

    # What a step does ---------------------------------------------------------------

    def _apply(self, row: dict[str, Any], detail: Any, rewards: list[Any]) -> None:
        progress = self.progress
        if not is_worked_out_alike(
            row["engine"], samples=progress.spec.samples, promises=progress.until is not None
        ):
            self.is_exact = False
        for reward in rewards:
            if reward[7]:
                self.waiting[reward[0]] = (reward[2], reward[3])
        surplus = sum(not reward[7] for reward in rewards)
        progress.totals.log += len(rewards)
        progress.totals.pulls += len(rewards) - surplus
        progress.totals.surplus += surplus
        self._tend(row, detail)
        counted = self._count(row, rewards)
        is_by_hand = row["kind"] in (Kind.SET, Kind.VOID)
        if is_by_hand:
            self._change(row)
        excess = self._excess(counted, is_by_hand)
        if row["ended"]:
            self._end_round(row)
        self._stop(row, excess)

    def _tend(self, row: dict[str, Any], detail: Any) -> None:
        """Failures and pauses."""
        progress = self.progress
        if row["kind"] == Kind.FAIL and detail is not None:
            progress.totals.failed += 1
            _, _, arm, _, _, reason = detail
            progress.failures[arm] += 1
            progress.streak[arm] += 1
            pause_if_often(progress, arm, reason)
        elif row["kind"] in (Kind.PAUSE, Kind.RESUME) and row["note"] is not None:
            # Who and, of a resumed arm, why: not in the steps of older versions.
            arm, *why = json.loads(row["note"])
            if row["kind"] == Kind.PAUSE:
                progress.paused[arm] = why[0]
            else:
                progress.paused.pop(arm, None)
                progress.streak[arm] = 0

    def _count(self, row: dict[str, Any], rewards: list[Any]) -> int:
        """Note what the step counts; how many places it says."""
        if row["counted"] is None:
            places = [reward[0] for reward in rewards if reward[7]]
        else:
            parts = read_ranges(row["counted"])
            if sum(map(len, parts)) > self.progress.totals.log:
                self._complain(f"step {row['number']} counts more places than there are")
                return 0
            places = [place for part in parts for place in part]
        for place in places:
            found = self.waiting.pop(place, None) or self._older(place)
            if found is None:
                self._complain(f"step {row['number']} counts place {place}, which it cannot")
                continue
            self._rewards.append(found)
            self.progress.streak[found[0]] = 0
        return len(places)

    def _change(self, row: dict[str, Any]) -> None:
        """Other settings, or rewards made void."""
        progress, note = self.progress, json.loads(row["note"])
        self._observe()
        if row["kind"] == Kind.SET:
            if note["set"]:  # Else it is a note, and no study goes on for that.
                progress.adopt(progress.settings.with_values(note["set"], len(progress.arms)))
            return
        sequences = counted_sequences(
            self.connection, self.stored.key, note["arms"], row["number"], note["void"]
        )
        for place, new in note["void"]:
            self.waiting.pop(new, None)
            if place in progress.voided or place in self.waiting:
                self._complain(f"step {row['number']} makes place {place} void, which it cannot")
        progress.totals.pulls -= len(note["void"])
        rewards = {arm: [value for _, value in found] for arm, found in sequences.items()}
        # Where the core is another, the sums do not count; but what was certain is so no more.
        progress.revise(rewards, (place for place, _ in note["void"]))

    def _excess(self, counted: int, is_by_hand: bool) -> float:
        """As `Progress.excess`, worked out anew; infinite where that cannot be."""
        progress = self.progress
        if progress.until is None or progress.is_stopped or not self.is_exact:
            return np.inf
        self._observe()
        return progress.excess(counted, self._is_spent() or is_by_hand)

    def _is_spent(self) -> bool:
        budget = self.progress.budget
        return budget is not None and self.progress.totals.pulls >= budget

    def _older(self, place: int) -> tuple[int, float] | None:
        """A reward of the time before the steps that had waited until now."""
        if self.base is None or place > self.base.log or place in self.taken:
            return None
        rows = read_part(self.connection, self.stored.key, place - 1, place)
        if not rows or not rows[0][7]:
            return None
        self.taken[place] = (rows[0][2], rows[0][3])
        return self.taken[place]

    def _observe(self) -> None:
        if self._rewards and self.is_exact:
            arms, values = zip(*self._rewards, strict=True)
            positions = np.array(arms, dtype=np.int64)
            observe_many(
                self.progress.spec, self.progress.state, positions, np.array(values, np.float64)
            )
        self._rewards.clear()

    def _end_round(self, row: dict[str, Any]) -> None:
        progress = self.progress
        self._observe()
        said = None if row["decided"] is None else json.loads(row["decided"])
        if self.is_exact:
            engine.end_round(progress.spec, progress.state)
            fresh = (progress.certified == 0) & (progress.state.verdict != 0)
            found = split_verdicts(fresh, progress.state.verdict)
            if (None if found is None else list(found)) != said:
                self._complain(
                    f"step {row['number']}: what it decided does not follow from the rewards"
                )
        for verdict, arms in enumerate(said or (), start=1):
            progress.certified[arms] = verdict

    def _stop(self, row: dict[str, Any], excess: float) -> None:
        """Whether the study stopped here, and why; and the trace's row, where one is due."""
        progress, reason = self.progress, row["reason"]
        if progress.reason is StopReason.RUNNING:
            is_said = row["ended"] or row["logged"] or reason or row["kind"] == Kind.SET
            if self.is_exact and is_said:
                due = self._reason_due(reason, excess)
                if reason != (None if due is None else str(due)):
                    self._complain(
                        f"step {row['number']}: it says that the study stopped ({reason}), but "
                        f"by the rewards it is {due or 'running'}"
                    )
            if reason is not None:
                progress.reason, progress.stopped_at = REASONS[reason], row["time"]
        elif reason is not None or row["ended"]:
            self._complain(f"step {row['number']}: the study had stopped before")
        if row["ended"] and is_due(progress.totals.pulls, self._last_trace, progress.is_stopped):
            self._last_trace = progress.totals.pulls
            self.trace.append(progress.moment(row["time"]))

    def _reason_due(self, said: str | None, excess: float) -> StopReason | None:
        """Why the study must have stopped by now; None if it goes on."""
        if self.progress.state.counters[UNDECIDED] == 0:
            return StopReason.DECIDED
        # Another machine may differ in the last digits: at the edge the step is believed.
        slack = NEARLY if said == StopReason.ESTIMATE else -NEARLY
        if excess <= 1.0 + slack:
            return StopReason.ESTIMATE
        if self._is_spent():
            return StopReason.BUDGET
        return StopReason.STOPPED if self.progress.settings.stopped else None


def _twin(stored: StoredStudy) -> Progress:
    """The progress of the same study before its first reward."""
    progress, rng = stored.progress, np.random.default_rng(0)
    twin = Progress(
        progress.problem, progress.method, progress.arms, progress.begun, progress.ordered, rng
    )
    twin.state = _fresh_state(progress, rng)
    return twin


def _fresh_state(progress: Progress, rng: np.random.Generator) -> State:
    """A state with what this study has drawn at random or was given."""
    state = start_state(
        progress.problem, progress.method, len(progress.arms), rng, progress.state.costs
    )
    state.stage[:] = progress.state.stage
    restore_derived(progress.spec, state, set())
    return state


def sums_of(state: State) -> Floats:
    """Each arm's sum of rewards, as they were told."""
    return np.asarray(state.sums + state.pulls * state.origin)


def _does_not_fit(row: dict[str, Any]) -> str:
    if row["number"] == 0:
        return (
            "the settings, arms or items are not those that the study began with "
            "(its first digest does not fit)"
        )
    what = Kind(row["kind"]).name.lower() if row["kind"] in list(Kind) else "unknown"
    places = ""
    if row["logged"]:
        places = f", places {row['first']} to {row['first'] + row['logged'] - 1} of the log"
    return f"step {row['number']} ({what}{places}) was changed: its digest does not fit"
