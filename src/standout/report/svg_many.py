"""Many arms side by side, from the smallest estimate to the largest."""

from __future__ import annotations

import math

import numpy as np

from standout.core.kinds import Verdict
from standout.core.typing import Flags, Floats, Ints
from standout.report import svg
from standout.report.phrases import Digits, short
from standout.report.study_facts import Facts
from standout.report.svg import Line, n
from standout.report.svg_arms import arm_words, bands, describe, kind_of, sorted_arms, value_range

MOST_SINGLE = 400
"""Arms that are drawn one by one."""
MOST_NAMED = 12
LEFT = 52.0
CROWDS = (
    (Verdict.NORMAL, "normal"),
    (Verdict.UNDECIDED, "undecided"),
    (Verdict.OUTLIER, "outlier"),
)


def many_arms(facts: Facts, digits: Digits, width: float, kind: str) -> str:
    """Each arm a vertical interval; the crowd as a band where it is too many."""
    height = 420.0 if kind == "wide" else 340.0
    top, bottom = 22.0, height - 30
    order = sorted_arms(facts)[::-1]
    order = order[np.isfinite(facts.seen.estimate[order])]
    single = singled_out(facts, order)
    x = places(single, LEFT + 6, width - 8)
    scale = Line(*value_range(facts), bottom, top)
    parts = svg.left_axis(scale, LEFT, width)
    parts += _bands(facts, scale, width)
    parts += _crowd(facts, order, single, x, scale)
    parts += [
        _arm(facts, digits, int(i), at, scale, detailed=len(order) <= 2 * MOST_SINGLE)
        for i, at in zip(order[single].tolist(), x[single].tolist(), strict=True)
    ]
    parts += _names(facts, order, x, scale, width, kind)
    parts.append(
        svg.label(
            (LEFT + width) / 2, height - 8, "arms, from the smallest estimate to the largest",
            "middle",
        )
    )  # fmt: skip
    return svg.picture(
        f"arms-{kind}", kind, width, height,
        "Every arm's interval against the threshold", describe(facts, digits), parts,
    )  # fmt: skip


def is_crowded(facts: Facts) -> bool:
    """Whether some arms are drawn only as part of a band."""
    return int(np.isfinite(facts.seen.estimate).sum()) > MOST_SINGLE


def singled_out(facts: Facts, order: Ints) -> Flags:
    """The arms drawn one by one: all if they are few, else outliers, and undecided ones.

    Of too many undecided ones, only those that seem to stand out.
    """
    if len(order) <= MOST_SINGLE:
        return np.ones(len(order), dtype=np.bool_)
    verdict = facts.seen.verdict[order]
    single: Flags = verdict == Verdict.OUTLIER
    found = np.flatnonzero(single)
    if len(found) > MOST_SINGLE:
        # Evenly over the row, so that the picture keeps its form.
        single[:] = False
        single[found[np.linspace(0, len(found) - 1, MOST_SINGLE).round().astype(np.int64)]] = True
        return single
    undecided = verdict == Verdict.UNDECIDED
    guessed = set(facts.guess)
    likely = undecided & [facts.seen.names[i] in guessed for i in order]
    for more in (undecided, likely):
        if len(found) + np.count_nonzero(more) <= MOST_SINGLE:
            both: Flags = single | more
            return both
    return single


def places(single: Flags, left: float, right: float) -> Floats:
    """Where each arm stands; one drawn by itself gets more room than one of a crowd."""
    weight = np.ones(len(single))
    alone = int(single.sum())
    if 0 < alone < len(single):
        # At most 10 units each, and at most half of the width for all of them.
        share = min(0.5, 10.0 * alone / (right - left))
        weight[single] = max(1.0, share / (1 - share) * (len(single) - alone) / alone)
    middle = np.cumsum(weight) - weight / 2
    found: Floats = left + middle / weight.sum() * (right - left)
    return found


def _arm(facts: Facts, digits: Digits, i: int, x: float, scale: Line, detailed: bool) -> str:
    seen, kind = facts.seen, kind_of(facts, i)
    top, bottom = scale(float(seen.upper[i])), scale(float(seen.lower[i]))
    title = f"<title>{svg.text(arm_words(facts, i, digits))}</title>" if detailed else ""
    return (
        f'<g class="{kind}">{title}<path class="line" d="M{n(x)} {n(top)}V{n(bottom)}"/>'
        + svg.mark(kind, x, scale(float(seen.estimate[i])), 3.0 if kind == "outlier" else 2.2)
        + "</g>"
    )


def _crowd(facts: Facts, order: Ints, single: Flags, x: Floats, scale: Line) -> list[str]:
    """The arms that are not drawn one by one, as bands of their intervals, run by run."""
    seen = facts.seen
    parts = []
    for verdict, kind in CROWDS:
        crowd = np.flatnonzero(~single & (seen.verdict[order] == verdict))
        if not len(crowd):
            continue
        column = np.floor(x[crowd] / 3.0).astype(np.int64)
        edges = np.flatnonzero(np.diff(column, prepend=-1))
        upper = np.maximum.reduceat(seen.upper[order[crowd]], edges)
        lower = np.minimum.reduceat(seen.lower[order[crowd]], edges)
        middle = np.add.reduceat(seen.estimate[order[crowd]], edges) / np.diff(
            np.append(edges, len(crowd))
        )
        at = x[crowd[edges]]
        outline = [f"{n(a)} {n(scale(float(u)))}" for a, u in zip(at, upper, strict=True)]
        outline += [
            f"{n(a)} {n(scale(float(v)))}" for a, v in zip(at[::-1], lower[::-1], strict=True)
        ]
        line = [f"{n(a)} {n(scale(float(m)))}" for a, m in zip(at, middle, strict=True)]
        parts.append(
            f'<g class="{kind}"><path class="crowd" d="M{"L".join(outline)}z"/>'
            f'<path class="line" d="M{"L".join(line)}"/></g>'
        )
    return parts


def _bands(facts: Facts, scale: Line, width: float) -> list[str]:
    parts = []
    seen = facts.seen
    if math.isfinite(seen.median) and scale.holds(seen.median):
        y = scale(seen.median)
        parts.append(f'<path class="median" d="M{n(LEFT)} {n(y)}H{n(width)}"/>')
    for band in bands(facts):
        top, bottom = scale(band.upper), scale(band.lower)
        parts.append(
            f'<rect class="band" x="{n(LEFT)}" y="{n(top)}" width="{n(width - LEFT)}" '
            f'height="{n(max(1.0, bottom - top))}"/>'
        )
        parts.append(svg.label(LEFT + 8, (top + bottom) / 2 + 4, "threshold", kind="bandname"))
    return parts


def _names(facts: Facts, order: Ints, x: Floats, scale: Line, width: float, kind: str) -> list[str]:
    """Names of the outliers, if they are few: left of high ones, right of low ones."""
    where = {int(i): float(at) for i, at in zip(order, x, strict=True)}
    outliers = [i for i in facts.positions(Verdict.OUTLIER).tolist() if i in where]
    if len(outliers) > MOST_NAMED:
        return []
    letters = 26 if kind == "wide" else 14
    parts, taken = [], {"high": -math.inf, "low": -math.inf}
    for i in outliers:
        side = facts.side_of(i)
        y = max(scale(float(facts.seen.estimate[i])) + 4, taken[side] + 13)
        taken[side] = y
        at, anchor = (where[i] - 9, "end") if side == "high" else (where[i] + 9, "start")
        parts.append(svg.label(at, y, short(facts.seen.names[i], letters), anchor, "name"))
    return parts
