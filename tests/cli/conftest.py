"""Both storages, for the commands on studies."""

from __future__ import annotations

from tests.study.conftest import folder, place, server

__all__ = ["folder", "place", "server"]
