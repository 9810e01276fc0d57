"""That joint and combined take no more pulls than focus, where joint once did."""

from __future__ import annotations

import numpy as np
import pytest

from standout import Problem, simulate
from standout.core.noise import parse_noise
from standout.simulation.instances import FixedFamily, Instance, NumberedArms

CROWDED = [
    -1.5, -0.93, -0.82, -0.57, -0.55, -0.53, -0.23, -0.06, 0.21, 0.23,
    0.3, 0.31, 0.43, 0.64, 0.65, 0.71, 1.05, 1.24, 1.53, 3.61,
]  # fmt: skip
NEAR = [-1.24, -1.01, -0.69, -0.45, -0.44, -0.24, -0.18, -0.14, -0.1, 0.06, 0.07, 0.41]
EVEN = [*np.linspace(0.0, 2.0, 15).tolist(), 3.2, 3.4]


@pytest.mark.parametrize(
    ("means", "noise", "k", "tolerance"),
    [
        (EVEN, "gaussian:0.05", 2.0, 0.0),  # a handful of pulls per arm decides
        (NEAR, "gaussian:0.5", 2.0, 0.5),  # where a flip ends depends on the tolerance
        (CROWDED, "gaussian:0.5", 1.5, 0.2),  # the next alternatives move other arms
    ],
)
def test_it_is_not_worse_than_focus(
    means: list[float], noise: str, k: float, tolerance: float
) -> None:
    # Once .87, .51 and .73 times fewer pulls, over 10 to 60 runs of other seeds. This one is fixed.
    arms = NumberedArms(len(means))
    instance = Instance("drawn", arms, np.array(means), parse_noise(noise), None)
    problem = Problem(noise=noise, k=k, tolerance=tolerance)
    family = FixedFamily(instance, default_k=k)
    methods = ["focus", "joint", "combined"]
    focus, *others = simulate(family, methods, problem, runs=12, seed=3, jobs=1).results
    for result in others:
        assert focus.wrong == result.wrong == 0
        assert result.pulls.mean() <= 1.05 * focus.pulls.mean()
