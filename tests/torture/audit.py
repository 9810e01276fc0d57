"""Compare what was acknowledged with what is stored: once each, nothing else, nothing changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from standout import Study
from standout.study.storage.store import open_store
from tests.torture.journal import ACKNOWLEDGED, LIE, REFUSED, Journals
from tests.torture.order import check_order, read_log
from tests.torture.studies import MENDED


@dataclass
class Audit:
    """What was found; `faults` is empty when all is well."""

    stored: int = 0
    lost: int = 0
    doubled: int = 0
    steps: int = 0
    verdicts: int = 0
    changes: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass
class Memory:
    """What earlier checkpoints saw: a study's verdicts and digests stay what they were."""

    heads: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, dict[str, str]] = field(default_factory=dict)


def audit(place: str, names: list[str], journals: Journals, memory: Memory) -> Audit:
    """Check all studies of a place against all journals; nobody may be at work."""
    found = Audit(faults=list(journals.faults))
    where: dict[float, str] = {}
    for name in names:
        with Study.open(place, name) as study:
            _verify(study, found, memory)
            rows = _rows(study.history())
            found.faults += check_rows(name, rows, journals, found)
            where.update({value: name for value, _, _ in rows})
            _check_changes(study, journals, found)
    _check_order(place, names, journals, found)
    for value, one in journals.sent.items():
        if one.how == ACKNOWLEDGED and value not in where and not journals.is_gone(value):
            found.lost += 1
            found.faults.append(f"lost: {value!r} of {one} was acknowledged and is not stored")
    return found


def _check_order(place: str, names: list[str], journals: Journals, found: Audit) -> None:
    """Some order of the events explains all answers."""
    with closing(open_store(place)) as store, store.read() as session:
        for name in names:
            study, _ = session.find(name)
            log = read_log(session.events(study))
            found.faults += check_order(name, log, journals)


Stored = tuple[float, str, int]


def _rows(history: Any) -> list[Stored]:
    """The rewards of a history; behind them are pulls that are out."""
    columns = (history[name].tolist() for name in ("reward", "arm", "ticket", "seq"))
    return [row[:3] for row in zip(*columns, strict=True) if row[3]]


def check_rows(
    name: str, rows: list[Stored], journals: Journals, found: Audit | None = None
) -> list[str]:
    """What is wrong with a study's log, told by what was sent; counts into `found`."""
    found = found or Audit()
    found.stored += len(rows)
    times = Counter(value for value, _, _ in rows)
    doubled = [value for value, count in times.items() if count > 1]
    found.doubled += len(doubled)
    faults = [f"doubled: {value!r} is {times[value]} times in {name!r}" for value in doubled]
    tickets = Counter(ticket for _, _, ticket in rows if ticket)
    twice = [ticket for ticket, count in tickets.items() if count > 1]
    faults += [f"doubled: ticket {ticket} of {name!r} has two rewards" for ticket in twice]
    for row in rows:
        faults += _check_row(name, row, journals)
    return faults


def _check_row(name: str, row: Stored, journals: Journals) -> Iterator[str]:
    value, arm, ticket = row
    one = journals.sent.get(value)
    if one is None:
        yield f"never sent: {row} of {name!r}"
        return
    if journals.is_gone(value):
        return  # Its ticket may have gone with a restored backup, and another has its number now.
    if one.study != name or one.arm != arm or (one.ticket is not None and one.ticket != ticket):
        yield f"changed: {row} of {name!r} was sent as {one}"
    if one.how == REFUSED:
        yield f"stored: {row} of {name!r}, of which was said that nothing was changed"
    if one.how == LIE:
        yield f"stored: {row} of {name!r}, which contradicts what was told before"


def _check_changes(study: Study, journals: Journals, found: Audit) -> None:
    """Changes by hand are there once each if acknowledged, and what they made void is void."""
    name, status, history = study.name, study.status(), study.history()
    sent = journals.changes
    made = Counter(change.reason for change in study.changes())
    found.changes += made.total()
    for reason, count in made.items():
        one = sent.get(reason)
        if one is None or one.study != name:
            found.faults.append(f"never sent: the change {reason!r} of {name!r} ({one})")
        elif one.how == REFUSED:
            found.faults.append(f"done: {reason!r} of {name!r}, which was refused")
        if count > 1:
            found.doubled += 1
            found.faults.append(f"doubled: the change {reason!r} is {count} times in {name!r}")
    for reason, one in sent.items():
        is_gone = journals.may_be_gone(one.begin, one.end)
        if one.study == name and one.how == ACKNOWLEDGED and not made[reason] and not is_gone:
            found.lost += 1
            found.faults.append(f"lost: the change {reason!r} of {name!r} was acknowledged")
    void = {sent[reason].void for reason in made if reason in sent} - {None}
    columns = zip(history["reward"].tolist(), history["status"].tolist(), strict=True)
    idle = {value for value, how in columns if how in ("void", "surplus")}
    if void - idle:
        found.faults.append(f"{name!r}: {void - idle} are void and counted")
    if len(idle) != len(void) + status.surplus:
        found.faults.append(
            f"{name!r}: {len(idle)} are not counted, but {len(void)} void, {status.surplus} surplus"
        )


def _verify(study: Study, found: Audit, memory: Memory) -> None:
    """All is well by `verify`, now and by the digest of the last checkpoint."""
    name = study.name
    result = study.verify(memory.heads.get(name))
    found.faults += [f"verify of {name!r}: {text}" for text in (*result.problems, *result.notes)]
    memory.heads[name] = result.head
    status = study.status()
    history = study.history()
    if status.pulls != sum(how in ("counted", "waiting") for how in history["status"]):
        found.faults.append(f"{name!r}: {status.pulls} pulls, but others are in the log")
    now = dict.fromkeys(status.outliers, "outlier") | dict.fromkeys(status.normal, "normal")
    for arm, verdict in memory.verdicts.get(name, {}).items():
        if now.get(arm) != verdict and name != MENDED:
            found.faults.append(f"{name!r}: {arm} was {verdict}, and is now {now.get(arm)}")
    memory.verdicts[name] = now
    found.steps += result.steps
    found.verdicts += len(now)
