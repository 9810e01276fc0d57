"""Make the figures that explain: docs/images/how-*.svg, the same every time.

    python tools/make_figures.py [NAME ...]

`focus`, `joint`, `intervals` and `chances` are figures of the pages of these names. Pictures of
what a page itself runs come from `tools/run_pages.py --pictures`.
"""

from __future__ import annotations

import os
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


FIGURES: dict[str, Callable[[], Any]] = {
    made.__name__: made for made in (focus, joint, intervals, chances)
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
