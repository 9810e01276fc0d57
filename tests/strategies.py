"""Inputs for Hypothesis: many ties, no ties, tiny and huge numbers."""

from __future__ import annotations

from hypothesis import strategies as st

quarters = st.integers(-20, 20).map(lambda i: i / 4)
scales = st.sampled_from([1e-12, 1.0, 1e12])


@st.composite
def value_lists(draw: st.DrawFn, min_size: int = 3, max_size: int = 12) -> list[float]:
    """Values that tie often, or hardly ever, at some scale."""
    element = draw(st.sampled_from([quarters, st.floats(-1, 1, allow_subnormal=False)]))
    scale = draw(scales)
    values = draw(st.lists(element, min_size=min_size, max_size=max_size))
    return [value * scale for value in values]


@st.composite
def interval_lists(draw: st.DrawFn, max_size: int = 12) -> tuple[list[float], list[float]]:
    """Lower and upper ends, from equal to very different widths."""
    lower = draw(value_lists(max_size=max_size))
    scale = draw(scales)
    widths = draw(
        st.lists(
            st.integers(0, 8).map(lambda i: i / 4 * scale),
            min_size=len(lower),
            max_size=len(lower),
        )
    )
    return lower, [low + width for low, width in zip(lower, widths, strict=True)]
