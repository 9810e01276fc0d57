"""Work a study out anew from its log, and compare with everything that is stored."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from standout.core.state import PULLS, ROUNDS, UNDECIDED
from standout.results import Verification
from standout.study.log.replay import RULE_MEMORY, Replay, sums_of
from standout.study.storage.append_only import check_append_only
from standout.study.storage.database import Connection
from standout.study.storage.log import audit
from standout.study.storage.log.trace import read_trace
from standout.study.storage.stored_study import UNREADABLE, StoredStudy
from standout.study.storage.ticket_checks import check_counters, check_tickets

_NEAR = 1e-9
"""Machines may differ in the last digits of the same sum."""
_COUNTERS = {"pulls of all arms": PULLS, "rounds": ROUNDS, "undecided arms": UNDECIDED}


def verify(connection: Connection, stored: StoredStudy, head: str | None = None) -> Verification:
    """Check settings, log, totals, verdicts, tickets, rounds and budget.

    With `head`, a digest noted earlier, it must be that of one of the steps.
    """
    checks = _Checks(connection, stored)
    checks.integrity()
    checks.problems += check_append_only(connection)
    strange = audit.strange_values(connection, stored.key)
    checks.problems += strange
    if not strange:  # Else nothing can be worked out.
        checks.log()
        try:
            checks.steps(head)
        except (*UNREADABLE, struct.error) as error:
            checks.problems.append(f"the steps cannot be read ({error})")
        checks.problems += check_tickets(connection, stored) + check_counters(connection, stored)
    totals = stored.progress.totals
    return Verification(
        totals.log,
        totals.tickets,
        tuple(checks.problems),
        totals.steps,
        stored.progress.head.hex(),
        tuple(checks.notes()),
    )


class _Checks:
    def __init__(self, connection: Connection, stored: StoredStudy) -> None:
        self.connection, self.stored, self.progress = connection, stored, stored.progress
        self.problems: list[str] = []
        self.replay: Replay

    def steps(self, head: str | None) -> None:
        """Go through all steps, and compare what comes out with what is stored."""
        self.replay = replay = Replay(self.connection, self.stored)
        try:
            replay.run()
        finally:
            self.problems += replay.problems
        if head is not None and head.strip().lower() not in replay.heads:
            self.problems.append(
                f"no step has the digest {head.strip()[:80]}: this is not the study that had it, "
                "or its log was rewritten since"
            )
        self.answer()
        self.arms()
        self.before_the_steps()
        self.trace()

    def notes(self) -> list[str]:
        """What could not be checked."""
        found: list[str] = []
        if self.problems:
            return found
        base = self.replay.base
        if base is not None and base.log:
            found.append(
                f"the first {base.log:,} rewards were told before steps were kept: their number "
                "and sums are checked, what was decided from them is not"
            )
        if not self.replay.is_exact:
            found.append(
                "some steps were worked out by another version of standout: their verdicts are "
                "checked against the steps, not against the rewards"
            )
        return found

    def _expect(self, what: str, found: Any, expected: Any) -> None:
        if found != expected:
            self.problems.append(f"{what}: {found}, but {expected} by the log")

    def integrity(self) -> None:
        """SQLite's own check of the file."""
        found = audit.complaints_of_sqlite(self.connection)
        self.problems.extend(f"SQLite: {row}" for row in found)

    def log(self) -> None:
        """The log is gapless and as long as the counters say."""
        totals = self.progress.totals
        count, last = audit.size_of_log(self.connection, self.stored.key)
        self._expect("rewards logged", totals.log, count)
        self._expect("last place in the log", last, count)
        budget = self.progress.budget
        if budget is not None and totals.pulls + self.progress.out > budget:
            self.problems.append(
                f"budget: {totals.pulls} pulls and {self.progress.out} pending exceed {budget}"
            )

    def answer(self) -> None:
        """Counters, verdicts and the stop."""
        kept, found = self.progress, self.replay.progress
        for name in ("pulls", "surplus", "failed", "steps"):
            self._expect(name, getattr(kept.totals, name), getattr(found.totals, name))
        self._expect("settings", kept.settings, found.settings)
        self._expect("void rewards", sorted(kept.voided), sorted(found.voided))
        if kept.head != found.head:
            self.problems.append("the study's last digest is not that of its last step")
        self._expect("reason of the stop", str(kept.reason), str(found.reason))
        self._expect("time of the stop", kept.stopped_at, found.stopped_at)
        self._each("verdict", kept.certified, found.certified)
        self._each("failures", kept.failures, found.failures)
        self._each("failures in a row", kept.streak, found.streak)
        held = np.zeros_like(kept.held)
        for arm, _ in self.replay.waiting.values():
            held[arm] += 1
        if self.replay.base is None:
            self._each("rewards that wait", kept.held, held)
        if kept.paused != found.paused:
            arms = {arm for arm, _ in kept.paused.items() ^ found.paused.items()}
            names = ", ".join(repr(kept.arms[arm]) for arm in sorted(arms)[:10])
            self.problems.append(f"the pauses of {names} are not those of the log")

    def _each(self, what: str, kept: Any, found: Any) -> None:
        for arm in np.flatnonzero(kept != found)[:10]:
            self._expect(f"{what} of {self.progress.arms[arm]!r}", int(kept[arm]), int(found[arm]))

    def arms(self) -> None:
        """Every arm's pulls, sum and interval, and the threshold."""
        if not self.replay.is_exact:
            return
        kept, found = self.progress.state, self.replay.progress.state
        mine, yours = sums_of(kept), sums_of(found)
        scale = np.maximum(1.0, np.maximum(np.abs(yours), found.pulls))
        wrong = (kept.pulls != found.pulls) | ~(np.abs(mine - yours) <= _NEAR * scale)
        for arm in np.flatnonzero(wrong)[:10]:
            self.problems.append(
                f"arm {self.progress.arms[arm]!r}: {kept.pulls[arm]} pulls, "
                f"sum {float(mine[arm])!r}, but {found.pulls[arm]} and "
                f"{float(yours[arm])!r} by the log"
            )
        for what, place in _COUNTERS.items():
            self._expect(what, int(kept.counters[place]), int(found.counters[place]))
        for name, axis in self.stored.layout.per_arm:
            if name in RULE_MEMORY:
                continue
            pair = (np.moveaxis(getattr(state, name), axis, 0) for state in (kept, found))
            for arm in np.flatnonzero(_differ(*pair))[:10]:
                self.problems.append(
                    f"arm {self.progress.arms[arm]!r}: its {name} is not what follows from the log"
                )
        for name in self.stored.layout.per_run:
            if name in RULE_MEMORY or name == "counters":
                continue
            if _differ(getattr(kept, name), getattr(found, name)).any():
                self.problems.append(f"the run's {name} is not what follows from the log")

    def before_the_steps(self) -> None:
        """Pulls and sums of the rewards that were told before steps were kept."""
        base, replay = self.replay.base, self.replay
        if base is None:
            return
        counts, sums = np.zeros(len(self.progress.arms), int), np.zeros(len(self.progress.arms))
        key = self.stored.key
        for arm, count, total in audit.counted_until(self.connection, key, base.log):
            counts[arm], sums[arm] = count, total
        waiting = audit.waiting_until(self.connection, key, base.log)
        waited = [*replay.taken.values(), *waiting]
        for arm, value in waited:
            counts[arm] -= 1
            sums[arm] -= value
        for arm, (pulls, total) in enumerate(replay.begun):
            near = _NEAR * max(1.0, abs(total), pulls)
            if pulls != counts[arm] or not abs(total - sums[arm]) <= near:
                self.problems.append(
                    f"arm {self.progress.arms[arm]!r}: {pulls} pulls, sum {total!r} when its steps "
                    f"began, but {counts[arm]} and {float(sums[arm])!r} by the log"
                )

    def trace(self) -> None:
        """The trace has the rows that rounds have left, and no others."""
        if not self.replay.is_exact:
            return
        begin = 0 if self.replay.base is None else self.replay.base.pulls
        trace = read_trace(self.connection, self.stored.key)
        names = ("pulls", "time", "lower", "upper", "lower_low", "upper_low", "undecided")
        kept = [
            row
            for row in zip(*(getattr(trace, name).tolist() for name in names), strict=True)
            if row[0] > begin
        ]
        found = [tuple(row[name] for name in names) for row in self.replay.trace]
        for mine, yours in zip(kept, found, strict=False):
            ends = zip(mine[2:6], yours[2:6], strict=True)
            is_same = (*mine[:2], mine[6]) == (*yours[:2], yours[6])
            if not is_same or not all(_is_near(a, b) for a, b in ends):
                self.problems.append(f"the trace at {yours[0]} pulls is not what the log gives")
        self._expect("rows of the trace", len(kept), len(found))


def _differ(kept: Any, found: Any) -> Any:
    """Along the first axis, where two arrays are not the same but for their last digits."""
    if kept.size == 0:
        return np.zeros(len(kept), dtype=np.bool_)
    mine, yours = np.asarray(kept, dtype=float), np.asarray(found, dtype=float)
    same = np.isclose(mine, yours, rtol=_NEAR, atol=_NEAR, equal_nan=True)
    return ~same.reshape(len(same), -1).all(axis=1)


def _is_near(kept: float, found: float | None) -> bool:
    if found is None or math.isnan(kept):
        return found is None and math.isnan(kept)
    return kept == found or math.isclose(kept, found, rel_tol=_NEAR, abs_tol=_NEAR)
