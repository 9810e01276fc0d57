"""Blocking work in threads: a queue for each kind, so that none keeps another waiting."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio

P = ParamSpec("P")
T = TypeVar("T")

LOOKING, SLOW = 6, 2
"""Views and lists at a time; reports, forecasts and exports at a time."""


class Threads:
    """Runs functions beside the event loop."""

    def __init__(self) -> None:
        self._limits: dict[str, anyio.CapacityLimiter] = {}

    async def _run(self, queue: str, at_once: int, call: Callable[[], T]) -> T:
        limit = self._limits.get(queue)
        if limit is None:
            limit = self._limits[queue] = anyio.CapacityLimiter(at_once)
        return await anyio.to_thread.run_sync(call, limiter=limit)

    async def write(
        self, study: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Ask or tell: one at a time per study, in the order of coming."""
        return await self._run(f"write {study}", 1, partial(function, *args, **kwargs))

    async def look(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Something quick that changes nothing."""
        return await self._run("look", LOOKING, partial(function, *args, **kwargs))

    async def slow(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Something that may take seconds."""
        return await self._run("slow", SLOW, partial(function, *args, **kwargs))
