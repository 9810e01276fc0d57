"""The checks without statistics: the log itself, failures, pauses, late answers."""

from __future__ import annotations

import numpy as np

from standout.analysis.checks.findings import FINE, NOTE, WARNING, Finding
from standout.analysis.report_data import RewardTable
from standout.results import StudyView, Verification
from standout.study.names import link_of
from standout.text import agree, count, listed, plural, span

MANY_FAILURES = 0.05
"""The largest share of failed measurements without a warning."""
MANY_LATE = 0.05


def bookkeeping_findings(
    seen: StudyView, log: RewardTable, verified: Verification
) -> list[Finding]:
    """Whether the log is consistent, and which measurements were lost."""
    return [_books(verified), _failures(seen, log), *_paused(seen), _late(seen, log), *_extra(log)]


def _books(verified: Verification) -> Finding:
    title = "The books"
    if verified.is_ok:
        text = (
            f"All totals were recomputed from the log of {plural(verified.rewards, 'reward')} "
            "and agree with the data behind the verdicts."
        )
        return Finding("verify", title, FINE, text)
    return Finding(
        "verify", title, WARNING,
        f"The log and the totals disagree: {listed(verified.problems, 3)}.",
        "The database was changed by another program, or is damaged. Do not rely on the "
        "verdicts; restore a copy that verifies (standout study verify).",
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
        "If failures depend on the value (slow ones time out, bad ones break), the remaining "
        "rewards are not a fair sample and the means are biased. Record a value for such cases "
        "instead of dropping them.",
    )  # fmt: skip


def _paused(seen: StudyView) -> list[Finding]:
    if not seen.paused:
        return []
    number = len(seen.paused)
    text = (
        f"{plural(number, 'arm')} {agree(number, 'is', 'are')} paused: {listed(list(seen.paused))}."
    )
    return [
        Finding(
            "paused", "Paused arms", WARNING, text,
            "Their verdicts stay certain. Undecided ones may stay undecided, and with them the "
            "threshold. `standout study resume` hands them out again.",
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
        parts.append(f"{plural(lost, 'item')} went to another rater")
    elif lost:
        parts.append(f"{plural(lost, 'ticket')} expired unanswered, and another worker took over")
    if seen.counts.expired:
        parts.append(f"{plural(seen.counts.expired, 'ticket')} wait overdue")
    asked = max(1, int(np.count_nonzero(log.ticket)) + lost)
    text = "; ".join(parts)
    # A rater who closes the page does not know what an answer would have decided.
    level = WARNING if (late + lost * (not is_rated)) / asked > MANY_LATE else NOTE
    advice = (
        "Late rewards count. But if lateness depends on the value, the punctual rewards are not "
        "a fair sample: allow more time (--lease)."
    )
    return Finding(
        "late", title, level, text[0].upper() + text[1:] + ".", advice if level == WARNING else ""
    )


def _extra(log: RewardTable) -> list[Finding]:
    findings = []
    unasked = int(np.count_nonzero(log.ticket == 0))
    if unasked:
        text = (
            f"{plural(unasked, 'reward')} without a ticket {agree(unasked, 'counts', 'count')} "
            "like any other. Selecting such rewards by their values would void the guarantee."
        )
        findings.append(Finding("unasked", "Rewards without a ticket", NOTE, text))
    if log.surplus:
        text = f"{plural(log.surplus, 'reward')} came beyond the budget: kept in the log, not used."
        findings.append(Finding("surplus", "Rewards beyond the budget", NOTE, text))
    return findings
