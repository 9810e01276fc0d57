"""Creating and finding studies in a database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from standout.core.kinds import IntervalKind, RangeKind, Verdict
from standout.core.method import Method
from standout.core.methods import as_method, parse_method
from standout.core.noise import Bounded
from standout.core.problem import Problem
from standout.core.run import check_arms
from standout.errors import (
    NoStudyError,
    ProblemError,
    StorageError,
    StudyError,
    StudyExistsError,
    shown,
)
from standout.estimation.until import Until
from standout.results import StopReason, StudyRow
from standout.study import arguments
from standout.study.progress import Progress
from standout.study.rating.page import Parts, check_items, check_page
from standout.study.settings import Settings, read_changed
from standout.study.storage.append_only import lifted
from standout.study.storage.connection import Connection
from standout.study.storage.database import Storage
from standout.study.storage.log import chain_start
from standout.study.storage.rating_items import write_items
from standout.study.storage.schema import TABLES
from standout.study.storage.statements import Statement, insert_into, read_together
from standout.study.storage.stored_study import UNREADABLE, StoredStudy

SMALLEST_COST = 1e-9


class _StudyRow(NamedTuple):
    """A row of the table of studies."""

    id: int
    name: str
    created: float
    problem: str
    method: str
    fields: str
    budget: int | None
    lease: float
    pause_after: int | None
    ordered: bool
    page: str | None


_ADD = insert_into("standout_studies", _StudyRow._fields)
_LIST = Statement(f"SELECT {', '.join(_StudyRow._fields)} FROM standout_studies ORDER BY id")
_NAMES = Statement("SELECT id, name FROM standout_studies ORDER BY id")
_PAGE = Statement("SELECT page, created FROM standout_studies WHERE id = ?")
_CHANGED = Statement("SELECT changed FROM standout_runs WHERE study = ?")
_ARMS = Statement("SELECT name FROM standout_arms WHERE study = ? ORDER BY position")
_DELETED = Statement("SELECT study FROM standout_deleted")
_ADD_DELETED = insert_into(
    "standout_deleted", ("study", "name", "time", "worker", "reason", "pulls", "steps", "head")
)
_REVOKE = Statement(
    "UPDATE standout_tokens SET revoked = ?, revoked_by = ? WHERE study = ? AND revoked IS NULL"
)
_NOT_OF_STUDIES = ("standout_tokens", "standout_deleted", "standout_studies")
_OVERVIEW = Statement(
    "SELECT s.name, s.method, s.created, r.pulls, r.reason, count(*), "
    f"sum(CASE WHEN a.verdict = {int(Verdict.OUTLIER)} THEN 1 ELSE 0 END), "
    f"sum(CASE WHEN a.verdict = {int(Verdict.UNDECIDED)} THEN 1 ELSE 0 END), sum(a.pending) "
    "FROM standout_studies s JOIN standout_runs r ON r.study = s.id "
    "JOIN standout_arms a ON a.study = s.id WHERE s.id = ? "
    "GROUP BY s.name, s.method, s.created, r.pulls, r.reason"
)


@dataclass(frozen=True)
class Plan:
    """A study that is about to be created, checked."""

    progress: Progress
    name: str
    items: dict[int, Parts] = field(default_factory=dict)
    page: dict[str, Any] | None = None


def plan(
    arms: Sequence[str],
    problem: Problem,
    method: str | Method,
    name: str,
    budget: int | None,
    lease: float,
    pause_after: int | None,
    ordered: bool,
    seed: int | np.random.Generator,
    costs: Mapping[str, float] | None,
    items: Mapping[str, Mapping[str, str]] | None = None,
    page: Mapping[str, Any] | None = None,
    until: str | Until | None = None,
) -> Plan:
    """Check everything before a file is touched."""
    if not isinstance(method, str | Method):
        raise StudyError(f"method must be a name, not {shown(method)}")
    chosen = as_method(method)
    if _read_method(_written(chosen), problem) != chosen:
        raise StudyError(f"a study keeps its method by name, and {chosen.name!r} differs from it")
    arguments.check_method(chosen)
    for arm in arms:
        check_name(str(arm), "arm")
    check_name(name, "study")
    if ordered not in (0, 1):
        raise StudyError(f"ordered must be True or False, not {shown(ordered)}")
    names = check_arms(arms)
    given = {"budget": budget, "until": until, "pause_after": pause_after, "lease": lease}
    settings = _settings(problem, chosen, given, len(names))
    progress = Progress(
        problem, chosen, names, settings, bool(ordered), arguments.seed_of(seed),
        _check_costs(costs),
    )  # fmt: skip
    return Plan(
        progress,
        name,
        check_items(items, progress.arms),
        check_page(page, problem.noise),
    )


def _settings(problem: Problem, method: Method, given: dict[str, Any], n_arms: int) -> Settings:
    """The settings that a study begins with, checked."""
    asked = {"tolerance": problem.tolerance, "batch": method.batch}
    return Settings().with_values(given | asked, n_arms)


def _check_costs(costs: Mapping[str, float] | None) -> dict[str, float] | None:
    """Costs of a pull, by arm: positive and finite, none so far from the others as to vanish."""
    if costs is None:
        return None
    if not isinstance(costs, Mapping):
        raise ProblemError(f"costs must be a mapping from arms to numbers, not {shown(costs)}")
    checked: dict[str, float] = {}
    for arm, cost in costs.items():
        number = arguments.real(cost)
        if number is None or not SMALLEST_COST <= number <= 1 / SMALLEST_COST:
            raise ProblemError(
                f"the cost of arm {shown(arm)} must be a number from {SMALLEST_COST:g} to "
                f"{1 / SMALLEST_COST:g}, not {shown(cost)}"
            )
        checked[arm] = number
    return checked


def check_name(name: str, what: str) -> None:
    """Refuse what a database or a command line cannot carry."""
    named = "the name of arm" if what == "arm" else f"the name of the {what}"
    arguments.text(named, name)
    if not name:
        raise ProblemError(f"{named} is empty")
    if "\x00" in name:
        raise ProblemError(f"{what} {name!r} contains the character NUL, which cannot be stored")
    arguments.encodable(f"{what} {name!r}", name)


def create(connection: Connection, storage: Storage, plan: Plan) -> StoredStudy:
    """Write a new study, inside the caller's transaction."""
    progress = plan.progress
    if not storage.is_sqlite:
        connection.execute("LOCK TABLE standout_studies IN EXCLUSIVE MODE")
    names = study_names(connection)
    if plan.name in dict(names).values():
        raise StudyExistsError(
            f"{storage.shown} holds a study {plan.name!r} already; open it, or give another name"
        )
    # The number of a study that is gone is not given again: somebody may still have it open.
    key = 1 + max((key for key, *_ in (*names, *_DELETED(connection))), default=0)
    stored = StoredStudy(key, progress)
    now = storage.now(connection)
    row = _StudyRow(
        id=key,
        name=plan.name,
        created=now,
        problem=_written_question(progress),
        method=_written(progress.method),
        fields=json.dumps(stored.fields),
        budget=progress.budget,
        lease=progress.begun.lease,
        pause_after=progress.pause_after,
        ordered=progress.ordered,
        page=None if plan.page is None else json.dumps(plan.page),
    )
    _ADD.run(connection, *row)
    stored.create(connection)
    write_items(connection, key, plan.items)
    chain_start.begin(connection, key, now, chain_start.drawn_bytes(progress.state), 0)
    return stored


def delete(
    connection: Connection, stored: StoredStudy, name: str, worker: str, reason: str, now: float
) -> None:
    """Remove a study and revoke the tokens that are for it alone; what is left is a line."""
    progress, key = stored.progress, stored.key
    totals = progress.totals
    row = (key, name, now, worker, reason, totals.pulls, totals.steps, progress.head)
    _ADD_DELETED.run(connection, *row)
    _REVOKE.run(connection, now, worker, name)
    with lifted(connection):
        for table in TABLES:
            if table not in _NOT_OF_STUDIES:
                Statement(f"DELETE FROM {table} WHERE study = ?").run(connection, key)
        Statement("DELETE FROM standout_studies WHERE id = ?").run(connection, key)


_UNTIL = "until"


def _written_question(progress: Progress) -> str:
    """What is asked as it is kept: the problem and, if not until all is certain, until when.

    In one text, so that the study's first digest covers both, and an older standout, which
    would not stop there, does not open it.
    """
    asked = progress.problem.to_dict()
    if progress.until is not None:
        asked[_UNTIL] = str(progress.until)
    return json.dumps(asked)


_SCALES = "scales="
_BET = ",bet="
_BET_IN_USE = "4"
"""Which bet on all means together it was, behind the text of a method that makes one."""


def _written(method: Method) -> str:
    """A method as it is kept: with the number of scales also where it is the usual one."""
    label = method.label()
    if _SCALES not in label:
        label += f"{',' if ':' in label else ':'}{_SCALES}{method.scales}"
    return label + _BET + _BET_IN_USE if method.range == RangeKind.JOINT else label


def _read_method(text: str, problem: Problem) -> Method:
    """A method as it was kept. A study keeps the intervals that it began with."""
    label, _, bet = text.partition(_BET)
    method = parse_method(label)
    if method.range == RangeKind.JOINT and bet != _BET_IN_USE:
        raise StudyError(
            f"this study was begun by {method.name} in an earlier form, and to go on with today's "
            "would spend delta twice; export it with the standout that made it, and begin anew "
            "from there with standout analyse --to"
        )
    return method if _SCALES in text else before_scales(method, problem)


def before_scales(method: Method, problem: Problem) -> Method:
    """What a method's text meant before intervals were averaged over scales, and before bets.

    To go on with other intervals would spend delta twice. One whose scales were chosen is
    younger than that.
    """
    if method.scales != method.plain.scales:
        return method
    interval = method.interval
    if interval is None and isinstance(problem.noise, Bounded):
        interval = IntervalKind.BERNSTEIN
    return replace(method, interval=interval, scales=1)


def find(connection: Connection, storage: Storage, name: str | None) -> tuple[StoredStudy, str]:
    """The study of this name, or the only one."""
    row = choose(connection, storage, name)
    arms = [name for (name,) in _ARMS(connection, row.id)]
    try:
        asked = json.loads(row.problem)
        given = {name: getattr(row, name) for name in ("budget", "pause_after", "lease")}
        given["until"] = asked.pop(_UNTIL, None)
        problem = Problem(**asked)
        method = _read_method(row.method, problem)
        settings = _settings(problem, method, given, len(arms))
        rng = np.random.default_rng(0)
        progress = Progress(problem, method, check_arms(arms), settings, bool(row.ordered), rng)
        ((changed,),) = _CHANGED(connection, row.id)
        progress.use(*read_changed(changed, progress.begun, len(arms)))
        return StoredStudy(row.id, progress, json.loads(row.fields)), row.name
    except UNREADABLE as error:
        raise StorageError(f"{storage.shown}: the study cannot be read ({error})") from None


def choose(connection: Connection, storage: Storage, name: str | None) -> _StudyRow:
    """The row of the study that is meant."""
    rows = [_StudyRow._make(row) for row in _LIST(connection)]
    if not rows:
        raise NoStudyError(f"{storage.shown} holds no study")
    if name is None:
        if len(rows) > 1:
            names = ", ".join(repr(row.name) for row in rows)
            raise StudyError(f"{storage.shown} holds several studies; name one of {names}")
        return rows[0]
    for row in rows:
        if row.name == name:
            return row
    raise NoStudyError(f"{storage.shown} holds no study {name!r}")


def read_page(connection: Connection, key: int) -> tuple[dict[str, Any] | None, float]:
    """How the rating page of a study asks, and when the study was created (since 1970)."""
    ((page, created),) = _PAGE(connection, key)
    try:
        return None if page is None else json.loads(page), float(created)
    except ValueError as error:
        raise StorageError(f"the study's page cannot be read ({error}); restore a copy") from None


def study_names(connection: Connection) -> list[tuple[int, str]]:
    """Key and name of every study, oldest first."""
    return [(key, name) for key, name in _NAMES(connection)]


def list_studies(connection: Connection, keys: Sequence[int] | None = None) -> list[StudyRow]:
    """Name, size and state of these studies (all unless given), by SQL alone."""
    chosen = [key for key, _ in study_names(connection)] if keys is None else keys
    found = read_together(connection, [(_OVERVIEW, (key,)) for key in chosen])
    return [
        StudyRow(
            name=name,
            method=method,
            arms=int(arms),
            pulls=int(pulls),
            pending=int(pending),
            outliers=int(outliers),
            undecided=int(undecided),
            stopped=reason != StopReason.RUNNING,
            reason=StopReason(reason),  # type: ignore[call-arg]
            created=float(created),
        )
        for rows in found
        for name, method, created, pulls, reason, arms, outliers, undecided, pending in rows
    ]
