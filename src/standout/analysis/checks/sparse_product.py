"""The product of a table with itself, of which most entries are 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.typing import FloatRows, Floats, Ints

_DENSE = 8
"""A row with more than this part of its places taken is multiplied as a whole."""
_ROWS = 512
"""So many such rows at a time."""


@dataclass(frozen=True, eq=False)
class Table:
    """Entries, at most one per row and column, in any order."""

    row: Ints
    column: Ints
    value: Floats

    def product(self, n_columns: int) -> FloatRows:
        """The sum over rows of the products of any two of their entries, columns by columns."""
        found = np.zeros((n_columns, n_columns))
        if len(self.row) == 0:
            return found
        _, row, sizes = np.unique(self.row, return_inverse=True, return_counts=True)
        is_full = (_DENSE * sizes > n_columns)[row]
        self._add_sparse(found, np.flatnonzero(~is_full), row)
        self._add_dense(found, np.flatnonzero(is_full), row)
        return found

    def _add_sparse(self, found: FloatRows, entries: Ints, row: Ints) -> None:
        """Each entry with itself, with the next one of its row, with the one after that."""
        entries = entries[np.argsort(row[entries], kind="stable")]
        first = entries
        for apart in range(len(entries)):
            first, other = first[: len(entries) - apart], entries[apart:]
            together = row[first] == row[other]
            if not together.any():
                return
            one, two = first[together], other[together]
            products = self.value[one] * self.value[two]
            np.add.at(found, (self.column[one], self.column[two]), products)
            if apart:
                np.add.at(found, (self.column[two], self.column[one]), products)

    def _add_dense(self, found: FloatRows, entries: Ints, row: Ints) -> None:
        rows, place = np.unique(row[entries], return_inverse=True)
        for start in range(0, len(rows), _ROWS):
            mine = (place >= start) & (place < start + _ROWS)
            block = np.zeros((min(_ROWS, len(rows) - start), len(found)))
            block[place[mine] - start, self.column[entries[mine]]] = self.value[entries[mine]]
            found += block.T @ block
