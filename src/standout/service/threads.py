"""Blocking work in threads: a queue for each kind, so that none keeps another waiting.

Requests that change a study wait in a line of its own. While one transaction is
being written, those that come in gather, and all of them share the next one:
the disk is waited for once, not once for each.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio

from standout.errors import StandoutError
from standout.study import Study
from standout.study.turn import Turn

P = ParamSpec("P")
T = TypeVar("T")

MOST_TOGETHER, MOST_ROWS = 32, 500
"""Requests, and rows that they write, in one transaction."""
LOOKING, SLOW = 6, 2
"""Views and lists at a time; reports, forecasts and exports at a time."""


@dataclass
class _Waiting:
    request: Callable[[Turn], Any]
    size: int
    future: asyncio.Future[Any]


class Line:
    """The requests that wait to change one study."""

    def __init__(self) -> None:
        self.waiting: deque[_Waiting] = deque()
        self.is_moving = False

    def take(self) -> list[_Waiting]:
        """Those that go together: the first, and what fits with it."""
        chosen = [self.waiting.popleft()]
        rows = chosen[0].size
        while self.waiting and len(chosen) < MOST_TOGETHER:
            rows += self.waiting[0].size
            if rows > MOST_ROWS:
                break
            chosen.append(self.waiting.popleft())
        return chosen


def _carry_out(find: Callable[[], Study], chosen: list[_Waiting]) -> list[Any]:
    """Results or errors, one for each; if something of ours breaks, each on its own."""
    try:
        study = find()
        return list(study.together([one.request for one in chosen], sum(o.size for o in chosen)))
    except StandoutError as error:
        return [error] * len(chosen)
    except Exception as error:
        if len(chosen) == 1:
            return [error]
    return [found for one in chosen for found in _carry_out(find, [one])]


class Threads:
    """Runs functions beside the event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._limits: dict[str, anyio.CapacityLimiter] = {}

    async def _run(self, queue: str, at_once: int, call: Callable[[], T]) -> T:
        limit = self._limits.get(queue)
        if limit is None:
            limit = self._limits[queue] = anyio.CapacityLimiter(at_once)
        return await anyio.to_thread.run_sync(call, limiter=limit)

    async def change(
        self, name: str, find: Callable[[], Study], request: Callable[[Turn], T], size: int = 1
    ) -> T:
        """Ask or tell, in one transaction with others that wait; `find` gives the study."""
        line = self._lines.setdefault(name, Line())
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        line.waiting.append(_Waiting(request, size, future))
        if not line.is_moving:
            line.is_moving = True
            task = asyncio.get_running_loop().create_task(self._move(name, line, find))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _move(self, name: str, line: Line, find: Callable[[], Study]) -> None:
        try:
            while line.waiting:
                chosen = line.take()
                results = await self._run(f"write {name}", 1, partial(_carry_out, find, chosen))
                for one, result in zip(chosen, results, strict=True):
                    if one.future.done():
                        continue  # Whoever waited is gone.
                    if isinstance(result, BaseException):
                        one.future.set_exception(result)
                    else:
                        one.future.set_result(result)
        finally:
            line.is_moving = False
            self._lines.pop(name, None)

    async def write(
        self, study: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Change a study in another way: one at a time per study, in the order of coming."""
        return await self._run(f"write {study}", 1, partial(function, *args, **kwargs))

    async def look(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Something quick that changes nothing."""
        return await self._run("look", LOOKING, partial(function, *args, **kwargs))

    async def slow(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Something that may take seconds."""
        return await self._run("slow", SLOW, partial(function, *args, **kwargs))
