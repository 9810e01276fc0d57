"""Arrays that notice what compiled code does silently: a write or a read beyond their ends.

`Fence` is for compiled kernels: each array lies between two strips of known
values, and whoever writes there is found out. `Strict` is for kernels as plain
Python (`NUMBA_DISABLE_JIT=1`): each index is checked. NumPy itself would take
-1 for the last entry; compiled code takes it for whatever lies before the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from standout.core.state import State

STRIP = 8
"""Entries on each side of a fenced array."""
MARK = 99


class Fence:
    """A state in arrays of the same types, each with a strip on both sides."""

    def __init__(self, state: State) -> None:
        self._strips: list[tuple[str, np.ndarray]] = []
        self.state = State(*map(self._fenced, State._fields, state))

    def _fenced(self, name: str, values: np.ndarray) -> np.ndarray:
        buffer = np.full(values.size + 2 * STRIP, MARK % 2 if values.dtype == bool else MARK)
        buffer = buffer.astype(values.dtype)
        inside = buffer[STRIP : STRIP + values.size].reshape(values.shape)
        inside[...] = values
        self._strips.append((name, buffer))
        return inside

    def faults(self) -> list[str]:
        """The arrays whose strips have changed."""
        return [
            f"something was written beyond the ends of {name}"
            for name, buffer in self._strips
            if (buffer[:STRIP] != buffer.dtype.type(MARK)).any()
            or (buffer[-STRIP:] != buffer.dtype.type(MARK)).any()
        ]


class StrictArray(np.ndarray):
    """An array whose indexes must lie between 0 and its length."""

    def __getitem__(self, key: Any) -> Any:
        self._check(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check(key)
        super().__setitem__(key, value)

    def _check(self, key: Any) -> None:
        for axis, index in enumerate(key if isinstance(key, tuple) else (key,)):
            if isinstance(index, slice):
                ends = [end for end in (index.start, index.stop) if end is not None]
                if any(not 0 <= end <= self.shape[axis] for end in ends):
                    raise IndexError(f"slice {index} of an axis of {self.shape[axis]}")
            elif isinstance(index, int | np.integer) and not 0 <= index < self.shape[axis]:
                raise IndexError(f"index {index} into an axis of {self.shape[axis]}")


class Strict:
    """A state in arrays that check their indexes."""

    def __init__(self, state: State) -> None:
        self.state = State(*(values.view(StrictArray) for values in state))

    def faults(self) -> list[str]:
        """None: they raise."""
        return []
