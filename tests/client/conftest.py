"""A service on a new place, for its clients."""

from __future__ import annotations

from tests.service.conftest import client, clock, connect, file, folder, place, server

__all__ = ["client", "clock", "connect", "file", "folder", "place", "server"]
