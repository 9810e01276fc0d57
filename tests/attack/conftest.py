"""Settings of the attack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.study.conftest import folder

__all__ = ["folder"]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Kernels as plain Python warn where compiled ones give an infinity."""
    with np.errstate(all="ignore"):
        yield
