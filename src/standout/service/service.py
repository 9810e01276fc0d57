"""What the routes work with, made once per process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from standout.results import Result, Status
from standout.service.answers import answer
from standout.service.cache import Caches
from standout.service.events import Hub
from standout.service.open_studies import OpenStudies
from standout.service.queues import Queues
from standout.service.security.auth import Gate
from standout.service.settings import Settings
from standout.study import Study
from standout.study.transaction import Transaction

T = TypeVar("T")


@dataclass
class Service:
    """The studies, the gate before them, and the queues in which they are used."""

    settings: Settings
    studies: OpenStudies
    queues: Queues
    gate: Gate
    hub: Hub
    cache: Caches = field(default_factory=Caches)

    async def look(self, name: str, look: Callable[[Study], Result | dict[str, Any]]) -> Response:
        """Look at a study, in a thread that is not waited for by whoever measures."""
        return await self.queues.look(lambda: answer(look(self.studies.reader(name))))

    async def change(
        self, name: str, request: Callable[[Study, Transaction], T]
    ) -> tuple[Study, T]:
        """Carry out a request, in one transaction with whatever else waits to change the study.

        Gives the study, and what came of it.
        """
        return await self.queues.change(name, partial(self.studies.writer, name), request)

    async def write(self, name: str, change: Callable[[Study], object]) -> Response:
        """Change a study in a way that has a transaction of its own."""
        await self.queues.write(lambda: change(self.studies.writer(name)))
        return answer({"done": True})

    async def by_hand(self, name: str, change: Callable[[Study], Status]) -> Response:
        """Change something by hand; the answer is how the study stands then."""
        return await self.queues.write(lambda: answer(change(self.studies.writer(name))))


def start(place: str, settings: Settings) -> Service:
    """Open the place; a new file or an empty database becomes one without studies."""
    studies, queues = OpenStudies(place), Queues()
    return Service(
        settings, studies, queues, Gate(settings, studies, queues), Hub(settings, studies, queues)
    )


def _of(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


ServiceOf = Annotated[Service, Depends(_of)]
