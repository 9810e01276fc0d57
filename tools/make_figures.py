"""Make the explanatory figures, docs/images/how-*.svg, identically in each run.

    python tools/make_figures.py [NAME ...]

A figure belongs to the page of its name, `terms` to the glossary. Pictures made by the code of a
page come from `tools/run_pages.py --pictures`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import standout
from standout.core.intervals import arm_interval, count_reward
from standout.core.methods import parse_method
from standout.core.problem import Problem
from standout.core.run import Run, start_state
from standout.pictures.marks import NORMAL, OUTLIER, THRESHOLD, UNDECIDED
from standout.simulation import Instance, default_problem, parse_instance
from standout.theory import information_limit

FOLDER = Path(__file__).parents[1] / "docs" / "images"
RED, BLUE, GREY = OUTLIER.colour.light, UNDECIDED.colour.light, NORMAL.colour.light
BAND = THRESHOLD.line.light
OFFSETS = {"A/B/n test": (6, -14), "MAD rule on averages of 250": (-70, 14)}
"""Offsets of labels in the comparison that are not to the upper right of their point, in points."""
DELTAS = (0.2, 0.05, 0.01, 1e-3, 1e-5, 1e-10)


def question(name: str) -> tuple[Instance, Problem]:
    """An instance of the simulator with its usual problem."""
    family = parse_instance(name)
    return family.draw(np.random.default_rng(0)), default_problem(family)


def axes(columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """A figure and its plain axes."""
    from matplotlib import pyplot

    figure, found = pyplot.subplots(
        1, columns, figsize=(width, height), layout="constrained", squeeze=False
    )
    for ax in found[0]:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(found[0])


def focus() -> Any:
    """Where two methods spend their pulls, on the means of figure 1."""
    truth, problem = question("fig1:gap=0.4")
    figure, (ax,) = axes(1, 7.5, 3.4)
    for name, colour, shape in (("roai-lucb", GREY, "s"), ("focus", BLUE, "o")):
        runs = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            means = dict(zip(truth.arms, truth.means, strict=True))

            def measure(arm: Any, means: Any = means, rng: Any = rng) -> float:
                return float(rng.normal(means[arm], 0.5))

            runs.append(standout.identify(measure, truth.arms, problem, name, seed=seed))
        pulls = np.mean([run.pulls_by_arm for run in runs], axis=0)
        ax.vlines(truth.means, 1, pulls, color=colour, alpha=0.35, lw=1)
        ax.plot(
            truth.means, pulls, shape, color=colour, ms=5, label=f"{name}: {pulls.sum():,.0f} pulls"
        )
    ax.axvline(2.837, color=BAND, lw=1.5, label="threshold")
    ax.axvline(8 / 7, color=BAND, lw=1, ls=":", label="median")
    ax.set_yscale("log")
    ax.set_ylim(bottom=10)
    ax.set_xlabel("mean of the arm")
    ax.set_ylabel("pulls of the arm, log scale")
    ax.legend(fontsize="small", frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def joint() -> Any:
    """Pulls to the end against delta, beside the information limit."""
    truth, _ = question("fig1:gap=0.4")
    figure, (ax,) = axes(1, 7.5, 3.2)
    limits = [
        information_limit(truth.means, Problem(noise="gaussian:0.5", k=2, delta=delta)).lower
        for delta in DELTAS
    ]
    for name, colour, shape in (("focus", BLUE, "o"), ("joint", RED, "^")):
        pulls = []
        for delta in DELTAS:
            said = standout.simulate(
                "fig1:gap=0.4", [name], runs=20, seed=0,
                problem=Problem(noise="gaussian:0.5", k=2, delta=delta),
            )  # fmt: skip
            pulls.append(float(said.results[0].pulls.mean()))
        ax.plot(DELTAS, pulls, shape + "-", color=colour, ms=5, label=name)
    ax.plot(DELTAS, limits, "--", color=GREY, label="information limit: no method can go below")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("δ, log scale: surer to the right")
    ax.set_ylabel("mean pulls, log scale")
    ax.legend(fontsize="small", frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def intervals() -> Any:
    """Half widths against the number of rewards, for rewards of 0 and 1."""
    problem = Problem(noise="bernoulli", k=3, delta=0.05)
    marks = np.unique(np.geomspace(10, 10_000, 60).round().astype(int))
    figure, both = axes(2, 8.5, 3.3)
    for ax, p in zip(both, (0.5, 0.05), strict=True):
        rewards = (np.random.default_rng(2).random(10_000) < p).astype(float)
        for name, colour, style in (
            ("hoeffding", GREY, "-"), ("mixture", BLUE, "-"), ("beta-binomial", RED, "-"),
        ):  # fmt: skip
            method = parse_method(f"random:interval={name}")
            spec = method.spec(problem, 105)
            state = start_state(problem, method, 105, np.random.default_rng(0))
            widths = []
            for count, reward in enumerate(rewards.tolist(), 1):
                count_reward(spec, state, 0, reward)
                if count in marks:
                    lower, upper = arm_interval(spec, state, 0)
                    widths.append((upper - lower) / 2)
            ax.plot(marks, widths, style, color=colour, label=name)
        one_look = 1.96 * np.sqrt(p * (1 - p) / marks)
        ax.plot(marks, one_look, ":", color="black", label="for one look, 95 %")
        ax.set_title(f"rewards 0 or 1, mean {p}", fontsize="medium", loc="left")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_ylim(0.003, 0.8)
        ax.set_xlabel("rewards of the arm, log scale")
    both[0].set_ylabel("half the width, log scale")
    both[0].legend(fontsize="small", frameon=False, loc="lower left")
    return figure


def chances() -> Any:
    """Chances of some wines, and the wrong arms to expect, over the pulls of one run."""
    truth, problem = question("wine")
    rng = np.random.default_rng(3)
    score = dict(zip(truth.arms, truth.means, strict=True))
    right = np.asarray(truth.means) > 0.6721
    run = Run(problem, truth.arms, "focus:goal=anytime", np.random.default_rng(1))
    marks = np.unique(np.geomspace(300, 12_000, 32).round().astype(int))
    looks = []
    for mark in marks.tolist():
        while run.pulls < mark and (arm := run.ask()) is not None:
            run.tell(arm, float(rng.random() < score[arm]))
        found = standout.chances(run)
        looks.append((found.chance, found.expected_wrong, np.sum((found.chance > 0.5) != right)))
    curves = np.array([look[0] for look in looks])
    figure, (left, ax) = axes(2, 8.5, 3.3)
    near = np.argsort(-np.asarray(truth.means))[:11]
    for i in near:
        left.plot(marks, curves[:, i], color=RED if right[i] else GREY, lw=1.3)
    left.plot([], [], color=RED, label="stands out")
    left.plot([], [], color=GREY, label="does not")
    left.set_ylabel("chance to stand out")
    ax.plot(marks, [look[1] for look in looks], color=BLUE, label="expected wrong")
    ax.step(marks, [look[2] for look in looks], color=RED, where="post", label="wrong")
    ax.axhline(0.5, color=BAND, lw=1, ls="--", label="errors=0.5")
    for each in (left, ax):
        each.set_xscale("log")
        each.set_xlabel("pulls of all 123 wines, log scale")
        each.legend(
            fontsize="small", frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1)
        )
    return figure


def terms() -> Any:
    """The words of the glossary on one picture: means, median, MAD, threshold, intervals."""
    means = np.array([1.2, 1.6, 1.9, 2.0, 2.2, 2.5, 2.7, 2.9, 3.1, 3.6, 6.6])
    centre = float(np.median(means))
    mad = float(np.median(abs(means - centre)))
    edge = centre + 3 * 1.4826 * mad
    figure, (ax,) = axes(1, 8.5, 3.6)
    rows = np.arange(len(means))
    half = np.array([0.5, 0.45, 0.5, 0.4, 0.3, 0.3, 0.3, 0.35, 0.4, 0.5, 0.7])
    ax.axvspan(edge - 0.55, edge + 0.5, color=BAND, alpha=0.22, lw=0)
    ax.axvline(edge, color=BAND, lw=1.5)
    ax.axvline(centre, color=BAND, lw=1, ls=":")
    for row, mean, width in zip(rows, means, half, strict=True):
        colour = RED if mean > edge else GREY
        ax.plot([mean - width, mean + width], [row, row], color=colour, lw=1.5)
        ax.plot(mean, row, "^" if mean > edge else "o", color=colour, ms=6)
    top = len(means) + 0.4
    ax.annotate("", (centre + mad, top), (centre, top), arrowprops={"arrowstyle": "<->"})
    ax.text(centre + mad / 2, top + 0.5, "MAD", ha="center")
    ax.annotate("", (edge, top - 1.9), (centre, top - 1.9), arrowprops={"arrowstyle": "<->"})
    ax.text((centre + edge) / 2, top - 1.5, "k × 1.4826 × MAD", ha="center")
    for x, y, words, side in (
        (centre - 0.06, top + 0.5, "median", "right"),
        (edge + 0.6, top + 0.5, "threshold and its interval", "left"),
        (6.6, 8.9, "outlier", "center"),
        (2.6, -0.2, "an arm: its estimate and interval", "left"),
    ):
        ax.text(x, y, words, ha=side)
    ax.set_ylim(-0.8, top + 1.4)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("mean reward")
    return figure


def crossing() -> Any:
    """An alternative as the crossing bet sees it: only one arm leaves its cell."""
    figure, (ax,) = axes(1, 8.5, 2.3)
    ends = {"M − d": 2.0, "M": 3.0, "M + d": 4.0, "M + F d": 6.2}
    for number, (name, x) in enumerate(ends.items()):
        ax.axvline(x, ymax=0.75, color=BAND, lw=1.5, ls="-" if number == 3 else ":")
        ax.text(x, 1.45, name, ha="center")
    moves = ((1.1, 1.4), (2.3, 2.6), (3.4, 3.2), (3.7, 3.85), (4.9, 5.1), (6.7, 5.6))
    for seen, moved in moves:
        crosses = any(min(seen, moved) < x < max(seen, moved) for x in ends.values())
        colour = RED if crosses else GREY
        ax.annotate("", (moved, 0.5), (seen, 0.5), arrowprops={"arrowstyle": "->", "color": colour})
        ax.plot(seen, 0.5, "o", color=colour, ms=6)
    ax.text(5.9, 0.8, "pays", color=RED, ha="center")
    ax.text(2.45, 0.8, "free", color=GREY, ha="center")
    ax.set_ylim(0, 1.8)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("estimates (dots), and where an alternative puts them (arrows)")
    return figure


def comparison() -> Any:
    """The table of docs/comparison.md: wrong answers against pulls."""
    page = (FOLDER.parent / "comparison.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+) % \| [\d.]+ \| ([\d,]+) \|", page, re.MULTILINE)
    figure, (ax,) = axes(1, 8.5, 3.6)
    for name, wrong, pulls in rows:
        if float(wrong) == 100:
            continue
        x, y = float(pulls.replace(",", "")), float(wrong)
        ours = name.startswith("standout")
        ax.plot(x, y, "^" if ours else "o", color=RED if ours else GREY, ms=6)
        short = re.split(r", (?:95|one|told|40)| \(", name.replace("`", ""))[0]
        short = short.replace("…", "MAD rule on averages").replace(" pulls each", "")
        goal = re.search(r"errors=[\d.]+", name)
        words = f"{short}, {goal[0]}" if goal else short
        place = OFFSETS.get(words, (6, 6))
        ax.annotate(words, (x, y), place, textcoords="offset points", fontsize="small")
    ax.axhline(5, color=BAND, lw=1, ls="--")
    ax.set_xscale("log")
    ax.set_xlim(150, 60_000)
    ax.set_ylim(-1, 25)
    ax.set_xlabel("mean pulls, log scale")
    ax.set_ylabel("wrong answers, %")
    return figure


def when_not() -> Any:
    """A question that fits, and two that do not: most arms equal, and means that drift."""
    figure, (fits, equal, drifting) = axes(3, 8.5, 2.6)
    spread = np.array([1.2, 1.6, 1.9, 2.1, 2.3, 2.6, 2.9, 3.2, 6.8])
    ties = np.array([1.0, 1.6, 2.0, 2.0, 2.0, 2.0, 2.0, 2.3, 6.8])
    for ax, means, words in (
        (fits, spread, "it fits"),
        (equal, ties, "most arms are equal: MAD 0"),
    ):
        centre = float(np.median(means))
        edge = centre + 3 * 1.4826 * float(np.median(abs(means - centre)))
        ax.axvline(edge, color=BAND, lw=1.5)
        ax.text(edge + 0.15, -0.2, "threshold", color=BAND, fontsize="small")
        for row, mean in enumerate(means):
            is_out = mean > edge
            ax.plot(mean, row, "^" if is_out else "o", color=RED if is_out else GREY, ms=5)
        ax.set_title(words, fontsize="medium", loc="left")
        ax.set_xlabel("true mean")
        ax.set_xlim(0, 7.5)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    week = np.arange(29)
    for level in (1.6, 2.0, 2.4):
        drifting.plot(week, level + 1.2 * np.sin(2 * np.pi * week / 7), color=GREY, lw=1.2)
    drifting.set_title("means drift", fontsize="medium", loc="left")
    drifting.set_xlabel("day")
    drifting.set_ylabel("mean")
    return figure


def scale() -> Any:
    """The table of docs/scale.md: time of single steps against the number of arms."""
    page = (FOLDER.parent / "scale.md").read_text("utf-8")
    rows = re.findall(
        r"^\| ([\d,]+) \| ([\d.]+) s \| ([\d.]+) s \| ([\d.]+) ms", page, re.MULTILINE
    )
    arms = [float(row[0].replace(",", "")) for row in rows]
    figure, (ax,) = axes(1, 7.5, 3.0)
    for column, words, unit, shape, colour in (
        (1, "create a study", 1.0, "s", GREY),
        (2, "open it, status", 1.0, "o", BLUE),
        (3, "ask for 100 pulls", 1e-3, "^", RED),
    ):
        seconds = [float(row[column]) * unit for row in rows]
        ax.plot(arms, seconds, f"{shape}-", color=colour, ms=5, lw=1.2, label=words)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("arms, log scale")
    ax.set_ylabel("seconds, log scale")
    ax.legend(fontsize="small", frameon=False)
    return figure


FIGURES: dict[str, Callable[[], Any]] = {
    made.__name__.replace("_", "-"): made
    for made in (focus, joint, intervals, chances, terms, crossing, comparison, when_not, scale)
}


def main() -> None:
    """Make the figures that are named, or all."""
    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "standout"
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    for name in sys.argv[1:] or FIGURES:
        path = FOLDER / f"how-{name}.svg"
        FIGURES[name]().savefig(path)
        print(f"{path.name}  {path.stat().st_size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
