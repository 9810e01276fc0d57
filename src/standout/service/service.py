"""What the routes work with, made once per process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from standout.service.auth import Gate
from standout.service.cache import Caches
from standout.service.events import Hub
from standout.service.settings import Settings
from standout.service.shelf import Shelf
from standout.service.threads import Threads


@dataclass
class Service:
    """The studies, the gate before them, and the threads in which they are used."""

    settings: Settings
    shelf: Shelf
    threads: Threads
    gate: Gate
    hub: Hub
    cache: Caches = field(default_factory=Caches)


def start(place: str, settings: Settings) -> Service:
    """Open the place; a new file or an empty database becomes one without studies."""
    shelf, threads = Shelf(place), Threads()
    return Service(
        settings, shelf, threads, Gate(settings, shelf, threads), Hub(settings, shelf, threads)
    )


def _of(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


ServiceOf = Annotated[Service, Depends(_of)]
