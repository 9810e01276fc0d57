"""Rewards as they are sent: checked, and split into requests that a server accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from standout.errors import BatchError, RewardError, TicketError
from standout.results import Receipt, Ticket, Told
from standout.study_interface import Key

MOST_REWARDS = 20_000
"""Rewards per request: a server accepts 50,000, but other requests wait meanwhile."""
MOST_BYTES = 4_000_000
"""Bytes of rewards per request: a server accepts 10 MB, a proxy possibly less."""


def parts(rows: Sequence[Mapping[str, Any]]) -> Iterator[slice]:
    """Slices of the rewards, none with too many rewards or bytes; a short list is one slice."""
    begin, size = 0, 0
    for place, row in enumerate(rows):
        length = len(json.dumps(row)) + 2
        if place > begin and (place - begin >= MOST_REWARDS or size + length > MOST_BYTES):
            yield slice(begin, place)
            begin, size = place, 0
        size += length
    yield slice(begin, len(rows))


@contextmanager
def counted_from(before: int) -> Iterator[None]:
    """Number a bad reward within the whole list, and say how many rewards counted before it."""
    try:
        yield
    except BatchError as error:
        if not before:
            raise
        found = BatchError(
            f"{error}; the first {before:,} rewards were sent in earlier requests and "
            "count; no later reward does",
            before + error.index,
        )
        found.__cause__ = error.__cause__
        raise found from error.__cause__


def ticket_number(ticket: Ticket | int) -> int:
    """The number of a ticket; raises `TicketError` for anything else."""
    number = getattr(ticket, "id", ticket)
    if isinstance(number, bool) or not isinstance(number, int):
        raise TicketError(f"{ticket!r} is not a ticket")
    return number


def rows_of(pairs: list[tuple[Key, float]]) -> list[dict[str, Any]]:
    """Rewards as JSON rows; raises `BatchError` at the first that is not a finite number."""
    rows: list[dict[str, Any]] = []
    for place, (key, reward) in enumerate(pairs):
        try:
            value = _reward(reward)
            if isinstance(key, str):
                rows.append({"arm": key, "reward": value})
            elif isinstance(key, int):
                rows.append({"ticket": ticket_number(key), "reward": value})
            else:
                rows.append({"ticket": ticket_number(key), "arm": key.arm, "reward": value})
        except (RewardError, TicketError) as error:
            raise BatchError(str(error), place) from error
    return rows


def _reward(value: object) -> float:
    """A number that JSON can carry; the server checks whether it fits the noise."""
    if isinstance(value, str | bytes | complex):
        raise RewardError(f"reward {value!r} is not a number")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise RewardError(f"reward {value!r} is not a number") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise RewardError(f"reward {number} is not finite")
    return number


def whole_receipt(last: Told, before: Sequence[Told] = ()) -> Receipt:
    """The receipt of all parts together."""
    told = (*before, last)
    return Receipt(
        counted=sum(one.counted for one in told),
        repeated=sum(one.repeated for one in told),
        surplus=sum(one.surplus for one in told),
        again=all(one.again for one in told),
        time=last.time,
    )
