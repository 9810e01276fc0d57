"""The permanent definition of a study: its arms, its question, its method."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from standout.core.method import Method
from standout.core.methods import as_method, parse_method
from standout.core.prior import PriorFacts
from standout.core.problem import Problem
from standout.core.run import check_arms
from standout.core.typing import Floats
from standout.errors import DamagedError, ProblemError, StudyError, shown
from standout.estimation.until import Until
from standout.study import arguments
from standout.study.events.event import ENGINE
from standout.study.settings import Settings

SMALLEST_COST = 1e-9
MOST_ARMS = 100_000
_SCALES = "scales="


@dataclass(frozen=True)
class Definition:
    """The beginning of a study. `seed` drives its random choices; `costs` are by arm.

    `settings` are the initial values of those that may change. `page` configures a rating page, and
    `items_digest` covers its items (None without items). `room` is the largest number of arms, over
    which delta is shared; None if no arm can be added. `axis` names a reward with its unit.
    """

    arms: tuple[str, ...]
    problem: Problem
    method: Method
    seed: int
    settings: Settings
    ordered: bool = True
    costs: Mapping[str, float] | None = None
    page: Mapping[str, Any] | None = None
    items_digest: str | None = None
    room: int | None = None
    axis: str | None = None

    def cost_array(self) -> Floats | None:
        """The costs of all arms; None if all are equal."""
        index = {arm: place for place, arm in enumerate(self.arms)}
        return PriorFacts(costs=self.costs or {}).cost_array(index)

    def to_body(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        begun = self.settings.unlike(Settings())
        return {
            "engine": ENGINE,
            "arms": list(self.arms),
            "problem": self.problem.to_dict(),
            "method": written_method(self.method),
            "seed": self.seed,
            "settings": {name: begun[name] for name in begun if name not in ("tolerance", "batch")},
            "ordered": self.ordered,
            "costs": None if self.costs is None else dict(self.costs),
            "page": None if self.page is None else dict(self.page),
            "items": self.items_digest,
            "room": self.room,
            "axis": self.axis,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Definition:
        """The inverse of `to_body`; raises `DamagedError` for a body of another engine."""
        if body.get("engine") != ENGINE:
            raise DamagedError(
                f"this study was made by version {shown(body.get('engine'))} of the statistics, "
                f"and this is version {ENGINE}, which would decide otherwise: export it with the "
                "standout that made it, and begin a study with `standout analyse FILE --to PATH`"
            )
        problem, arms = Problem(**body["problem"]), body["arms"]
        method = parse_method(body["method"])
        settings = _settings(problem, method, body["settings"], len(arms))
        return cls(
            check_arms(arms), problem, method, body["seed"], settings, body["ordered"],
            body["costs"], body["page"], body["items"], body["room"],
            body["axis"],
        )  # fmt: skip


def checked(
    arms: Sequence[str],
    problem: Problem,
    method: str | Method,
    *,
    budget: int | None = None,
    lease: float | None = None,
    pause_after: int | None = None,
    ordered: bool = True,
    seed: int | np.random.Generator = 0,
    costs: Mapping[str, float] | None = None,
    until: str | Until | None = None,
    page: Mapping[str, Any] | None = None,
    items_digest: str | None = None,
    room: int | None = None,
    axis: str | None = None,
) -> Definition:
    """A valid definition of a study; `page` must have been checked before.

    Raises `ProblemError`, `MethodError` or `StudyError` for invalid arguments.
    """
    chosen = _check_method(method)
    for arm in arms:
        check_name(str(arm), "arm")
    if ordered not in (0, 1):
        raise StudyError(f"ordered must be True or False, not {shown(ordered)}")
    names = check_arms(arms)
    given = {"budget": budget, "until": until, "pause_after": pause_after, "lease": lease}
    settings = _settings(problem, chosen, given, len(names))
    made = Definition(
        names, problem, chosen, seed_of(seed), settings, bool(ordered), _check_costs(costs),
        page, items_digest, room, axis,
    )  # fmt: skip
    made.cost_array()
    if axis is not None:
        check_name(axis, "axis")
    if room is not None:
        arguments.whole("room", room, len(names), MOST_ARMS)
    chosen.spec(problem, len(names), room)
    return made


def _check_method(method: object) -> Method:
    if not isinstance(method, str | Method):
        raise StudyError(f"method must be a name, not {shown(method)}")
    chosen = as_method(method)
    if parse_method(written_method(chosen)) != chosen:
        raise StudyError(f"a study keeps its method by name, and {chosen.name!r} differs from it")
    arguments.check_method(chosen)
    return chosen


def written_method(method: Method) -> str:
    """A method as text for storage, with an explicit number of scales."""
    label = method.label()
    if _SCALES in label:
        return label
    return label + f"{',' if ':' in label else ':'}{_SCALES}{method.scales}"


def seed_of(value: object) -> int:
    """A seed as a number for storage; a generator draws one."""
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**63))
    return arguments.whole("seed", value, 0, 2**63 - 1)


def check_name(name: str, what: str) -> None:
    """Refuse a name that a database or a command line cannot carry."""
    named = "the name of arm" if what == "arm" else f"the name of the {what}"
    arguments.text(named, name)
    if not name:
        raise ProblemError(f"{named} is empty")
    if "\x00" in name:
        raise ProblemError(f"{what} {name!r} contains the character NUL, which cannot be stored")
    arguments.encodable(f"{what} {name!r}", name)


def digest_of_items(items: Mapping[int, Mapping[str, str]]) -> str | None:
    """A digest of the items of a rating page, by the arms' positions."""
    if not items:
        return None
    text = json.dumps(
        sorted((place, dict(parts)) for place, parts in items.items()), sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _settings(problem: Problem, method: Method, given: Mapping[str, Any], n_arms: int) -> Settings:
    """The initial settings of a study, checked."""
    asked = {"tolerance": problem.tolerance, "batch": method.batch}
    return Settings().with_values({**given, **asked}, n_arms)


def _check_costs(costs: object) -> dict[str, float] | None:
    """Costs of a pull, by arm: positive, finite, and of comparable size."""
    if costs is None:
        return None
    if not isinstance(costs, Mapping):
        raise ProblemError(f"costs must be a mapping from arms to numbers, not {shown(costs)}")
    found: dict[str, float] = {}
    for arm, cost in costs.items():
        number = arguments.real(cost)
        if number is None or not SMALLEST_COST <= number <= 1 / SMALLEST_COST:
            raise ProblemError(
                f"the cost of arm {shown(arm)} must be a number from {SMALLEST_COST:g} to "
                f"{1 / SMALLEST_COST:g}, not {shown(cost)}"
            )
        found[arm] = number
    return found
