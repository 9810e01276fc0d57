"""What the routes work with, made once per process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from standout.service.cache import Caches
from standout.service.events import Hub
from standout.service.open_studies import OpenStudies
from standout.service.queues import Queues
from standout.service.security.auth import Gate
from standout.service.settings import Settings


@dataclass
class Service:
    """The studies, the gate before them, and the queues in which they are used."""

    settings: Settings
    studies: OpenStudies
    queues: Queues
    gate: Gate
    hub: Hub
    cache: Caches = field(default_factory=Caches)


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
