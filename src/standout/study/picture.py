"""Arms, intervals and threshold as lines of text for a terminal."""

from __future__ import annotations

import math

import numpy as np

from standout.results import Identification

MARKS = {"outlier": "▲", "undecided": "?", "normal": "·"}


def printable(name: str, width: int) -> str:
    """A name on one line of at most `width` characters, with nothing a terminal would obey."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return text if len(text) <= width else text[: width - 1] + "…"


def picture(found: Identification, width: int = 78, height: int = 20) -> list[str]:
    """The arms from the largest mean down; `─` interval, `●` mean, `▒` threshold's interval."""
    kinds = dict.fromkeys(found.outliers, "outlier")
    kinds.update(dict.fromkeys(found.undecided, "undecided"))
    shown = [i for i in np.argsort(-found.means) if not math.isnan(found.means[i])]
    if not shown:
        return ["nothing measured yet"]
    left_out = max(0, len(shown) - height)
    if left_out:
        # Undecided arms are what one looks for; outliers next.
        wanted = sorted(shown, key=lambda i: _interest(kinds.get(found.arms[i], "normal")))
        keep = set(wanted[:height])
        shown = [i for i in shown if i in keep]
    label = min(24, max(len(printable(found.arms[i], 24)) for i in shown))
    axis = _Axis(found, shown, max(20, width - label - 4))
    lines = []
    for i in shown:
        name = found.arms[i]
        mark = MARKS[kinds.get(name, "normal")]
        bar = axis.bar(float(found.lower[i]), float(found.upper[i]), float(found.means[i]))
        lines.append(f"{printable(name, label):<{label}} {mark} {bar}")
    lines.append(" " * (label + 3) + axis.ends())
    if left_out:
        lines.append(f"({left_out} more arms not shown)")
    return lines


def _interest(kind: str) -> int:
    return ("undecided", "outlier", "normal").index(kind)


class _Axis:
    def __init__(self, found: Identification, shown: list[int], width: int) -> None:
        low, high = found.threshold.lower, found.threshold.upper
        values = [float(found.means[i]) for i in shown]
        values += [v for v in (low, high) if math.isfinite(v)]
        spread = (max(values) - min(values)) or 1.0
        self.low = min(values) - 0.15 * spread
        self.high = max(values) + 0.15 * spread
        self.width = width
        self.band = (low, high) if math.isfinite(low) and math.isfinite(high) else None

    def _column(self, value: float) -> int:
        share = (value - self.low) / (self.high - self.low)
        return int(min(max(share, 0.0), 1.0) * (self.width - 1))

    def bar(self, lower: float, upper: float, mean: float) -> str:
        cells = [" "] * self.width
        if self.band is not None:
            for column in range(self._column(self.band[0]), self._column(self.band[1]) + 1):
                cells[column] = "▒"
        for column in range(self._column(lower), self._column(upper) + 1):
            cells[column] = "─"
        cells[self._column(mean)] = "●"
        return "".join(cells).rstrip()

    def ends(self) -> str:
        left, right = f"{self.low:.4g}", f"{self.high:.4g}"
        return left + " " * max(1, self.width - len(left) - len(right)) + right
