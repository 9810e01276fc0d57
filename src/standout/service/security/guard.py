"""What every request passes first: names, origins, sizes; and what every answer carries."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from standout.errors import StandoutError, UncertainError
from standout.service.errors import ApiError, internal, of_http, translate
from standout.service.security import headers as rules
from standout.service.security.auth import Gate, Identity, headers_of, token_needed
from standout.service.settings import Settings
from standout.study.storage.tokens import Role

log = logging.getLogger("standout.service")
access = logging.getLogger("standout.access")

READ_ON, DRAIN_SECONDS = 4, 10.0
"""How far beyond the limit a body is read before it is refused (times the largest request that
anybody may send), and for how long."""
_CLOSE = {"Connection": "close"}


class Guard:
    """The outermost layer: nothing gets out without its headers, nothing in unseen."""

    def __init__(self, app: ASGIApp, settings: Settings, gate: Gate) -> None:
        self.app, self.settings, self.gate = app, settings, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(scope, send)
        try:
            receive = await self._admit(scope, receive)
            await self.app(scope, receive, answer.send)
        except ApiError as error:
            await error.response()(scope, receive, answer.send)
        except HTTPException as error:  # Of a body that is too long or too slow.
            await of_http(error).response()(scope, receive, answer.send)
        except asyncio.CancelledError:
            # The server ends. What was asked for may be under way in a thread; uvicorn would
            # answer 500, after which nobody tries again.
            if answer.has_begun:
                raise
            ended = UncertainError("the server ended before it was known")
            await translate(ended).response()(scope, receive, answer.send)
        except ClientDisconnect:
            pass  # Nobody is left to be told.
        except StandoutError as error:  # Of the tokens' database, say.
            if answer.has_begun:
                raise
            await translate(error).response()(scope, receive, answer.send)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not answer.has_begun:
                await internal().response()(scope, receive, answer.send)
        finally:
            answer.write_log()

    async def _admit(self, scope: Scope, receive: Receive) -> Receive:
        found = headers_of(scope)
        method, path = scope["method"], scope["path"]
        rules.check_host(self.settings, found)
        rules.check_origin(self.settings, method, found)
        rules.check_content(path, method, found)
        if method in rules.SAFE_METHODS:
            return receive
        # Who asks is found out before anything long is read.
        identity: Identity | None = await self.gate.identify(found)
        scope.setdefault("state", {})["identity"] = identity
        if identity is None and path not in rules.FOR_ANYBODY:
            # Before a body is read, let alone judged: nobody waits for a stranger's.
            raise token_needed(_CLOSE)
        is_small = identity is None or identity.role is Role.RATER
        most = self.settings.largest_rater_request if is_small else self.settings.largest_request
        length = found.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise ApiError(400, "the header Content-Length is not a number")
        if int(length) > most:
            await _drain(receive, READ_ON * self.settings.largest_request)
            raise _too_large(most)
        seconds = self.settings.body_seconds + most / self.settings.slowest_body
        return _limited(receive, most, seconds)


async def _drain(receive: Receive, most: int) -> None:
    """Read on and forget: whoever is still sending does not hear an answer."""
    seen = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while seen < most:
                message = await receive()
                seen += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _too_large(most: int) -> ApiError:
    # The rest of the body is not read, so the connection is of no more use.
    return ApiError(413, f"the request is larger than {most:,} bytes", headers=_CLOSE)


def _limited(receive: Receive, most: int, seconds: float) -> Receive:
    """Stop reading a body that is longer or slower than it may be, whatever its header says."""
    seen = 0
    is_read = False
    deadline = asyncio.get_running_loop().time() + seconds

    async def read() -> Message:
        nonlocal seen, is_read
        if is_read:
            return await receive()  # Waits for the client to go away, for as long as it likes.
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            # FastAPI passes on only this kind from within the reading of a body.
            text = f"the request did not arrive within {seconds:g} s"
            raise HTTPException(408, text, headers=_CLOSE) from None
        seen += len(message.get("body", b""))
        if seen > most:
            raise HTTPException(413, _too_large(most).message, headers=_CLOSE)
        is_read = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return read


class _Answer:
    """An answer on its way out: headers are added, and one line is logged."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._begin = time.perf_counter()
        self._status = 0

    @property
    def has_begun(self) -> bool:
        """Whether the client has been told a status."""
        return self._status != 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            rules.add_security(message["headers"])
        await self._send(message)

    def write_log(self) -> None:
        """Who asked for what; no query, no header and no body, where secrets might be."""
        if not access.isEnabledFor(logging.INFO):
            return
        identity = self._scope.get("state", {}).get("identity")
        who = identity.name if identity is not None else "-"
        took = (time.perf_counter() - self._begin) * 1000
        path = self._scope["path"].encode("unicode_escape").decode("ascii")
        access.info("%s %s %s %d %.1f ms", who, self._scope["method"], path, self._status, took)
