"""The checks that every request passes first, and the headers of all answers."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from standout.errors import StandoutError, UncertainError
from standout.service.errors import ApiError, internal, of_http, translate
from standout.service.security.auth import Gate, Identity, headers_of, token_needed
from standout.service.settings import Settings
from standout.study.storage.tokens import Role

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'"
)
"""Content only from this server; no frames. A page may set a narrower or wider policy."""

_ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # The state of a study is old in a second; permanent files set their own header.
    "Cache-Control": "no-store",
}
_ALWAYS_RAW = [(name.lower().encode(), value.encode()) for name, value in _ALWAYS.items()]
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
FOR_ANYBODY = ("/login", "/logout")
"""Addresses that accept a body without a token."""
_JSON_LIKE = ("application/json",)
_FORM = "application/x-www-form-urlencoded"


def add_security(headers: list[tuple[bytes, bytes]]) -> None:
    """Add missing security headers to an answer's headers, in ASGI's form."""
    given = {name for name, _ in headers}
    headers.extend([pair for pair in _ALWAYS_RAW if pair[0] not in given])


@lru_cache(64)
def _host_of(text: str) -> tuple[str, str]:
    """Name and port of `name:port`, in small letters; the port may be empty."""
    parts = urlsplit(f"//{text.strip()}")
    try:
        port = parts.port
    except ValueError:
        return "", ""
    return (parts.hostname or "").rstrip("."), "" if port is None else str(port)


def check_host(settings: Settings, headers: dict[str, str]) -> None:
    """Refuse a foreign name for this machine.

    Otherwise a foreign page whose host name resolves to this machine could talk to a server that
    trusts local requests (DNS rebinding).
    """
    allowed = {name.lower() for name in settings.allow_hosts}
    if not settings.is_loopback and not allowed:
        return
    if settings.is_loopback:
        allowed.update(_LOOPBACK_NAMES)
    name, _ = _host_of(headers.get("host", ""))
    if name not in allowed:
        raise ApiError(
            421, "this server does not answer to that name; `standout serve --allow-host` adds one"
        )


def check_origin(settings: Settings, method: str, headers: dict[str, str]) -> None:
    """Refuse changes by a page of another site."""
    if method in SAFE_METHODS:
        return
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _foreign()
    origin = headers.get("origin")
    if origin is None:
        return
    parts = urlsplit(origin)
    theirs = _host_of(parts.netloc)
    ours = _host_of(headers.get("host", ""))
    usual = {"http": "80", "https": "443"}.get(parts.scheme)
    if usual is None or not theirs[0]:
        raise _foreign()
    is_same = theirs[0] == ours[0] and (theirs[1] or usual) == (ours[1] or usual)
    # A proxy may use another host name than its own.
    if not is_same and theirs[0] not in {name.lower() for name in settings.allow_hosts}:
        raise _foreign()


def _foreign() -> ApiError:
    return ApiError(403, "requests from pages of other sites may not change anything")


def check_content(path: str, method: str, headers: dict[str, str]) -> None:
    """Accept JSON only, because a form of another site cannot send it; login accepts a form."""
    if method in SAFE_METHODS or headers.get("content-length", "") == "0":
        return
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    taken = (*_JSON_LIKE, _FORM) if path in FOR_ANYBODY else _JSON_LIKE
    if kind not in taken:
        raise ApiError(415, f"send {' or '.join(taken)}, not {kind or 'an unnamed type'}")


log = logging.getLogger("standout.service")
access = logging.getLogger("standout.access")

READ_ON, DRAIN_SECONDS = 4, 10.0
"""How far beyond the limit a body is read before it is refused (as a multiple of the largest
allowed request), and for how many seconds."""
_CLOSE = {"Connection": "close"}


class Guard:
    """The outermost layer: it adds headers to all answers and checks all requests."""

    def __init__(self, app: ASGIApp, settings: Settings, gate: Gate) -> None:
        self.app, self.settings, self.gate = app, settings, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or answer it here."""
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
            # The server ends. A thread may still carry out the request; uvicorn would answer
            # 500, after which clients do not retry.
            if answer.has_begun:
                raise
            ended = UncertainError("the server ended before the outcome was known")
            await translate(ended).response()(scope, receive, answer.send)
        except ClientDisconnect:
            pass  # The client is gone.
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
        check_host(self.settings, found)
        check_origin(self.settings, method, found)
        check_content(path, method, found)
        if method in SAFE_METHODS:
            return receive
        # The caller is identified before a long body is read.
        identity: Identity | None = await self.gate.identify(found)
        scope.setdefault("state", {})["identity"] = identity
        if identity is None and path not in FOR_ANYBODY:
            # Before the body is read: a stranger must not occupy the server.
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
    """Read and discard the rest, because a client that is still sending reads no answer."""
    seen = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while seen < most:
                message = await receive()
                seen += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _too_large(most: int) -> ApiError:
    # The rest of the body is not read, so the connection cannot be reused.
    return ApiError(413, f"the request is larger than {most:,} bytes", headers=_CLOSE)


def _limited(receive: Receive, most: int, seconds: float) -> Receive:
    """Stop reading a body that is too long or too slow, even if its header denies it."""
    seen = 0
    is_read = False
    deadline = asyncio.get_running_loop().time() + seconds

    async def read() -> Message:
        nonlocal seen, is_read
        if is_read:
            return await receive()  # Waits without a limit for the client to disconnect.
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            # FastAPI passes on only this exception while it reads a body.
            text = f"the request did not arrive within {seconds:g} s"
            raise HTTPException(408, text, headers=_CLOSE) from None
        seen += len(message.get("body", b""))
        if seen > most:
            raise HTTPException(413, _too_large(most).message, headers=_CLOSE)
        is_read = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return read


class _Answer:
    """An answer: adds headers, and logs one line."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._begin = time.perf_counter()
        self._status = 0

    @property
    def has_begun(self) -> bool:
        """Whether a status was sent to the client."""
        return self._status != 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            add_security(message["headers"])
        await self._send(message)

    def write_log(self) -> None:
        """Log caller and request, without query, headers and body, which may contain secrets."""
        if not access.isEnabledFor(logging.INFO):
            return
        identity = self._scope.get("state", {}).get("identity")
        who = identity.name if identity is not None else "-"
        took = (time.perf_counter() - self._begin) * 1000
        path = self._scope["path"].encode("unicode_escape").decode("ascii")
        access.info("%s %s %s %d %.1f ms", who, self._scope["method"], path, self._status, took)
