"""The instances of the paper's experiments (section 7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources

import numpy as np

from standout.core import robust
from standout.core.noise import Bernoulli, Gaussian, Noise
from standout.core.problem import MAD_SCALE
from standout.core.typing import Flags, Floats
from standout.errors import InstanceError
from standout.simulation.instances.base import (
    FixedFamily,
    Instance,
    InstanceFamily,
    make_instance,
)
from standout.simulation.instances.family_options import number, read_options
from standout.simulation.instances.normal import contaminated_means
from standout.simulation.instances.table import read_table


def fig1_means(gap: float) -> Floats:
    """15 evenly spaced means from 0 to 2, and two outliers at theta + gap and theta + gap + 0.2.

    theta (2.8373 with k = 2) does not depend on the gap.
    """
    normal = np.linspace(0.0, 2.0, 15)
    far = np.full(2, 10.0)
    theta = robust.threshold(np.concatenate([normal, far]), 2 * MAD_SCALE)
    return np.concatenate([normal, [theta + gap, theta + gap + 0.2]])


def parse_fig1(text: str) -> InstanceFamily:
    """Read `fig1:gap=...`: 17 Gaussian arms with sigma 0.5; the gap is 0.4 by default."""
    gap = number("fig1", read_options("fig1", text, ("gap",)), "gap", 0.4)
    if gap <= 0:
        raise InstanceError(f"option 'gap' of fig1 must be above 0, not {gap:g}")
    instance = make_instance(f"fig1:gap={gap:g}", fig1_means(gap), Gaussian(0.5))
    return FixedFamily(instance, default_k=2.0)


@dataclass(frozen=True)
class Fig4Family(InstanceFamily):
    """100 normal means and 5 outliers from U(0.8, 1), with Bernoulli noise, new in every run.

    Only means on which the median-MAD, the mean-std and the true threshold (0.525) agree are kept,
    so that methods for either threshold have the same truth.
    """

    name: str = "fig4"
    noise: Noise = field(default_factory=Bernoulli)

    def draw(self, rng: np.random.Generator) -> Instance:
        """Draw means until the thresholds agree; about 93 of 100 draws do."""
        while True:
            means = contaminated_means(rng, n_normal=100, n_outliers=5)
            if thresholds_agree(means):
                return make_instance(self.name, means, self.noise)


def thresholds_agree(means: Floats) -> bool:
    """Whether all three thresholds of Fig. 4 give the same outliers."""
    true: Flags = means > 0.525
    robust_ones = robust.outliers(means, 3 * MAD_SCALE)
    spread_ones = means > robust.mean_std_threshold(means, 3.0)
    return bool(np.array_equal(true, robust_ones) and np.array_equal(true, spread_ones))


def parse_fig4(text: str) -> InstanceFamily:
    """Read `fig4`, which has no options."""
    read_options("fig4", text, ())
    return Fig4Family()


def parse_wine(text: str) -> InstanceFamily:
    """Read `wine`: the 123 wines of Fig. 5, by their first principal component. No options.

    The names contain the row of scikit-learn's `load_wine`.
    """
    read_options("wine", text, ())
    file = resources.files("standout.simulation").joinpath("data", "wine.csv")
    table = read_table(file.read_text(encoding="utf-8"), "wine")
    return FixedFamily(Instance("wine", table.arms, table.means, Bernoulli()))
