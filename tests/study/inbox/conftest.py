"""An inbox of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def runtime(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which locks and sockets are."""
    place = folder / "run"
    place.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    return place / "standout"
