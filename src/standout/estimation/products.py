"""Products of matrices that stay on one core.

OpenBLAS deals a product to all cores from about half a million multiplications on. For the
products of chances, a fraction of a millisecond each, that saves no time, but each leaves the
threads that it woke waiting at full speed for the next one: several times the processor time
in all, taken from whatever else runs. So products are made of parts below that size.
"""

from __future__ import annotations

import numpy as np

from standout.core.typing import Floats

MOST = 2**19
"""Multiplications from which on OpenBLAS deals a product of matrices to several threads."""
MOST_OF_VECTOR = 400_000
"""Entries of a matrix, at most, whose product with a vector it does not."""
ROWS = 32
"""Rows of a part: those of 24 to 64 are about equally fast."""


def product(left: Floats, right: Floats) -> Floats:
    """The same as `left @ right`, of two matrices."""
    depth, columns = right.shape
    if left.size * columns < MOST:
        return left @ right
    # Whole vectors of the processor.
    width = max((MOST - 1) // (ROWS * depth) // 8 * 8, 1)
    found = np.empty((len(left), columns))
    for i in range(0, len(left), ROWS):
        part, into = left[i : i + ROWS], found[i : i + ROWS]
        for j in range(0, columns, width):
            np.matmul(part, right[:, j : j + width], out=into[:, j : j + width])
    return found


def weighted(weights: Floats, rows: Floats) -> Floats:
    """The same as `weights @ rows`, of a vector and a matrix."""
    found: Floats = sum(
        (weights[some] @ rows[some] for some in blocks(rows)), np.zeros(rows.shape[1])
    )
    return found


def blocks(rows: Floats) -> list[slice]:
    """Rows of a matrix in pieces small enough to be multiplied by vectors."""
    size = max(MOST_OF_VECTOR // rows.shape[1], 1)
    return [slice(i, i + size) for i in range(0, len(rows), size)]
