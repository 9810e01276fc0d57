"""Settings of all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, so that a red build is red for everyone.
# HYPOTHESIS_PROFILE=search looks for new ones, at length.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=3000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str | bytes], str]:
    """Writes means to a file and gives its path."""

    def write(text: str | bytes) -> str:
        path = tmp_path / "means.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write
