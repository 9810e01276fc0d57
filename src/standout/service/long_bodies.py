"""Long bodies, read beside the event loop: everybody else would wait for them otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from standout.service.schemas import Reward

LONG = 100_000
"""Bytes of a body that is read in a thread."""
_PART = 500

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_rewards = TypeAdapter(list[Reward])


class _LongRequest(Request):
    async def json(self) -> Any:
        data = await self.body()
        return json.loads(data) if len(data) < LONG else await asyncio.to_thread(json.loads, data)


class LongRoute(APIRoute):
    """A route whose JSON may be long."""

    def get_route_handler(self) -> _Handler:
        """As FastAPI's, with another way to read."""
        handle = super().get_route_handler()

        async def read_aside(request: Request) -> Response:
            return await handle(_LongRequest(request.scope, request.receive))

        return read_aside


def check_rewards(raw: list[Any]) -> list[Reward]:
    """Rewards that were left unchecked for being many; raises what FastAPI would have raised.

    In parts: others get their turn in between.
    """
    found: list[Reward] = []
    for begin in range(0, len(raw), _PART):
        try:
            found += _rewards.validate_python(raw[begin : begin + _PART], from_attributes=True)
        except ValidationError as error:
            problems = [
                {**one, "loc": ("body", "rewards", begin + int(one["loc"][0]), *one["loc"][1:])}
                for one in error.errors(include_url=False)
            ]
            raise RequestValidationError(problems) from None
    return found
