"""The places of studies, as for their own tests."""

from __future__ import annotations

from tests.study.conftest import clock, folder, place, server

__all__ = ["clock", "folder", "place", "server"]
