"""Random: every step pulls an arm drawn uniformly from all."""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.state import Spec, State


@part()
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """One arm, uniformly."""
    state.chosen[0] = int(rng.random() * spec.n_arms)
    return 1
