"""A long list of rewards in parts that a server takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from standout.errors import BatchError

MOST_REWARDS = 20_000
"""Rewards of one request: a server takes 50,000, and others wait while it does."""
MOST_BYTES = 4_000_000
"""Bytes of one request's rewards: a server takes 10 MB, a proxy before it maybe less."""


def parts(rows: Sequence[Mapping[str, Any]]) -> Iterator[slice]:
    """Where to cut, so that no part has too many rewards or bytes; a short list is one part."""
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
    """Number a bad reward of a part within the whole list, and say what was counted before it."""
    try:
        yield
    except BatchError as error:
        if not before:
            raise
        found = BatchError(
            f"{error}; the first {before:,} rewards were sent in parts of their own and are "
            "counted, none from there on",
            before + error.index,
        )
        found.__cause__ = error.__cause__
        raise found from error.__cause__
