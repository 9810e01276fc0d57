"""Columns that grow together: numbers of many rewards or tickets, close together in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

FIRST_ROOM = 64


class Columns:
    """Arrays with one entry per row, of which the first `size` are in use."""

    kinds: ClassVar[Mapping[str, str]] = {}
    """Each column's name and its type of numbers."""

    def __init__(self) -> None:
        self.size = self._room = 0
        for name, kind in self.kinds.items():
            setattr(self, name, np.zeros(0, dtype=kind))
        self.reserve(FIRST_ROOM)

    def reserve(self, more: int) -> None:
        """Make room for some more rows."""
        if self.size + more <= self._room:
            return
        self._room = max(2 * self._room, self.size + more)
        for name, kind in self.kinds.items():
            grown = np.zeros(self._room, dtype=kind)
            grown[: self.size] = getattr(self, name)[: self.size]
            setattr(self, name, grown)

    def part(self, first: int, last: int) -> dict[str, Any]:
        """The rows with these numbers, from 1 on, both included."""
        return {name: getattr(self, name)[first - 1 : last] for name in self.kinds}

    def put(self, first: int, part: Mapping[str, Any]) -> None:
        """Put in rows that `part` gave, from number `first` on; raises `ValueError` for a gap."""
        if first > self.size + 1 or set(part) != set(self.kinds):
            raise ValueError("columns do not fit together")
        count = len(next(iter(part.values())))
        last = first - 1 + count
        self.reserve(last - self.size)
        self.size = max(self.size, last)
        for name, values in part.items():
            getattr(self, name)[first - 1 : last] = values
