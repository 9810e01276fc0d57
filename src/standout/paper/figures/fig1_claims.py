"""What the paper says about Fig. 1, judged; our numbers beside the authors' code's."""

from __future__ import annotations

from standout.paper import reference
from standout.paper.claims import Claim, judge
from standout.paper.figures.methods import EITHER, PUBLISHED, RELEASED, VERSIONS
from standout.paper.reference import Comparison, exact, measured
from standout.paper.table import Table, Tables

ADAPTIVE = [(name, version) for version in VERSIONS for name in ("LUCB", "Elim")]
STRAIGHT = 0.98
"""R² from which the points are said to lie on a line."""


def claims(tables: Tables) -> list[Claim]:
    """All claims of the figure."""
    times, fits = tables["fig1b"], tables["fig1b_fits"]
    return [
        _threshold(tables["fig1a"]),
        _linear(fits),
        _beats_random(times),
        _gain_grows(times, fits),
        _guarantee(times),
    ]


def comparisons(tables: Tables) -> list[Comparison]:
    """Stopping times of the released versions, bounds and threshold."""
    means, times = tables["fig1a"], tables["fig1b"]
    found = [
        exact("fig1", name, text, means.numbers(name)[0])
        for name, text in reference.FIG1_NUMBERS.items()
    ]
    for gap, text in reference.FIG1_BOUNDS.items():
        ours = times.number("bound", version=EITHER, gap=gap)
        found.append(exact("fig1", f"upper bound, gap {gap:g}", text, ours))
    for (name, gap), value in reference.FIG1_PULLS.items():
        version = EITHER if name == "Random" else RELEASED
        row = times.where(version=version, method=name, gap=gap)
        pulls = (row.numbers("pulls")[0], row.numbers("error")[0])
        found.append(measured("fig1", f"pulls of {name}, gap {gap:g}", value, pulls))
    return found


def _threshold(means: Table) -> Claim:
    theta = means.numbers("threshold")[0]
    return Claim(
        "fig1-threshold", "fig1", "The threshold θ is about 2.837 at every gap",
        f"θ = {theta:.4f}", judge(abs(theta - 2.837) < 5e-4, False),
        "It is computed from the means and does not move with the two outliers",
    )  # fmt: skip


def _linear(fits: Table) -> Claim:
    rows = {key: fits.where(method=key[0], version=key[1]) for key in ADAPTIVE}
    r2 = {key: row.numbers("r_squared")[0] for key, row in rows.items()}
    powers = {key: row.numbers("power")[0] for key, row in rows.items()}
    of_random = fits.number("r_squared", method="Random")
    said = "; ".join(
        f"{name} {version}: R² {r2[name, version]:.4f}, pulls ~ bound^{powers[name, version]:.2f}"
        for name, version in ADAPTIVE
    )
    return Claim(
        "fig1-linear", "fig1",
        "Stopping time is linear in the bound of Theorem 2, so the bound is right up to constants",
        f"{said}; Random: R² {of_random:.4f}",
        judge(min(r2.values()) >= STRAIGHT, min(r2.values()) >= 0.95),
        f"Holds if every R² is at least {STRAIGHT}. The lines do not go through the origin: "
        "pulls grow as a power of the bound that is a little off 1. Random's points lie on a line "
        "too, although the theorem is not about it: the figure shows that the bound scales about "
        "rightly with the gap, not that it singles out the adaptive algorithms",
    )  # fmt: skip


def _beats_random(times: Table) -> Claim:
    low, said = {}, []
    for name, version in ADAPTIVE:
        rows = times.where(method=name, version=version)
        low[name, version] = min(rows.numbers("gain_low"))
        gains = rows.numbers("gain")
        said.append(f"{name} {version} {min(gains):.2f} to {max(gains):.2f} times fewer")
    sure = sum(value > 1 for value in low.values())
    return Claim(
        "fig1-beats-random", "fig1", "The adaptive algorithms always need fewer pulls than Random",
        "; ".join(said) + f"; the smallest 95 % lower end is {min(low.values()):.2f}",
        judge(sure == len(low), sure >= 1),
        "Holds if the 95 % bootstrap interval of the ratio of mean pulls lies above 1 at all ten "
        "gaps for both algorithms in both versions",
    )  # fmt: skip


def _gain_grows(times: Table, fits: Table) -> Claim:
    grown, said = [], []
    for name, version in ADAPTIVE:
        gains = times.where(method=name, version=version).numbers("gain")
        fit = next(iter(fits.where(method=name, version=version)))
        grown.append(float(fit["growth_low"]) > 0)
        said.append(
            f"{name} {version} {gains[0]:.2f} → {gains[-1]:.2f} (exponent {fit['growth']:.2f}, "
            f"95 % {fit['growth_low']:.2f} to {fit['growth_high']:.2f})"
        )
    return Claim(
        "fig1-gain-grows", "fig1", "The gain over Random grows with the hardness of the problem",
        "Gain at gap 0.6 → 0.2: " + "; ".join(said),
        judge(all(grown), any(grown)),
        "Holds if the exponent of gain ~ gap^-exponent is above 0 with its whole 95 % bootstrap "
        "interval for both algorithms in both versions",
    )  # fmt: skip


def _guarantee(times: Table) -> Claim:
    worst = max(
        float(row["wrong"]) / float(row["runs"]) for row in times if row["version"] == PUBLISHED
    )
    wrong, runs = sum(times.numbers("wrong")), sum(times.numbers("runs"))
    return Claim(
        "fig1-guarantee", "fig1", "The answer is wrong with probability at most δ = 0.05 (Thm. 1)",
        f"{wrong:.0f} wrong answers in {runs:.0f} runs of all methods and gaps",
        judge(worst <= 0.05, False),
        "σ = 0.5 is the one scale for which the printed radius is right; the general radius has "
        "a factor 2σ (see the errata)",
    )  # fmt: skip
