"""Size of the random subset omega (ROAI-lambda-n-epsilon)."""

from __future__ import annotations

from fractions import Fraction


def size(n: int, multiple: str, epsilon: str) -> int:
    """max{lambda * floor(n epsilon) + 1, 15}, in exact arithmetic, at most n."""
    whole = (n * Fraction(epsilon)).__floor__()
    return min(n, max((Fraction(multiple) * whole).__floor__() + 1, 15))
