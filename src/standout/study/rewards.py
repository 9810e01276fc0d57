"""Rewards as people give them: checked before the database is asked, then against the tickets.

Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from standout.core.noise import Noise
from standout.errors import BatchError, RewardError, TicketError, ToldError
from standout.results import Ticket
from standout.study.progress import Progress
from standout.study.storage.open_tickets import HELD, OpenTicket
from standout.study.storage.statements import FEW
from standout.study.storage.stored_study import StoredStudy
from standout.study.tickets import ticket_id
from standout.study_interface import Key


class Item(NamedTuple):
    """A reward as given: with a ticket, with an arm, or with both."""

    value: float
    ticket: int | None = None
    arm: int | None = None


def may_be_told(row: OpenTicket | None) -> bool:
    """Whether the log may have a reward of this ticket: it is held, or not in the table."""
    return row is None or row.status == HELD


def check_told(
    stored: StoredStudy,
    items: Sequence[Item],
    rows: Mapping[int, OpenTicket],
    told: Mapping[int, float],
) -> list[Item]:
    """The items that are new; an error for the first bad one."""
    arms = stored.progress.arms
    fresh: list[Item] = []
    seen = dict(told)
    for place, item in enumerate(items):
        number = item.ticket
        if number is None:
            fresh.append(item)
        elif number in seen:
            if seen[number] != item.value:
                message = (
                    f"ticket {number} was told {seen[number]!r} before, not {item.value!r}; "
                    "a told reward is never changed"
                )
                raise BatchError(message, place) from ToldError(message)
        elif number not in rows:
            raise BatchError(f"there is no ticket {number} in this study", place)
        elif item.arm is not None and item.arm != rows[number].arm:
            raise BatchError(
                f"ticket {number} is for arm {arms[rows[number].arm]!r}, not {arms[item.arm]!r}",
                place,
            )
        else:
            seen[number] = item.value
            fresh.append(item)
    return fresh


def make_items(pairs: Sequence[tuple[Key, float]], progress: Progress) -> list[Item]:
    """Pairs of a ticket (its number, an arm's name) and a reward; names the first bad one."""
    noise = progress.problem.noise
    if len(pairs) > FEW and _are_plainly_fine([reward for _, reward in pairs], noise):
        return [_item(key, reward, i, progress) for i, (key, reward) in enumerate(pairs)]
    items = []
    for place, (key, reward) in enumerate(pairs):
        try:
            value = noise.check_reward(reward)
        except RewardError as error:
            raise BatchError(str(error), place) from error
        items.append(_item(key, value, place, progress))
    return items


def tickets_of(items: Sequence[Item]) -> list[int]:
    """The numbers of the tickets that are told."""
    return [item.ticket for item in items if item.ticket is not None]


def _are_plainly_fine(rewards: list[float], noise: Noise) -> bool:
    """Whether many plain numbers can be passed without looking at each.

    Only for families whose rewards are all numbers of a range: the smallest and
    the largest speak for the others.
    """
    if type(noise).check_reward is not Noise.check_reward:
        return False
    if set(map(type, rewards)) != {float}:
        return False
    values = np.array(rewards)
    if not np.isfinite(values).all():
        return False
    try:
        noise.check_reward(float(values.min()))
        noise.check_reward(float(values.max()))
    except RewardError:
        return False
    return True


def _item(key: Key, value: float, place: int, progress: Progress) -> Item:
    # + 0.0: a negative zero would come back from SQLite as another number than was told.
    try:
        if isinstance(key, Ticket):
            return Item(value + 0.0, ticket_id(key), _position(key.arm, progress))
        if isinstance(key, str):
            return Item(value + 0.0, None, _position(key, progress))
        return Item(value + 0.0, ticket_id(key))
    except TicketError as error:
        raise BatchError(str(error), place) from error


def _position(arm: str, progress: Progress) -> int:
    position = progress.index.get(arm)
    if position is None:
        raise TicketError(f"no arm {arm!r} in this study")
    return position
