"""What the routes work with: the studies, and blocking work in threads.

Each kind of work has its own queue, so that none keeps another waiting. Requests that change a
study wait in a separate queue. During one transaction, new requests gather, and all of them share
the next one. So a single wait for the disk serves all of them.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar

import anyio
from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from standout.errors import StandoutError
from standout.results import Result, Status
from standout.service.events import Hub
from standout.service.open_studies import Caches, OpenStudies
from standout.service.security.auth import Gate
from standout.service.settings import Settings
from standout.study import Study
from standout.study.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")

MOST_TOGETHER = 32
"""Requests in one transaction."""
GATHER = 3
"""Turns of the event loop before a transaction begins, in which answers go out and requests that
have arrived come in. A larger batch makes each request cheaper; there is no wait for new ones."""
WRITING, QUICK, LOOKING, SLOW = 8, 4, 2, 2
"""Threads for: changes (of different studies); short tasks of measuring; views and lists; reports,
forecasts and exports."""


PIECE = 1_000
"""Entries of a list that are encoded at once, while no other thread can run."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answer(content: Result | dict[str, Any] | None, status: int = 200) -> Response:
    """A result (or plain values) as the answer to a request."""
    return Response(to_json(content), status_code=status, media_type="application/json")


def to_json(content: Result | dict[str, Any] | None) -> bytes:
    """JSON in UTF-8; of an object, the long lists are written in pieces."""
    plain = content.to_dict() if isinstance(content, Result) else content
    if plain is not None and any(_is_long(value) for value in plain.values()):
        pairs = (f"{_dump(str(key))}:{_dump_long(value)}" for key, value in plain.items())
        body = "{" + ",".join(pairs) + "}"
    else:
        body = _dump(plain)
    # Half a surrogate pair is not allowed in a name, but possible in a reason.
    return body.encode("utf-8", "replace")


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > PIECE


def _dump(content: Any) -> str:
    return _ENCODER.encode(content)


def _dump_long(value: Any) -> str:
    if not _is_long(value):
        return _dump(value)
    begins = range(0, len(value), PIECE)
    return "[" + ",".join([_dump(value[i : i + PIECE])[1:-1] for i in begins]) + "]"


class _Waiting(NamedTuple):
    request: Callable[[Study, Transaction], Any]
    future: asyncio.Future[Any]


class Line:
    """The requests that wait to change one study."""

    def __init__(self, find: Callable[[], Study]) -> None:
        self.find = find
        self.waiting: deque[_Waiting] = deque()

    def carry_out(self, chosen: list[_Waiting]) -> list[Any]:
        """The study, and a result or an error each; a batch that fails is retried one by one."""
        try:
            study = self.find()
            results = study.memory.in_one_transaction(
                [partial(one.request, study) for one in chosen]
            )
            return [one if isinstance(one, StandoutError) else (study, one) for one in results]
        except StandoutError as error:
            return [error] * len(chosen)
        except Exception as error:
            if len(chosen) == 1:
                return [error]
        return [result for one in chosen for result in self.carry_out([one])]


class Queues:
    """Runs functions outside the event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._limits = {
            queue: anyio.CapacityLimiter(count)
            for queue, count in (
                ("write", WRITING),
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

    async def write(self, call: Callable[[], T]) -> T:
        """Change a study in a separate transaction; the study's lock decides the order."""
        return await self._run("write", call)

    async def change(
        self,
        name: str,
        find: Callable[[], Study],
        request: Callable[[Study, Transaction], T],
    ) -> tuple[Study, T]:
        """Ask or tell, in one transaction with other waiting requests.

        Returns the study and the result. `find` returns the study, in the writing thread; otherwise
        the request would wait behind readers.
        """
        line = self._lines.get(name)
        if line is None:
            line = self._lines[name] = Line(find)
            task = asyncio.get_running_loop().create_task(self._move(name, line))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        future: asyncio.Future[tuple[Study, T]] = asyncio.get_running_loop().create_future()
        line.waiting.append(_Waiting(request, future))
        return await future

    async def _move(self, name: str, line: Line) -> None:
        """Carry out the waiting requests until there are none; then forget the line."""
        try:
            for _ in range(GATHER):
                await asyncio.sleep(0)
            while line.waiting:
                count = min(len(line.waiting), MOST_TOGETHER)
                chosen = [line.waiting.popleft() for _ in range(count)]
                results = await self.write(partial(line.carry_out, chosen))
                for one, result in zip(chosen, results, strict=True):
                    _settle(one.future, result)
                for _ in range(GATHER):
                    await asyncio.sleep(0)
        finally:
            self._lines.pop(name, None)

    async def quick(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a short task that measuring clients wait for: tokens, items."""
        return await self._run("quick", partial(function, *args, **kwargs))

    async def probe(self, call: Callable[[], object], seconds: float) -> bool:
        """Whether a call succeeds within `seconds`; a call that hangs is not repeated."""
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
        """Run a function that changes nothing, for views."""
        return await self._run("look", partial(function, *args, **kwargs))

    async def share(self, key: tuple[str, int | None], call: Callable[[], bytes]) -> bytes:
        """As `look`, once for all equal requests that arrive before it begins.

        A running task is not shared, because a new request must see the current state.
        """
        task = self._shared.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._look_once(key, call))
            self._shared[key] = task
        # A cancelled request must not cancel the answer of the others.
        return await asyncio.shield(task)

    async def _look_once(self, key: tuple[str, int | None], call: Callable[[], bytes]) -> bytes:
        try:
            async with self._limits["look"]:
                self._shared.pop(key, None)
                return await anyio.to_thread.run_sync(call, limiter=self._limits["shared"])
        finally:
            self._shared.pop(key, None)

    async def slow(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that may take seconds, in a separate queue."""
        return await self._run("slow", partial(function, *args, **kwargs))


def _settle(future: asyncio.Future[Any], result: object) -> None:
    """Give a waiting request its result, if it still waits."""
    if future.done():
        return
    if isinstance(result, BaseException):
        future.set_exception(result)
    else:
        future.set_result(result)


@dataclass
class Service:
    """The studies, the gate before them, and the queues for their work."""

    settings: Settings
    studies: OpenStudies
    queues: Queues
    gate: Gate
    hub: Hub
    cache: Caches = field(default_factory=Caches)

    async def look(self, name: str, look: Callable[[Study], Result | dict[str, Any]]) -> Response:
        """Read a study, in a thread that measuring clients do not wait for."""
        return await self.queues.look(lambda: answer(look(self.studies.reader(name))))

    async def change(
        self, name: str, request: Callable[[Study, Transaction], T]
    ) -> tuple[Study, T]:
        """Carry out a request, in one transaction with all waiting changes of the study.

        Returns the study and the request's result.
        """
        return await self.queues.change(name, partial(self.studies.writer, name), request)

    async def write(self, name: str, change: Callable[[Study], object]) -> Response:
        """Change a study in a separate transaction."""
        await self.queues.write(lambda: change(self.studies.writer(name)))
        return answer({"done": True})

    async def by_hand(self, name: str, change: Callable[[Study], Status]) -> Response:
        """Make a change by hand; the answer is the state of the study."""
        return await self.queues.write(lambda: answer(change(self.studies.writer(name))))


def start(place: str, settings: Settings) -> Service:
    """Open the place; a new file or an empty database becomes a store without studies."""
    studies, queues = OpenStudies(place), Queues()
    return Service(
        settings, studies, queues, Gate(settings, studies, queues), Hub(settings, studies, queues)
    )


def _of(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


ServiceOf = Annotated[Service, Depends(_of)]
