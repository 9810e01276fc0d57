"""The look of all figures: one colour, marker and line per name, distinct without colour."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from standout.pictures.marks import NORMAL, OUTLIER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, PURPLE, TEAL, BROWN = (
    "#1f5fa8", "#d9730d", "#2e8540", "#b8252f", "#7b3f99", "#1a8f8f", "#8a5a2b",
)  # fmt: skip
ARMS = ((NORMAL.name, NORMAL.colour.light, "o"), (OUTLIER.name, OUTLIER.colour.light, "^"))
"""Verdict, colour and marker: those of all pictures of arms."""


@dataclass(frozen=True)
class Look:
    """The style of a curve."""

    color: str
    marker: str
    line: Any

    def options(self) -> dict[str, Any]:
        """Options for matplotlib's plot and errorbar."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.line,
            "markersize": 5,
            "linewidth": 1.5,
        }


LOOKS = {
    "LUCB": Look(BLUE, "o", "-"),
    "Elim": Look(ORANGE, "s", "--"),
    "Random": Look(GREEN, "^", "-."),
    "RR": Look(RED, "D", ":"),
    "WRR": Look(PURPLE, "X", (0, (5, 1, 1, 1, 1, 1))),
    # The threshold mean + k std is that of RR and WRR, hence RR's colour.
    "mean-std": Look(RED, "D", ":"),
    # All ROAI methods share the threshold of all n arms: the colour of the first of them.
    "ROAI-n": Look(BLUE, "o", "-"),
    "ROAI-4nε": Look(TEAL, "v", "--"),
    "ROAI-2nε": Look(BROWN, "P", "-."),
}

# Any: the names are checked by matplotlib, whose own types differ between versions.
_RC: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10.5,
    "legend.fontsize": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "errorbar.capsize": 2.0,
    "savefig.dpi": 160,
    # Text stays text in the PDF, and fonts every reader has.
    "pdf.fonttype": 42,
}


@contextmanager
def panels(width: float, height: float, columns: int = 1) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure of panels side by side in the common style."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False, sharey=True)
        yield figure, list(axes[0])


def render(figure: Figure, kind: str) -> bytes:
    """The picture as PNG or PDF; the same figure always gives the same bytes."""
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context(_RC):
        stamp = {"CreationDate": None} if kind == "pdf" else {"Software": None}
        figure.savefig(out, format=kind, metadata=stamp)
    return out.getvalue()


def in_thousands(value: float, _: object = None) -> str:
    """A tick label: 20000 as 20k.

    >>> in_thousands(20_000), in_thousands(2_500)
    ('20k', '2.5k')
    """
    return "0" if value == 0 else f"{value / 1000:g}k"
