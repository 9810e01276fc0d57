"""The checks that need no statistics: the log itself, failures, pauses, late answers."""

from __future__ import annotations

import numpy as np

from standout.analysis.checks.findings import FINE, NOTE, WARNING, Finding
from standout.results import StudyView, Verification
from standout.study.names import link_of
from standout.study.reward_table import RewardTable
from standout.text import count, listed, plural, span

MANY_FAILURES = 0.05
"""Share of the measurements that may fail before it is called a danger."""
MANY_LATE = 0.05


def bookkeeping_findings(
    seen: StudyView, log: RewardTable, verified: Verification
) -> list[Finding]:
    """Whether the books are in order, and what was lost on the way."""
    return [_books(verified), _failures(seen, log), *_paused(seen), _late(seen, log), *_extra(log)]


def _books(verified: Verification) -> Finding:
    title = "The books"
    if verified.is_ok:
        text = (
            f"All totals were recomputed from the log of {plural(verified.rewards, 'reward')} "
            "and agree with what the verdicts rest on."
        )
        return Finding("verify", title, FINE, text)
    return Finding(
        "verify", title, WARNING,
        f"The log and the totals disagree: {listed(verified.problems, 3)}.",
        "The database was changed by something else than standout, or is damaged. Do not rely "
        "on the verdicts; go back to a copy that verifies (standout study verify).",
    )  # fmt: skip


def _failures(seen: StudyView, log: RewardTable) -> Finding:
    title = "Failed measurements"
    failed = sum(seen.failures.values())
    if failed == 0:
        return Finding("failures", title, FINE, "No measurement was given back as failed.")
    share = failed / max(1, failed + len(log))
    worst = sorted(seen.failures, key=lambda arm: -seen.failures[arm])
    text = (
        f"{plural(failed, 'measurement')} failed ({share:.1%} of all), most of "
        f"{listed([f'{arm} ({count(seen.failures[arm])})' for arm in worst], 3)}."
    )
    if share < MANY_FAILURES:
        return Finding("failures", title, NOTE, text)
    return Finding(
        "failures", title, WARNING, text,
        "Where failing has to do with the value (slow ones time out, bad ones break), what is "
        "left is not a fair sample and the means are off. Count such cases with a value instead "
        "of dropping them.",
    )  # fmt: skip


def _paused(seen: StudyView) -> list[Finding]:
    if not seen.paused:
        return []
    number = len(seen.paused)
    text = f"{plural(number, 'arm')} got no more pulls: {listed(list(seen.paused))}."
    return [
        Finding(
            "paused", "Paused arms", WARNING, text,
            "What was certain about them stays certain, but they may stay undecided, and the "
            "threshold with them. standout study resume hands them out again.",
        )
    ]  # fmt: skip


def _late(seen: StudyView, log: RewardTable) -> Finding:
    title = "Late and lost tickets"
    late = int(np.count_nonzero(log.delay > log.lease))
    lost = log.closed["expired"]
    if late + lost + seen.counts.expired == 0:
        text = f"Every ticket was answered within its lease of {span(log.lease)}."
        if not (log.ticket > 0).any():
            text = "No ticket was handed out and left unanswered."
        return Finding("late", title, FINE, text)
    parts = []
    if late:
        parts.append(f"{plural(late, 'reward')} came later than the lease of {span(log.lease)}")
    is_rated = any(link_of(worker) is not None for worker in log.workers)
    if lost and is_rated:
        parts.append(f"{plural(lost, 'item')} went to another rater, as people come and go")
    elif lost:
        parts.append(f"{plural(lost, 'ticket')} expired unanswered, and another worker took over")
    if seen.counts.expired:
        parts.append(f"{plural(seen.counts.expired, 'ticket')} wait overdue")
    asked = max(1, int(np.count_nonzero(log.ticket)) + lost)
    text = "; ".join(parts)
    # Whoever closes the rating page has not seen what an answer would have decided.
    level = WARNING if (late + lost * (not is_rated)) / asked > MANY_LATE else NOTE
    advice = (
        "Late rewards count, but if being late has to do with the value, those in time are not "
        "a fair sample: give more time (--lease)."
    )
    return Finding(
        "late", title, level, text[0].upper() + text[1:] + ".", advice if level == WARNING else ""
    )


def _extra(log: RewardTable) -> list[Finding]:
    findings = []
    unasked = int(np.count_nonzero(log.ticket == 0))
    if unasked:
        text = (
            f"{plural(unasked, 'reward')} were told without asking. They count like any other; "
            "choosing which ones to tell by their values would void the guarantee."
        )
        findings.append(Finding("unasked", "Rewards told without asking", NOTE, text))
    if log.surplus:
        text = f"{plural(log.surplus, 'reward')} came beyond the budget: kept in the log, not used."
        findings.append(Finding("surplus", "Rewards beyond the budget", NOTE, text))
    return findings
