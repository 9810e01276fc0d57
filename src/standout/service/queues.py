"""Blocking work in threads: a queue for each kind, so that none keeps another waiting.

Requests that change a study wait in a line of its own. While one transaction is
being written, those that come in gather, and all of them share the next one:
the disk is waited for once, not once for each.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio

from standout.errors import StandoutError
from standout.study import Study
from standout.study.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")

MOST_TOGETHER, MOST_ROWS = 32, 500
"""Requests, and rows that they write, in one transaction."""
GATHER = 3
"""Turns of the event loop before a transaction begins: answers go out and requests that are here
already come in. They need the same processor anyway, and the more go together the less each
costs; nobody waits for what has not arrived."""
QUICK, LOOKING, SLOW = 4, 2, 2
"""At a time: what measuring waits for; views and lists; reports, forecasts and exports."""


@dataclass
class _Waiting:
    request: Callable[[Study, Transaction], Any]
    size: int
    tickets: Sequence[int]
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
    """The study with a result or an error for each; if something breaks, each on its own."""
    try:
        study = find()
        requests = [partial(one.request, study) for one in chosen]
        tickets = [number for one in chosen for number in one.tickets]
        found = study.in_one_transaction(requests, max(one.size for one in chosen), tickets)
        return [one if isinstance(one, StandoutError) else (study, one) for one in found]
    except StandoutError as error:
        return [error] * len(chosen)
    except Exception as error:
        if len(chosen) == 1:
            return [error]
    return [found for one in chosen for found in _carry_out(find, [one])]


class Queues:
    """Runs functions beside the event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._writes: dict[str, anyio.CapacityLimiter] = {}
        self._limits = {
            queue: anyio.CapacityLimiter(count)
            for queue, count in (
                ("quick", QUICK),
                ("look", LOOKING),
                ("shared", LOOKING),  # Taken inside one of "look".
                ("slow", SLOW),
                ("probe", 1),
            )
        }
        self._shared: dict[tuple[str, int | None], asyncio.Task[bytes]] = {}
        self._probe: asyncio.Task[bool] | None = None

    async def _run(self, queue: str, call: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(call, limiter=self._limits[queue])

    async def write(self, study: str, call: Callable[[], T]) -> T:
        """Change a study: one at a time, in the order of coming."""
        limit = self._writes.setdefault(study, anyio.CapacityLimiter(1))
        try:
            return await anyio.to_thread.run_sync(call, limiter=limit)
        finally:
            # A name is forgotten when nobody waits, as any may be sent.
            if not limit.borrowed_tokens and not limit.statistics().tasks_waiting:
                self._writes.pop(study, None)

    async def change(
        self,
        name: str,
        find: Callable[[], Study],
        request: Callable[[Study, Transaction], T],
        size: int = 1,
        tickets: Sequence[int] = (),
    ) -> tuple[Study, T]:
        """Ask or tell, in one transaction with others that wait; the study, and what came of it.

        It writes about `size` rows, and tells of `tickets`, as far as that is known.
        `find` gives the study, in the thread that writes: to look for it first
        would mean to wait behind those who only look.
        """
        line = self._lines.setdefault(name, Line())
        future: asyncio.Future[tuple[Study, T]] = asyncio.get_running_loop().create_future()
        line.waiting.append(_Waiting(request, size, tickets, future))
        if not line.is_moving:
            line.is_moving = True
            task = asyncio.get_running_loop().create_task(self._move(name, line, find))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _move(self, name: str, line: Line, find: Callable[[], Study]) -> None:
        try:
            while line.waiting:
                for _ in range(GATHER):
                    await asyncio.sleep(0)
                chosen = line.take()
                results = await self.write(name, partial(_carry_out, find, chosen))
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

    async def quick(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Something short that whoever measures has to wait for: tokens, items."""
        return await self._run("quick", partial(function, *args, **kwargs))

    async def probe(self, call: Callable[[], object], seconds: float) -> bool:
        """Whether a call ends well within `seconds`; one that hangs is not made a second time."""
        if self._probe is None:
            self._probe = asyncio.get_running_loop().create_task(self._try(call))
        task = self._probe
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return bool(done) and task.result()

    async def _try(self, call: Callable[[], object]) -> bool:
        try:
            await self._run("probe", call)
        except StandoutError:
            return False
        finally:
            self._probe = None
        return True

    async def look(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Something that changes nothing, for those who look on."""
        return await self._run("look", partial(function, *args, **kwargs))

    async def share(self, key: tuple[str, int | None], call: Callable[[], bytes]) -> bytes:
        """As `look`, once for all who ask for the same while it has not begun.

        What has begun is not shared: whoever asks now is to see what is there now.
        """
        task = self._shared.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._look_once(key, call))
            self._shared[key] = task
        # Whoever leaves does not take the others' answer along.
        return await asyncio.shield(task)

    async def _look_once(self, key: tuple[str, int | None], call: Callable[[], bytes]) -> bytes:
        try:
            async with self._limits["look"]:
                self._shared.pop(key, None)
                return await anyio.to_thread.run_sync(call, limiter=self._limits["shared"])
        finally:
            self._shared.pop(key, None)

    async def slow(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what may take seconds, in a queue of its own; its result, or what it raised."""
        return await self._run("slow", partial(function, *args, **kwargs))
