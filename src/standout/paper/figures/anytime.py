"""Error rates over time: what Fig. 4 and Fig. 5 share, and the paper's claims about both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from standout.core.typing import Floats
from standout.paper.claims import Claim, judge
from standout.paper.estimate import first_crossings, interval, resampling_weights, wilson
from standout.paper.figures.figure import Job
from standout.paper.figures.methods import (
    HEADINGS,
    MEAN_STD,
    RELEASED,
    ROBUST,
    VERSIONS,
    Player,
    seen_in,
)
from standout.paper.runs import Part, Played
from standout.paper.style import LOOKS, in_thousands, panels
from standout.paper.table import Row, Table, Value, make_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BUDGET = 10_000
CHECKPOINTS = tuple(range(200, BUDGET + 1, 200))
LEVELS = (0.5, 0.4, 0.3, 0.2, 0.1)
"""Error levels at which pulls are compared."""

PLAYERS = ROBUST + MEAN_STD
PAIRS = (("RR", "LUCB"), ("WRR", "LUCB"), ("Random", "LUCB"), ("Random", "Elim"))
"""Pairs of methods whose ratio of pulls at equal error is computed."""

DIFFERENCES = (("RR", "Random"), ("WRR", "Random"), ("Elim", "Random"), ("Random", "LUCB"))
"""Pairs of methods whose difference of errors is averaged over the checkpoints."""

_EVERY = 5
"""A marker and an error bar at every fifth checkpoint; the line goes through all."""

_WRR_NOTE = "the released code's WRR never makes\nan extra pull: its curve is RR's"
_ELIM_NOTE = "Elim drops no arm so early:\nit errs exactly where Random does"

ABOUT_FIVE = (4.0, 6.25)
"""Five within a factor of 1.25 either way."""

SIMILAR = (0.8, 1.25)
"""Equal within a factor of 1.25 either way."""

WRR_NOTE = (
    "the authors' WRR never makes an extra pull, so the paper's WRR curve is RR's; here it is the "
    "algorithm of Zhuang et al."
)


def parts(figure: str, instance: str, n_arms: int) -> Sequence[Part]:
    """Every method, for 10,000 pulls, with a checkpoint every 200."""
    return [
        Part(
            key=f"{figure}/{player.key}",
            instance=instance,
            method=player.method,
            cost=1e-6 * player.speed * n_arms * BUDGET,
            budget=BUDGET,
            checkpoints=CHECKPOINTS,
        )
        for player in PLAYERS
    ]


def tables(figure: str, played: Played, job: Job) -> dict[str, Table]:
    """The curves, the pulls at equal error, and the differences of error."""
    errors = {player.key: played[f"{figure}/{player.key}"].errors for player in PLAYERS}
    weights = resampling_weights(job.runs, job.seed)
    samples = {key: weights @ values for key, values in errors.items()}
    return {
        f"{figure}_curves": _curves(errors, job.runs),
        f"{figure}_ratios": _ratios(errors, samples),
        f"{figure}_differences": _differences(errors, samples),
    }


def player_of(name: str, version: str) -> Player:
    """The player of a name in the panel of `version`."""
    return next(player for player in seen_in(version, PLAYERS) if player.name == name)


def _curves(errors: dict[str, Floats], runs: int) -> Table:
    rows = []
    for player in PLAYERS:
        curve = errors[player.key].mean(axis=0)
        for mark, value in zip(CHECKPOINTS, curve, strict=True):
            ends = wilson(float(value), runs)
            rows.append((player.version, player.name, mark, runs, float(value), *ends))
    return make_table("version method pulls runs error_rate low high", rows)


def _ratios(errors: dict[str, Floats], samples: dict[str, Floats]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for version in VERSIONS:
        for slow, fast in PAIRS:
            one, other = (player_of(name, version).key for name in (slow, fast))
            for level in LEVELS:
                # The crossings of the curve and of its bootstrap samples.
                late, early = (
                    first_crossings(
                        np.vstack([errors[key].mean(axis=0), samples[key]]), CHECKPOINTS, level
                    )
                    for key in (one, other)
                )
                # NaN if neither reaches the level, infinite if the slow one does not.
                with np.errstate(invalid="ignore"):
                    ratios = late / early
                rows.append(
                    (version, slow, fast, level, float(late[0]), float(early[0]),
                     float(ratios[0]), *interval(ratios[1:]))
                )  # fmt: skip
    columns = "version slow fast level slow_pulls fast_pulls ratio ratio_low ratio_high"
    return make_table(columns, rows)


def _differences(errors: dict[str, Floats], samples: dict[str, Floats]) -> Table:
    rows = []
    for version in VERSIONS:
        for worse, better in DIFFERENCES:
            one, other = (player_of(name, version).key for name in (worse, better))
            curve = errors[one].mean(axis=0) - errors[other].mean(axis=0)
            ends = interval((samples[one] - samples[other]).mean(axis=1))
            within = errors[one] - errors[other]
            spread = within.std(axis=0, ddof=1) / np.sqrt(len(within))
            above, below = int(np.sum(curve > 2 * spread)), int(np.sum(curve < -2 * spread))
            rows.append(
                (version, worse, better, len(within), float(curve.mean()), *ends,
                 float(curve.min()), float(curve.max()), above, below,
                 int(np.sum(np.all(within == 0, axis=1))))
            )  # fmt: skip
    return make_table(
        "version method baseline runs difference low high smallest largest "
        "checkpoints_above checkpoints_below equal_runs",
        rows,
    )


def draw_curves(curves: Table, differences: Table, title: str) -> Figure:
    """Share of runs with a wrong best guess against pulls, once per version."""
    with panels(10.4, 4.8, columns=2) as (figure, axes):
        for ax, (version, heading) in zip(axes, HEADINGS.items(), strict=True):
            _draw_version(ax, version, curves)
            ax.set_title(heading)
            ax.set_xlabel("pulls")
            ax.set_xlim(0, BUDGET * 1.01)
            ax.set_ylim(0, 1.04)
            ax.xaxis.set_major_formatter(in_thousands)
        axes[0].set_ylabel("share of runs with a wrong outlier set")
        _note(axes[0], _WRR_NOTE)
        row = next(iter(differences.where(version=RELEASED, method="Elim")))
        if row["equal_runs"] == row["runs"]:
            _note(axes[1], _ELIM_NOTE)
        # Below the panels, because no corner inside is free of curves.
        figure.legend(
            *axes[0].get_legend_handles_labels(),
            loc="outside lower center", ncols=len(LOOKS), handlelength=3.6, frameon=False,
        )  # fmt: skip
        figure.suptitle(title, fontsize=12)
    return figure


def _draw_version(ax: Axes, version: str, curves: Table) -> None:
    for place, player in enumerate(seen_in(version, PLAYERS)):
        rows = curves.where(version=player.version, method=player.name)
        # Shifted per method, so that bars and markers do not overlap.
        every = (place, _EVERY)
        rates = np.array(rows.numbers("error_rate"))
        below, above = rates - rows.numbers("low"), rows.numbers("high") - rates
        ax.errorbar(
            rows.numbers("pulls"), rates, yerr=np.maximum(0.0, [below, above]),
            errorevery=every, markevery=every, label=player.name, **LOOKS[player.name].options(),
        )  # fmt: skip


def _note(ax: Axes, text: str) -> None:
    ax.text(
        0.985, 0.98, text,
        transform=ax.transAxes, ha="right", va="top", fontsize=8.5, style="italic",
    )  # fmt: skip


def five_times(figure: str, ratios: Table) -> Claim:
    """LUCB's pulls against those of RR and WRR at the same error."""
    said, seen = [], []
    for version in VERSIONS:
        for slow in ("RR", "WRR"):
            rows = list(ratios.where(version=version, slow=slow, fast="LUCB"))
            reached = [row for row in rows if math.isfinite(float(row["ratio"]))]
            seen += [(slow, float(row["ratio"])) for row in reached]
            texts = [_ratio_text(row) for row in reached] or [_never(slow, rows)]
            said.append(f"{slow} / LUCB {version}: {', '.join(texts)}")
    low, high = ABOUT_FIVE
    near = [low <= ratio <= high for _, ratio in seen]
    levels = ", ".join(f"{level:g}" for level in LEVELS)
    where = (
        "" if figure == "fig4" else " (said of Fig. 4 and in the conclusion, not of the wine data)"
    )
    return Claim(
        f"{figure}-five-times", figure,
        f"LUCB needs about 5 times fewer pulls than RR/WRR for the same error{where}",
        "; ".join(said),
        judge(bool(near) and all(near), any(near) or all(ratio > 2 for _, ratio in seen)),
        f"Ratio of the pulls at which the curves first come down to error {levels} (those that RR "
        f"or WRR reach in {BUDGET:,} pulls), interpolated between checkpoints, 95 % bootstrap "
        f"interval over runs; holds if every ratio is {low:g} to {high:g}. Remark: {WRR_NOTE}",
    )  # fmt: skip


def rr_worse(figure: str, differences: Table) -> Claim:
    """RR and WRR against uniform sampling with the robust threshold."""
    rows = {name: _row(differences, RELEASED, name, "Random") for name in ("RR", "WRR")}
    worse = {name: float(row["low"]) > 0 for name, row in rows.items()}
    steady = {name: row["checkpoints_below"] == 0 for name, row in rows.items()}
    said = "; ".join(f"{name} {_difference_text(row)}" for name, row in rows.items())
    return Claim(
        f"{figure}-rr-worse", figure, "RR and WRR have a higher error than Random",
        said, judge(all(worse.values()) and all(steady.values()), any(worse.values())),
        "Holds if the error less Random's, averaged over the checkpoints, is above 0 with its "
        "95 % interval and at no checkpoint 2 standard errors below 0, for both. Remark: "
        + WRR_NOTE,
    )  # fmt: skip


def elim_like_random(figure: str, ratios: Table, differences: Table) -> Claim:
    """Elim against Random, at equal error and on average."""
    low, high = SIMILAR
    similar, equal, said = {}, {}, []
    for version in VERSIONS:
        rows = [
            row
            for row in ratios.where(version=version, slow="Random", fast="Elim")
            if math.isfinite(float(row["slow_pulls"])) and math.isfinite(float(row["fast_pulls"]))
        ]
        values = [float(row["fast_pulls"]) / float(row["slow_pulls"]) for row in rows]
        similar[version] = bool(values) and all(low <= value <= high for value in values)
        texts = [
            f"{value:.2f} at error {row['level']:g}"
            for row, value in zip(rows, values, strict=True)
        ]
        row = _row(differences, version, "Elim", "Random")
        equal[version] = int(row["equal_runs"])
        said.append(
            f"as {version} {', '.join(texts) or 'no level reached'}, error {_difference_text(row)}"
        )
    return Claim(
        f"{figure}-elim-random", figure, "Elim's error over time is similar to Random's",
        "Pulls of Elim over those of Random: " + "; ".join(said),
        judge(all(similar.values()), any(similar.values())),
        f"Holds if the ratio is {low:g} to {high:g} at every error level that both reach, in both "
        f"versions. As released, {equal[RELEASED]} runs err at the very same checkpoints as "
        f"Random's: in {BUDGET:,} pulls the intervals are too wide for any arm to be dropped, so "
        "Elim draws from all arms, which is Random",
    )  # fmt: skip


def lucb_best(figure: str, ratios: Table, differences: Table) -> Claim:
    """LUCB against every other method."""
    said, better = [], []
    for version in VERSIONS:
        row = _row(differences, version, "Random", "LUCB")
        better.append(float(row["low"]) > 0)
        texts = [
            _ratio_text(ratio)
            for ratio in ratios.where(version=version, slow="Random", fast="LUCB")
            if math.isfinite(float(ratio["ratio"]))
        ]
        said.append(
            f"as {version}: Random's error {_difference_text(row)}, its pulls "
            + (", ".join(texts) or "nowhere comparable")
        )
    large = all(
        float(_row(differences, version, "Random", "LUCB")["difference"]) > 0.05
        for version in VERSIONS
    )
    return Claim(
        f"{figure}-lucb-best", figure, "LUCB greatly outperforms the other algorithms",
        "; ".join(said), judge(all(better) and large, any(better)),
        "Random is the best of the others by their own claims; holds if its error is higher than "
        "LUCB's by more than 0.05 on average over the checkpoints, with the 95 % interval above 0",
    )  # fmt: skip


def _row(table: Table, version: str, method: str, baseline: str) -> Row:
    return next(iter(table.where(version=version, method=method, baseline=baseline)))


def _ratio_text(row: Row) -> str:
    low, high = float(row["ratio_low"]), float(row["ratio_high"])
    end = f"{high:.1f}" if math.isfinite(high) else "∞"
    return f"{row['ratio']:.1f} ({low:.1f} to {end}) at error {row['level']:g}"


def _never(slow: str, rows: list[Row]) -> str:
    top = float(rows[0]["level"])
    fast = float(rows[0]["fast_pulls"])
    return f"{slow} never gets to {top:g}, so more than {BUDGET / fast:.1f} there"


def _difference_text(row: Row) -> str:
    return (
        f"{row['difference']:+.3f} on average ({row['low']:+.3f} to {row['high']:+.3f}; "
        f"{row['smallest']:+.3f} to {row['largest']:+.3f} over the checkpoints)"
    )
