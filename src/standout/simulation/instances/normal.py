"""`normal`: many means from a clipped normal distribution and a few that stand out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.noise import Bernoulli, Gaussian, Noise
from standout.core.problem import MIN_ARMS
from standout.core.typing import Floats
from standout.errors import InstanceError
from standout.simulation.instances.base import (
    FixedFamily,
    Instance,
    InstanceFamily,
    make_instance,
)
from standout.simulation.instances.family_options import number, read_options, whole

CLIP = 3.0
"""Normal means are clipped to this many standard deviations (paper, section 7.2)."""


def contaminated_means(
    rng: np.random.Generator,
    *,
    n_normal: int,
    n_outliers: int,
    mean: float = 0.3,
    sd: float = 0.075,
    low: float = 0.8,
    high: float = 1.0,
) -> Floats:
    """Means from N(mean, sd^2) clipped at 3 sd, then outliers from U(low, high)."""
    normal = rng.normal(mean, sd, n_normal)
    np.clip(normal, mean - CLIP * sd, mean + CLIP * sd, out=normal)
    return np.concatenate([normal, rng.uniform(low, high, n_outliers)])


@dataclass(frozen=True)
class NormalFamily(InstanceFamily):
    """New means in every run: `n` arms in all, `outliers` of them from U(low, high)."""

    n: int = 1001
    outliers: int = 5
    mean: float = 0.3
    sd: float = 0.075
    low: float = 0.8
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.outliers > self.n:
            raise InstanceError(
                f"{self.name}: outliers={self.outliers} is more than the n={self.n} arms there are"
            )
        if self.sd < 0:
            raise InstanceError(f"{self.name}: sd must not be negative, it is {self.sd:g}")
        if self.low > self.high:
            raise InstanceError(f"{self.name}: low={self.low:g} is above high={self.high:g}")
        least, most = self.noise.support
        smallest = min(self.mean - CLIP * self.sd, self.low)
        largest = max(self.mean + CLIP * self.sd, self.high)
        # Checked before the first run: an impossible mean might be drawn only in the last one.
        if smallest < least or largest > most:
            raise InstanceError(
                f"{self.name}: means reach from {smallest:g} to {largest:g} (3 sd around mean, "
                f"low to high), but with {self.noise.name} noise they must lie in "
                f"[{least:g}, {most:g}]; change them or use noise=gaussian"
            )

    def draw(self, rng: np.random.Generator) -> Instance:
        """Draw the means of one run."""
        shape = {name: getattr(self, name) for name in ("mean", "sd", "low", "high")}
        normal = self.n - self.outliers
        means = contaminated_means(rng, n_normal=normal, n_outliers=self.outliers, **shape)
        return make_instance(self.name, means, self.noise)


OPTIONS = ("n", "outliers", "mean", "sd", "low", "high", "noise", "sigma", "seed")


def parse_normal(text: str) -> InstanceFamily:
    """Read the options of `normal:...`.

    ========  =========  ====================================================
    option    default    meaning
    ========  =========  ====================================================
    n         1001       all arms, outliers included
    outliers  5          how many of them are drawn from U(low, high)
    mean, sd  0.3 0.075  the other means: normal, clipped at 3 sd
    low       0.8        least mean of an outlier
    high      1          largest mean of an outlier
    noise     bernoulli  `bernoulli` or `gaussian`
    sigma     0.5        scale of the noise, with noise=gaussian only
    seed      none       draw once with this seed, the same means in every run
    ========  =========  ====================================================
    """
    options = read_options("normal", text, OPTIONS)
    family = NormalFamily(
        name=f"normal:{text}" if text else "normal",
        noise=_noise(options),
        n=whole("normal", options, "n", NormalFamily.n, MIN_ARMS),
        outliers=whole("normal", options, "outliers", NormalFamily.outliers, 0),
        **{
            name: number("normal", options, name, getattr(NormalFamily, name))
            for name in ("mean", "sd", "low", "high")
        },
    )
    if "seed" not in options:
        return family
    seed = whole("normal", options, "seed", 0, 0)
    return FixedFamily(family.draw(np.random.default_rng(seed)))


def _noise(options: dict[str, str]) -> Noise:
    family = options.get("noise", "bernoulli").lower()
    if family == "gaussian":
        sigma = number("normal", options, "sigma", 0.5)
        if sigma <= 0:
            raise InstanceError(f"option 'sigma' of normal must be above 0, not {sigma:g}")
        return Gaussian(sigma)
    if family != "bernoulli":
        raise InstanceError(
            f"option 'noise' of normal must be bernoulli or gaussian, not {family!r}"
        )
    if "sigma" in options:
        raise InstanceError("option 'sigma' of normal goes with noise=gaussian only")
    return Bernoulli()
