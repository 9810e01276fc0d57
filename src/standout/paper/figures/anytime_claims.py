"""What the paper says about error rates over time, judged for Fig. 4 and Fig. 5 alike."""

from __future__ import annotations

import math

from standout.paper.claims import Claim, judge
from standout.paper.figures.anytime import BUDGET, LEVELS
from standout.paper.figures.methods import RELEASED, VERSIONS
from standout.paper.table import Row, Table

ABOUT_FIVE = (4.0, 6.25)
"""Five within a factor of 1.25 either way."""

SIMILAR = (0.8, 1.25)
"""Equal within a factor of 1.25 either way."""

WRR_NOTE = (
    "the authors' WRR never makes an extra pull, so the paper's WRR curve is RR's; here it is the "
    "algorithm of Zhuang et al."
)


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
