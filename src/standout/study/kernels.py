"""Loops over many rewards, around the core's own step."""

from __future__ import annotations

from standout.core.engine import observe
from standout.core.jit import kernel
from standout.core.state import Spec, State
from standout.core.typing import Floats, Ints


@kernel
def observe_many(spec: Spec, state: State, arms: Ints, rewards: Floats) -> None:
    """Count rewards in this order."""
    for j in range(len(arms)):
        observe(spec, state, arms[j], rewards[j])
