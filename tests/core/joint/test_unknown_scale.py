"""Why rewards of an unknown scale have no part in the joint bet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout import METHODS, Problem


def grown(n_arms: int, c: float, rng: np.random.Generator) -> np.ndarray:
    """student's process at the true means, 0, of arms that somebody who knows sigma pulls.

    Each is left as soon as its rewards look too little scattered and far off, from 7 pulls on.
    """
    total, squares, pulls = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    going = np.ones(n_arms, dtype=bool)
    for pull in range(1, 31):
        drawn = rng.standard_normal(np.count_nonzero(going))
        total[going] += drawn
        squares[going] += drawn**2
        pulls[going] = pull
        if pull >= 7:
            going &= ~((squares <= 0.9 * pulls) & (total**2 > 2 * squares))
    ratio = total**2 / squares / (pulls + c)
    return np.asarray(np.exp(0.5 * np.log(c / (pulls + c)) - 0.5 * pulls * np.log1p(-ratio)))


def test_whoever_sees_more_than_ratios_wins_against_the_t_mixture() -> None:
    # Its mean would be 1 at most if it were a supermartingale for whoever chooses arms; it lies
    # 10 standard errors above. An interval does not mind: that its process ever exceeds 1/alpha
    # has the same probability whoever chooses. A product of many does.
    found = grown(400_000, 40.0, np.random.default_rng(1))
    assert (found.mean() - 1) / (found.std() / math.sqrt(len(found))) > 10
    share = 0.8 / math.sqrt(19_999)
    assert (1 + share * (found.mean() - 1)) ** 19_999 > 2


@pytest.mark.parametrize("n_arms", [3, 300, 301, 19_999])
def test_joint_is_focus_where_the_scale_is_unknown(n_arms: int) -> None:
    problem = Problem(noise="gaussian", delta=0.1)
    joint, focus = (METHODS[name].spec(problem, n_arms) for name in ("joint", "focus"))
    names = ("rule", "range", "alpha", "rho", "scales", "growth", "share", "flips")
    assert [getattr(joint, name) for name in names] == [getattr(focus, name) for name in names]
    known = METHODS["joint"].spec(Problem(noise="gaussian:1", delta=0.1), n_arms)
    assert known.share > 0
    assert known.joint_delta < 0.1
