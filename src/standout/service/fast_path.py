"""The short way for asking and telling: what a study under load is sent thousands of times.

A well-formed request goes straight to the function of its route. Whatever is not
(and whatever is long) takes the described way through FastAPI, which says what is
wrong with it; so there is one set of models, functions and error texts for both.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from standout.service.long_bodies import LONG
from standout.service.routes import measuring
from standout.service.schemas import MANY, Ask, Body, Tell
from standout.service.security.auth import ANSWERERS, admit
from standout.service.service import Service

_Route = tuple[type[Body], Callable[..., Awaitable[Response]]]
ROUTES: dict[str, _Route] = {"ask": (Ask, measuring.ask), "tell": (Tell, measuring.tell)}
"""Last part of the address, and who answers there; all of them take `ANSWERERS`."""


class FastPath:
    """Stands between the guard, which has found out who asks, and the app."""

    def __init__(self, app: ASGIApp, service: Service, prefix: str) -> None:
        self.app, self.service = app, service
        self._start = f"{prefix}/studies/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request here if it can be, else let the app do it."""
        found = self._find(scope)
        if found is None:
            await self.app(scope, receive, send)
            return
        name, (model, route) = found
        data = await _read(receive)
        body = None if len(data) > LONG else _understood(model, data)
        if body is None:
            await self.app(scope, _again(data, receive), send)
            return
        who = admit(self.service.gate, scope["state"]["identity"], ANSWERERS, name)
        response = await route(self.service, who, name, body)
        await response(scope, receive, send)

    def _find(self, scope: Scope) -> tuple[str, _Route] | None:
        """The study's name and the route, if the address is one of ours."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope.get("root_path"):
            return None
        path: str = scope["path"]
        if not path.startswith(self._start):
            return None
        name, _, last = path[len(self._start) :].partition("/")
        route = ROUTES.get(last)
        return (name, route) if name and route is not None else None


def _understood(model: type[Body], data: bytes) -> Body | None:
    """The body, None if something is wrong with it or it is to be looked at in a thread."""
    try:
        raw: Any = json.loads(data.decode())
        if isinstance(raw, dict):
            rewards = raw.get("rewards")
            if isinstance(rewards, list) and len(rewards) > MANY:
                return None
        return model.model_validate(raw)
    except (ValueError, RecursionError):
        return None


async def _read(receive: Receive) -> bytes:
    """All of a body; the guard sees to it that it is not too long and not too slow."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(data: bytes, receive: Receive) -> Receive:
    """Give a body that has been read once more, then go on as before."""
    is_given = False

    async def read() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": data, "more_body": False}

    return read
