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
"""Entries between two fenced arrays."""
MARK = 99
_INTEGERS = (int, np.integer)
_get, _set = np.ndarray.__getitem__, np.ndarray.__setitem__


class Fence:
    """A state in arrays of the same types, with a strip of marks around each."""

    def __init__(self, state: State) -> None:
        self._buffers: list[tuple[np.ndarray, np.ndarray, np.generic]] = []
        inside: dict[str, np.ndarray] = {}
        kinds: dict[np.dtype, list[tuple[str, np.ndarray]]] = {}
        for name, values in state.arrays().items():
            kinds.setdefault(values.dtype, []).append((name, values))
        for dtype, fields in kinds.items():
            mark = dtype.type(MARK)
            buffer = np.full(STRIP + sum(v.size + STRIP for _, v in fields), mark)
            is_strip = np.ones(buffer.size, dtype=np.bool_)
            start = STRIP
            for name, values in fields:
                end = start + values.size
                inside[name] = buffer[start:end].reshape(values.shape)
                inside[name][...] = values
                is_strip[start:end] = False
                start = end + STRIP
            self._buffers.append((buffer, np.flatnonzero(is_strip), mark))
        self.state = state.with_arrays(lambda name, _: inside[name])

    def faults(self) -> list[str]:
        """Whether any strip has changed."""
        return [
            f"something was written beyond the ends of an array of {buffer.dtype}"
            for buffer, strips, mark in self._buffers
            if (buffer[strips] != mark).any()
        ]


class StrictArray(np.ndarray):
    """An array whose indexes must lie between 0 and its length."""

    # These lines are most of the strict attack's time. What is too large NumPy refuses by itself.
    def __getitem__(self, key: Any) -> Any:
        if type(key) is int:
            if key < 0:
                self._check(key)
        elif type(key) is not tuple or len(key) != 2:
            self._check(key)
        else:
            row, column = key
            if not type(row) is type(column) is int or row < 0 or column < 0:
                self._check(key)
        return _get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is not int or key < 0:
            self._check(key)
        _set(self, key, value)

    def _check(self, key: Any) -> None:
        for axis, index in enumerate(key if isinstance(key, tuple) else (key,)):
            if isinstance(index, slice):
                ends = [end for end in (index.start, index.stop) if end is not None]
                if any(not 0 <= end <= self.shape[axis] for end in ends):
                    raise IndexError(f"slice {index} of an axis of {self.shape[axis]}")
            elif isinstance(index, _INTEGERS) and not 0 <= index < self.shape[axis]:
                raise IndexError(f"index {index} into an axis of {self.shape[axis]}")


class Strict:
    """A state in arrays that check their indexes."""

    def __init__(self, state: State) -> None:
        self.state = state.with_arrays(lambda _, values: values.view(StrictArray))

    def faults(self) -> list[str]:
        """None: they raise."""
        return []
