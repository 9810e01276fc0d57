"""Between the core's `State` and the rows of a database.

Nothing here names what a method remembers: every array of the state that has
an entry per arm is kept with the arm, everything else with the run. Only what
is scratch space, or follows from the rest, is left out; a field that a later
version adds is therefore kept without a change here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from standout.core.method import Method
from standout.core.order import sort_ends
from standout.core.problem import Problem
from standout.core.run import start_state
from standout.core.state import ROUNDS, SIZE, STAGE, TOUCHED, Spec, State
from standout.core.threshold import update_threshold
from standout.core.typing import Floats, Ints
from standout.study.short_json import dumps

OWN_COLUMNS = ("pulls", "sums")
"""Kept in columns of their own, where SQL can add them up."""

NOT_KEPT = frozenset(
    (
        "signs", "factors",  # from the problem
        "omega", "touched",  # from stage and sampled, and the flag is_touched
        "deviation_lower", "deviation_upper", "sorted_lower", "sorted_upper",  # from the intervals
        "binding", "centre", "scratch", "work", "joint", "boxes", "bends",  # scratch
        "learnt", "fits", "chance", "counted",  # learnt anew from the rewards
        "is_wanted", "candidates", "chosen", "amount",
    )
)  # fmt: skip


class Layout:
    """Which field goes where, found by looking at states of two sizes."""

    def __init__(self, problem: Problem, method: Method) -> None:
        sizes = (101, 103)
        small, large = (
            start_state(problem, method, size, np.random.default_rng(0)) for size in sizes
        )
        self.per_arm: list[tuple[str, int]] = []
        self.per_run: list[str] = []
        self._seen: State | None = None
        self._last: list[Any] = []
        self._columns_of: State | None = None
        self._columns: list[Any] = []
        for name in State.names():
            if name in NOT_KEPT or name in OWN_COLUMNS:
                continue
            shape, other = getattr(small, name).shape, getattr(large, name).shape
            grows = [axis for axis in range(len(shape)) if shape[axis] != other[axis]]
            if grows:
                self.per_arm.append((name, grows[0]))
            else:
                self.per_run.append(name)

    def fields(self, state: State) -> list[list[Any]]:
        """Name and number of values of each field in an arm's list."""
        return [
            [name, int(np.prod(np.moveaxis(getattr(state, name), axis, 0).shape[1:]))]
            for name, axis in self.per_arm
        ]

    def table(self, state: State, positions: Ints | slice = slice(None)) -> Floats:
        """All that is kept of these arms, one row each."""
        parts = []
        for values in self._views(state):
            part = values[positions]
            parts.append(part.reshape(len(part), -1))
        return np.concatenate(parts, axis=1, dtype=np.float64)

    def row(self, state: State, position: int) -> list[float]:
        """The same of one arm, in numbers of Python: quicker than a table of one row."""
        if self._columns_of is not state:
            self._columns_of = state
            self._columns = [
                view[(slice(None), *index)]
                for view in self._views(state)
                for index in np.ndindex(view.shape[1:])
            ]
        return [float(column.item(position)) for column in self._columns]

    def _views(self, state: State) -> list[Any]:
        """The fields with the arms' axis first, looked up once per state."""
        if self._seen is not state:
            self._seen = state
            self._last = [np.moveaxis(getattr(state, name), axis, 0) for name, axis in self.per_arm]
        return self._last

    def unpack_arms(
        self, state: State, positions: Ints, texts: Sequence[str], fields: list[list[Any]]
    ) -> None:
        """The reverse of `pack_arms`; fields that this version does not know are passed over."""
        if not len(positions):
            return
        rows = np.array(json.loads("[" + ",".join(texts) + "]"), dtype=np.float64)
        views = {
            name: view for (name, _), view in zip(self.per_arm, self._views(state), strict=True)
        }
        start = 0
        for name, width in fields:
            target = views.get(name)
            if target is not None and width == math.prod(target.shape[1:]):
                part = rows[:, start : start + width]
                # A cast on the way: some are whole numbers or flags.
                target[positions] = part.reshape(len(positions), *target.shape[1:])
            start += width

    def pack_run(self, state: State) -> str:
        """What belongs to no arm."""
        return dumps({name: getattr(state, name).tolist() for name in self.per_run})

    def unpack_run(self, state: State, text: str) -> set[str]:
        """The reverse of `pack_run`; what another version kept in another form is left out."""
        values = json.loads(text)
        found = set()
        for name in self.per_run:
            target = getattr(state, name)
            kept = np.array(values.get(name, ()), dtype=target.dtype)
            if kept.shape == target.shape:
                target[...] = kept
                found.add(name)
        return found


def restore_touched(state: State) -> None:
    """List the arms that have had rewards since their intervals were worked out."""
    touched = np.flatnonzero(state.is_touched)
    state.touched[: len(touched)] = touched
    state.counters[TOUCHED] = len(touched)


def restore_derived(spec: Spec, state: State, found: set[str]) -> None:
    """Work out what is not kept, after arms and the run's own values (`found`) have been read."""
    restore_touched(state)
    members = np.flatnonzero(state.stage <= state.sampled[STAGE])
    state.omega[: len(members)] = members
    state.sampled[SIZE] = len(members)
    # Before the first round, too: one that ended in a transaction which failed has sorted here.
    for side in range(len(state.signs)):
        sort_ends(state, side)
    if state.counters[ROUNDS] == 0:
        return
    bounds = state.bounds.copy()
    for side in range(len(state.signs)):
        update_threshold(spec, state, side)
    if "bounds" in found:
        # The threshold of RR depends on the pulls too, which may have gone on since.
        state.bounds[...] = bounds
