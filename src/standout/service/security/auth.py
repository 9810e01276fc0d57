"""Who is asking, and whether they may.

A token comes in the header `Authorization: Bearer ...` or, for pages, in a
cookie that scripts cannot read. On the loopback address, as long as no token was
ever made and none is required, whoever asks is the owner. Once one was made, the
store stays closed, also when all are revoked.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import Request
from starlette.types import Scope

from standout.service.errors import ApiError
from standout.service.open_studies import OpenStudies
from standout.service.queues import Queues
from standout.service.security.limits import Buckets, check_rate
from standout.service.settings import Settings
from standout.study.storage.old_tokens import Kept, Role, split

TOKEN_COOKIE = "standout_token"
RATER_COOKIE = "standout_rater"
FRESH = 0.5
"""Seconds until the tokens are read again. A stream looks again as often: a revoked token
works for at most twice as long."""

_RATER = re.compile(r"[0-9A-Za-z_-]{8,64}")


@dataclass(frozen=True)
class Identity:
    """Who is asking: `study` is the only one they may use, if not None.

    `rater` tells the people apart who share a rater's token.
    """

    role: Role
    study: str | None = None
    token: str | None = None
    rater: str | None = None

    @property
    def name(self) -> str:
        """Under which name their tickets and rewards are kept."""
        parts = [str(self.role), self.token or "local"]
        if self.rater:
            parts.append(self.rater)
        return ":".join(parts)


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; the last of several counts."""
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}


def cookies_of(headers: dict[str, str]) -> dict[str, str]:
    """The cookies by name; none if they cannot be read."""
    try:
        return {
            key: morsel.value for key, morsel in SimpleCookie(headers.get("cookie", "")).items()
        }
    except CookieError:
        return {}


class Gate:
    """Knows the tokens, as they were at most `FRESH` seconds ago."""

    def __init__(self, settings: Settings, studies: OpenStudies, queues: Queues) -> None:
        self.settings, self._studies, self._queues = settings, studies, queues
        self._kept: dict[str, Kept] = {}
        self._is_closed = False
        self._read_at = -FRESH
        self._reading: asyncio.Task[None] | None = None
        self.raters = Buckets(settings.rater_rate, settings.rater_burst)
        share = settings.raters_per_token
        self.rater_tokens = Buckets(settings.rater_rate * share, settings.rater_burst * share)
        self.logins = Buckets(0.5, 20)

    async def _refresh(self) -> None:
        """Read the tokens if they are old: once for all requests that wait for it."""
        if time.monotonic() - self._read_at < FRESH:
            return
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read())
            # An error that nobody waits for any more is nobody's business.
            self._reading.add_done_callback(lambda task: task.cancelled() or task.exception())
        # Whoever leaves does not take the others' tokens along.
        await asyncio.shield(self._reading)

    async def _read(self) -> None:
        begin = time.monotonic()
        try:
            kept = await self._queues.quick(self._studies.tokens)
        finally:
            if self._reading is asyncio.current_task():
                self._reading = None
        if begin < self._read_at:
            return  # Somebody who asked later has been answered before.
        self._kept = {found.token.id: found for found in kept}
        # Revoked tokens count, too: revoking the last one must let nobody in.
        self._is_closed = self._is_closed or bool(kept)
        # As old as the question, not as the answer: a slow database makes nothing last longer.
        self._read_at = begin

    def forget(self) -> None:
        """Read the tokens again before the next request, also if they are being read."""
        self._read_at = -FRESH
        self._reading = None

    async def find(self, text: str) -> Identity | None:
        """Whose token this is; None if it is nobody's, or revoked."""
        parts = split(text)
        if parts is None:
            return None
        await self._refresh()
        kept = self._kept.get(parts[0])
        if kept is None or not kept.is_of(parts[1]) or kept.token.revoked is not None:
            return None
        return Identity(kept.token.role, kept.token.study, kept.token.id)

    async def identify(self, headers: dict[str, str]) -> Identity | None:
        """Who sends a request with these headers; None when a token is needed and none is there.

        A token that does not hold is refused, also where none is needed.
        """
        cookies = cookies_of(headers) if "cookie" in headers else {}
        kind, _, text = headers.get("authorization", "").partition(" ")
        rater = cookies.get(RATER_COOKIE, "")
        rater = rater if _RATER.fullmatch(rater) else ""
        if kind:
            found = await self.find(text.strip()) if kind.lower() == "bearer" else None
            if found is None:
                raise unauthorized("this token is not valid here, or was revoked")
        else:
            found = await self.find(cookies.get(TOKEN_COOKIE, ""))
        if found is None and await self._is_open(headers):
            found = Identity(Role.OWNER)
        if found is not None and rater:
            found = Identity(found.role, found.study, found.token, rater)
        return found

    async def _is_open(self, headers: dict[str, str]) -> bool:
        # What a proxy passes on comes from elsewhere, though its connection is local.
        if not self.settings.may_be_open or "forwarded" in headers or "x-forwarded-for" in headers:
            return False
        await self._refresh()
        return not self._is_closed


def unauthorized(message: str, headers: dict[str, str] | None = None) -> ApiError:
    """The 401 that says `message` and how to send a token."""
    asked = {"WWW-Authenticate": 'Bearer realm="standout"'}
    return ApiError(401, message, headers=asked | (headers or {}))


def token_needed(headers: dict[str, str] | None = None) -> ApiError:
    """The 401 for a request without a token: what to send, and who makes one."""
    return unauthorized(
        "a token is needed: send Authorization: Bearer TOKEN; "
        "the owner makes one with `standout token create`",
        headers,
    )


async def identify(request: Request) -> Identity | None:
    """Who sends this request; found out once."""
    state = request.scope.setdefault("state", {})
    if "identity" not in state:
        headers = headers_of(request.scope)
        state["identity"] = await request.app.state.service.gate.identify(headers)
    found: Identity | None = state["identity"]
    return found


def check(identity: Identity | None, roles: tuple[Role, ...], study: str | None) -> Identity:
    """Refuse whoever may not: 401 without a token, 403 with the wrong one."""
    if identity is None:
        raise token_needed()
    if identity.role not in roles:
        raise ApiError(403, f"a {identity.role}'s token does not allow this")
    if study is not None and identity.study is not None and identity.study != study:
        raise ApiError(403, "this token is for another study")
    return identity


def admit(
    gate: Gate, identity: Identity | None, roles: tuple[Role, ...], study: str | None
) -> Identity:
    """The caller, if it has one of these roles for the study, and is not too fast."""
    found = check(identity, roles, study)
    if found.role is Role.RATER:
        check_rate((gate.raters, found.name), (gate.rater_tokens, str(found.token)))
    return found


def allow(*roles: Role) -> Any:
    """A dependency: the caller, who has one of these roles for the study of the address."""

    async def caller(request: Request) -> Identity:
        gate: Gate = request.app.state.service.gate
        return admit(gate, await identify(request), roles, request.path_params.get("name"))

    return Depends(caller)


LOOK = (Role.OWNER, Role.VIEWER)
"""Who may see everything of a study."""
ANSWERERS = (Role.OWNER, Role.WORKER, Role.RATER)
"""Who may ask and tell."""

Owner = Annotated[Identity, allow(Role.OWNER)]
Looker = Annotated[Identity, allow(*LOOK)]
Reader = Annotated[Identity, allow(*LOOK, Role.WORKER)]
"""Who may see how a study stands."""
Measurer = Annotated[Identity, allow(Role.OWNER, Role.WORKER)]
Answerer = Annotated[Identity, allow(*ANSWERERS)]
Anyone = Annotated[Identity, allow(*Role)]
