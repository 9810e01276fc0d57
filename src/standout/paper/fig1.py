"""Fig. 1: stopping times against the bound of Theorem 2, as the threshold's gap shrinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from standout.core.problem import MAD_SCALE
from standout.core.typing import Floats
from standout.paper import fig1_claims, fig1_draw
from standout.paper.claims import Claim
from standout.paper.estimate import interval, line, mean_and_error, resampling_weights
from standout.paper.figure import Job
from standout.paper.lineup import EITHER, RANDOM, ROBUST, Player
from standout.paper.parts import Part, Played
from standout.paper.reference import Comparison
from standout.paper.table import Table, Tables, Value, make_table
from standout.simulation.instances.figures import fig1_means
from standout.theory import compute_gaps, upper_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "fig1"
TITLE = "Fig. 1: stopping time against the bound of Theorem 2"
ABOUT = (
    "17 Gaussian arms with σ = 0.5, k = 2 (times 1.4826), δ = 0.05. (a) The means; the two "
    "outliers move, the threshold does not. (b) Mean pulls until every arm is decided against "
    "Theorem 2 with C = 10, with a straight line fitted to each method. Left: the algorithms as "
    "published, in whole rounds; right: as in the authors' code, one random candidate per step, "
    "which made the paper's figure. Bars are 2 standard errors."
)
OWN_SECONDS = 0.002

GAPS = (0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.275, 0.25, 0.225, 0.2)
K, DELTA, CONSTANT = 2.0, 0.05, 10.0
EXPECTED = {"LUCB": 1.2, "Elim": 1.9, "Random": 3.7}
"""About how often its bound a method pulls; only to plan the work."""


def part_key(gap: float, player: Player) -> str:
    """The name of the runs of one method at one gap."""
    return f"fig1/gap={gap:g}/{player.key}"


def bound(gap: float) -> float:
    """Theorem 2 as in the figure: C = 10, k without the MAD's scale."""
    gaps = compute_gaps(fig1_means(gap), K * MAD_SCALE)
    return upper_bound(gaps, k=K, delta=DELTA, constant=CONSTANT)


def parts() -> Sequence[Part]:
    """Every method at every gap, until it stops."""
    return [
        Part(
            key=part_key(gap, player),
            instance=f"fig1:gap={gap:g}",
            method=player.method,
            cost=1e-6 * player.speed * 17 * EXPECTED[player.name] * bound(gap),
        )
        for gap in GAPS
        for player in ROBUST
    ]


def compute(played: Played, job: Job) -> dict[str, Table]:
    """The means (a), the stopping times (b) and the lines through them."""
    weights = resampling_weights(job.runs, job.seed)
    times: list[tuple[Value, ...]] = []
    fits: list[tuple[Value, ...]] = []
    bounds = np.array([bound(gap) for gap in GAPS])
    by_random = [_resampled(played, gap, _random(), weights) for gap in GAPS]
    for player in ROBUST:
        means, gains = [], []
        for j, gap in enumerate(GAPS):
            runs = played[part_key(gap, player)]
            mean, error = mean_and_error(runs.pulls)
            gain = by_random[j] / _resampled(played, gap, player, weights)
            ratio = float(played[part_key(gap, _random())].pulls.mean()) / mean
            times.append(
                (player.version, player.name, gap, float(bounds[j]), job.runs, mean, error,
                 2 * error, float(np.median(runs.pulls)), runs.wrong, ratio, *interval(gain))
            )  # fmt: skip
            means.append(mean)
            gains.append(np.log(gain))
        fits.append((player.version, player.name, *_fit(bounds, np.array(means), np.array(gains))))
    job.tick(OWN_SECONDS * job.runs)
    return {
        "fig1a": configuration(),
        "fig1b": make_table(
            "version method gap bound runs pulls error bar median_pulls wrong "
            "gain gain_low gain_high",
            times,
        ),
        "fig1b_fits": make_table(
            "version method slope intercept r_squared power growth growth_low growth_high", fits
        ),
    }


def configuration() -> Table:
    """The means of Fig. 1(a) at every gap."""
    theta = compute_gaps(fig1_means(GAPS[0]), K * MAD_SCALE)
    rows = [
        (gap, arm + 1, float(mean), "outlier" if mean > theta.threshold else "normal",
         theta.threshold, theta.median, theta.mad)
        for gap in GAPS
        for arm, mean in enumerate(fig1_means(gap))
    ]  # fmt: skip
    return make_table("gap arm mean kind threshold median mad", rows)


def draw(tables: Tables) -> Mapping[str, Figure]:
    """Fig. 1(a) and 1(b)."""
    return {
        "fig1a": fig1_draw.draw_means(tables["fig1a"]),
        "fig1b": fig1_draw.draw_times(tables["fig1b"], tables["fig1b_fits"]),
    }


def claims(tables: Tables) -> list[Claim]:
    """The threshold, the straight line, the gain over Random, the guarantee."""
    return fig1_claims.claims(tables)


def comparisons(tables: Tables) -> list[Comparison]:
    """Stopping times and bounds beside the authors' code's."""
    return fig1_claims.comparisons(tables)


def _random() -> Player:
    return next(player for player in ROBUST if player.method is RANDOM and player.version == EITHER)


def _resampled(played: Played, gap: float, player: Player, weights: Floats) -> Floats:
    """Bootstrap samples of the mean pulls."""
    means: Floats = weights @ played[part_key(gap, player)].pulls
    return means


def _fit(bounds: Floats, means: Floats, log_gains: Floats) -> tuple[float, ...]:
    """The line, the power in pulls ~ bound^power, the gain's growth in log(1 / gap)."""
    slope, intercept, r_squared = line(bounds, means)
    power, _, _ = line(np.log(bounds), np.log(means))
    hardness = -np.log(np.array(GAPS))
    centred = hardness - hardness.mean()
    growths: Floats = centred @ log_gains / (centred @ centred)
    low, high = interval(growths)
    return slope, intercept, r_squared, power, float(np.median(growths)), low, high
