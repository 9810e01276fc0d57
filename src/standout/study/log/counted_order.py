"""In which order the rewards of an arm were counted, as its steps say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from standout.study.log.chain import Kind, read_ranges
from standout.study.storage.database import Connection
from standout.study.storage.log.reward_log import counted_values
from standout.study.storage.log.steps import read_steps

Sequences = dict[int, list[tuple[int, float]]]
"""By arm, place in the log and value of each counted reward, in the order of counting."""


def counted_sequences(
    connection: Connection,
    key: int,
    arms: Iterable[int],
    before: int,
    voided: Sequence[tuple[int, int]] = (),
) -> Sequences:
    """The rewards of some arms that were counted in the steps before number `before`.

    What was made void in these steps, and is in `voided`, is left out; a reward that was told
    in its place (each pair has its place, 0 for none) stands where it stood. Takes a look at
    every step.
    """
    where = {
        place: (arm, value)
        for arm in sorted(set(arms))
        for place, value in counted_values(connection, key, arm)
    }
    order: dict[int, list[int]] = {arm: [] for arm in sorted(set(arms))}
    for row in read_steps(connection, key):
        if row["number"] >= before:
            break
        if row["counted"] is not None:
            parts = read_ranges(row["counted"])
        else:
            parts = [range(row["first"], row["first"] + row["logged"])]
        for part in parts:
            # No longer than what is there, whatever a forged row says.
            places = part if len(part) <= len(where) else sorted(p for p in where if p in part)
            for place in places:
                if place in where:
                    order[where[place][0]].append(place)
        if row["kind"] == Kind.VOID:
            _replace(order, json.loads(row["note"])["void"])
    _replace(order, voided)
    return {arm: [(place, where[place][1]) for place in places] for arm, places in order.items()}


def _replace(order: dict[int, list[int]], voided: Iterable[Sequence[int]]) -> None:
    new = {place: instead for place, instead in voided}  # noqa: C416
    for arm, places in order.items():
        if not new.keys().isdisjoint(places):
            found = (new.get(place, place) for place in places)
            order[arm] = [place for place in found if place]
