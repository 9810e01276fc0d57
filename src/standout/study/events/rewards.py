"""Rewards as people give them: checked against the noise and the tickets, nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from standout.core.noise import Noise
from standout.errors import BatchError, RewardError, TicketError, ToldError, TooLateError, shown
from standout.results import Ticket
from standout.study.events.requests import Given
from standout.study.events.state import StudyState
from standout.study.events.tickets import TicketStatus

Reward = tuple[int, float]
"""A ticket's number, or -1 less an arm's position (`of_arm`), and the reward."""
MOST = 2**62
"""No study gets so far; databases hold no larger numbers."""
MANY = 32
"""Rewards from which on it is quicker to check them all at once."""


def of_arm(arm: int) -> int:
    """What stands for a ticket's number where there is no ticket; its own reverse."""
    return -1 - arm


def ticket_id(ticket: Ticket | int) -> int:
    """The number of a ticket; raises `TicketError` for what cannot be one."""
    number = ticket.id if isinstance(ticket, Ticket) else ticket
    if type(number) is int and 1 <= number <= MOST:
        return number
    if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer):
        raise TicketError(f"{shown(ticket)} is not a ticket")
    if not 1 <= number <= MOST:
        raise TicketError(f"there is no ticket {shown(number)}")
    return int(number)


def known_ticket(state: StudyState, ticket: Ticket | int) -> int:
    """The number of a ticket of this study; raises `TicketError` if it has none such."""
    number = ticket_id(ticket)
    if number > state.tickets.size:
        raise TicketError(f"no ticket {number}")
    return number


def read_rewards(state: StudyState, pairs: Sequence[tuple[Given, float]]) -> list[Reward]:
    """The rewards as they are kept; raises `BatchError` that names the first bad one."""
    noise = state.problem.noise
    are_fine = len(pairs) > MANY and _are_plainly_fine([reward for _, reward in pairs], noise)
    found: list[Reward] = []
    for place, (given, reward) in enumerate(pairs):
        try:
            value = reward if are_fine else noise.check_reward(reward)
            # A negative zero would be another number to some.
            found.append((_number_of(state, given), value + 0.0))
        except (RewardError, TicketError) as error:
            raise BatchError(str(error), place) from error
    return found


def _number_of(state: StudyState, given: Given) -> int:
    if isinstance(given, str):
        return of_arm(_position(state, given))
    number = ticket_id(given)
    if isinstance(given, Ticket) and number <= state.tickets.size:
        arm = state.tickets.arm.item(number - 1)
        if _position(state, given.arm) != arm:
            raise TicketError(f"ticket {number} is for arm {state.arms[arm]!r}, not {given.arm!r}")
    return number


def _position(state: StudyState, arm: str) -> int:
    position = state.index.get(arm)
    if position is None:
        raise TicketError(f"no arm {arm!r} in this study")
    return position


def check_tickets(state: StudyState, rewards: Sequence[Reward]) -> None:
    """Raise a `BatchError` for the first ticket that is none, or was told otherwise before."""
    seen: dict[int, float] = {}
    for place, (number, value) in enumerate(rewards):
        try:
            _check_ticket(state, number, value, seen)
        except TicketError as error:
            raise BatchError(str(error), place) from error


def _check_ticket(state: StudyState, number: int, value: float, seen: dict[int, float]) -> None:
    if not -len(state.arms) <= number <= state.tickets.size or number == 0:
        raise TicketError(f"there is no ticket {number} in this study")
    if number < 0:
        return
    before = seen.setdefault(number, value)
    if state.tickets.status.item(number - 1) == TicketStatus.TOLD:
        before = state.ledger.value.item(state.tickets.place.item(number - 1) - 1)
    if before != value:
        raise ToldError(
            f"ticket {number} was told {before!r} before, not {value!r}; "
            "a told reward is never changed"
        )


def check_in_time(state: StudyState, rewards: Sequence[Reward]) -> None:
    """Raise `TooLateError` for a ticket that is no longer out and was not told."""
    for number, _ in rewards:
        if number > 0 and state.tickets.status.item(number - 1) > TicketStatus.TOLD:
            raise TooLateError(f"ticket {number} is no longer out: its pull was handed out again")


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
