"""Who is asking, and whether they may.

A token comes in the header `Authorization: Bearer ...`. A browser sends it once, to sign in, and
then has a login: a cookie that scripts cannot read and that can be ended separately. On the
loopback address, every user is the owner until the first token is created, unless tokens are
required. Afterwards the store stays closed, even if all tokens are revoked.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import time
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends
from starlette.requests import Request
from starlette.types import Scope

from standout.errors import AccessError
from standout.service.errors import ApiError
from standout.service.open_studies import OpenStudies
from standout.service.security.limits import Buckets, check_rate
from standout.service.settings import Settings
from standout.study.storage.logins import Login, login_id
from standout.study.storage.tokens import KeptToken, Role, split

if TYPE_CHECKING:
    from standout.service.service import Queues

LOGIN_COOKIE = "standout_session"
SAFE_LOGIN_COOKIE = f"__Host-{LOGIN_COOKIE}"
"""The same over HTTPS: a browser accepts it only from this host and sends it only there."""
FRESH = 0.5
"""Seconds until the tokens are read again. Streams check as often, so a revoked token works for
at most twice as long."""

_RATER = re.compile(r"([0-9A-Za-z_-]{12})\.([0-9a-f]{32})")
_SIGNED = re.compile(rf"\s*({'|'.join(Role)})\s*:", re.IGNORECASE)
"""How the names of identities begin."""


@dataclass(frozen=True)
class Identity:
    """The caller; `study` is the only study that they may use, if not None.

    `rater` distinguishes the people who share a rater's token.
    """

    role: Role
    study: str | None = None
    token: str | None = None
    rater: str | None = None

    @property
    def name(self) -> str:
        """The worker's name of their tickets and rewards."""
        parts = [str(self.role), self.token or "local"]
        if self.rater:
            parts.append(self.rater)
        return ":".join(parts)

    def signs(self, given: str | None) -> str:
        """The worker's name for a request: its own, or the given free one.

        Raises `AccessError` for a name that looks like another token's.
        """
        if not given or given == self.name:
            return self.name
        if _SIGNED.match(given):
            raise AccessError(
                f"the worker {given[:40]!r} looks like the name of a token; choose another"
            )
        return given


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


def login_of(cookies: dict[str, str]) -> str:
    """The login among these cookies, empty if there is none."""
    return cookies.get(SAFE_LOGIN_COOKIE) or cookies.get(LOGIN_COOKIE, "")


def rater_cookie(who: Identity) -> str:
    """The name of the cookie that identifies a rater of this token."""
    return f"standout_rater_{who.token or 'local'}"


class Gate:
    """The tokens, at most `FRESH` seconds old."""

    def __init__(self, settings: Settings, studies: OpenStudies, queues: Queues) -> None:
        self._studies, self._queues = studies, queues
        self._may_be_open = settings.may_be_open
        self._kept: dict[str, KeptToken] = {}
        self._logins: dict[str, Login] = {}
        self._behind = 0.0
        self._is_closed = False
        self._read_at = -FRESH
        self._reading: asyncio.Task[None] | None = None
        self.raters = Buckets(settings.rater_rate, settings.rater_burst)
        share = settings.raters_per_token
        self.rater_tokens = Buckets(settings.rater_rate * share, settings.rater_burst * share)
        self.logins = Buckets(0.5, 20)
        self.identities = Buckets(settings.new_raters_per_hour / 3600, settings.new_raters_at_once)

    async def _refresh(self) -> None:
        """Read the tokens if they are old, once for all waiting requests."""
        if time.monotonic() - self._read_at < FRESH:
            return
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read())
            # Retrieve the error of a task that no request waits for, to silence asyncio.
            self._reading.add_done_callback(lambda task: task.cancelled() or task.exception())
        # A cancelled request must not cancel the read for the others.
        await asyncio.shield(self._reading)

    async def _read(self) -> None:
        begin = time.monotonic()
        try:
            keys = await self._queues.quick(self._studies.keys)
        finally:
            if self._reading is asyncio.current_task():
                self._reading = None
        if begin < self._read_at:
            return  # A later read has finished first.
        self._kept = {kept.token.id: kept for kept in keys.tokens}
        self._logins, self._behind = keys.logins, keys.now - begin
        # Revoked tokens count, too: the store must stay closed after the last is revoked.
        self._is_closed = self._is_closed or bool(keys.tokens)
        # Use the time when the read started, so that a slow database cannot prolong the cache.
        self._read_at = begin

    def forget(self) -> None:
        """Read the tokens again before the next request, even if a read is in progress."""
        self._read_at = -FRESH
        self._reading = None

    async def find(self, text: str) -> Identity | None:
        """The owner of a token; None if it is unknown or revoked."""
        parts = split(text)
        if parts is None:
            return None
        await self._refresh()
        kept = self._kept.get(parts[0])
        return self._open(kept) if kept is not None and kept.is_of(parts[1]) else None

    async def find_login(self, text: str) -> Identity | None:
        """The owner of a login; None if it is unknown, or the login or its token has ended."""
        number = login_id(text)
        if number is None:
            return None
        await self._refresh()
        login = self._logins.get(number)
        if login is None or login.expires <= self._now:
            return None
        kept = self._kept.get(login.token)
        return None if kept is None else self._open(kept)

    def _open(self, kept: KeptToken) -> Identity | None:
        token = kept.token
        return Identity(token.role, token.study, token.id) if token.is_usable(self._now) else None

    @property
    def _now(self) -> float:
        """The store's time."""
        return time.monotonic() + self._behind

    async def identify(self, headers: dict[str, str]) -> Identity | None:
        """The sender of a request with these headers; None if a token is needed and missing.

        An invalid token is refused, even if none is needed.
        """
        cookies = cookies_of(headers) if "cookie" in headers else {}
        kind, _, text = headers.get("authorization", "").partition(" ")
        if kind:
            found = await self.find(text.strip()) if kind.lower() == "bearer" else None
            if found is None:
                raise unauthorized("this token is not valid here, or was revoked")
        else:
            login = login_of(cookies)
            found = await self.find_login(login) if login else None
        if found is None and await self._is_open(headers):
            found = Identity(Role.OWNER)
        return found if found is None else self._with_rater(found, cookies)

    def _with_rater(self, who: Identity, cookies: dict[str, str]) -> Identity:
        """The identity with the rater of its browser, if this service issued it."""
        match = _RATER.fullmatch(cookies.get(rater_cookie(who), ""))
        if match is None or not hmac.compare_digest(self._signature(who, match[1]), match[2]):
            return who
        return replace(who, rater=match[1])

    def new_rater(self, who: Identity, address: str) -> tuple[Identity, str]:
        """A new rater of this token, with the cookie for its browser.

        Raises `ApiError` if an address has had too many raters of one token.
        """
        if who.role is Role.RATER:
            check_rate((self.identities, f"{who.token} {address}"))
        rater = secrets.token_urlsafe(9)
        return replace(who, rater=rater), f"{rater}.{self._signature(who, rater)}"

    def _signature(self, who: Identity, rater: str) -> str:
        """The signature of a rater's id, by a secret of its token.

        Without tokens every user is an owner, so there is nothing to forge.
        """
        kept = self._kept.get(who.token or "")
        key = self._studies.place if kept is None else kept.hash
        return hmac.new(key.encode(), f"rater {rater}".encode(), "sha256").hexdigest()[:32]

    async def _is_open(self, headers: dict[str, str]) -> bool:
        # A request through a proxy comes from elsewhere, although the connection is local.
        if not self._may_be_open or "forwarded" in headers or "x-forwarded-for" in headers:
            return False
        await self._refresh()
        return not self._is_closed


def unauthorized(message: str, headers: dict[str, str] | None = None) -> ApiError:
    """The 401 that says `message` and how to send a token."""
    asked = {"WWW-Authenticate": 'Bearer realm="standout"'}
    return ApiError(401, message, headers=asked | (headers or {}))


def token_needed(headers: dict[str, str] | None = None) -> ApiError:
    """The 401 for a request without a token: what to send, and who creates tokens."""
    return unauthorized(
        "a token is needed: send Authorization: Bearer TOKEN; "
        "the owner makes one with `standout token create`",
        headers,
    )


async def identify(request: Request) -> Identity | None:
    """The sender of this request; determined once."""
    state = request.scope.setdefault("state", {})
    if "identity" not in state:
        headers = headers_of(request.scope)
        state["identity"] = await request.app.state.service.gate.identify(headers)
    found: Identity | None = state["identity"]
    return found


def check(identity: Identity | None, roles: tuple[Role, ...], study: str | None) -> Identity:
    """Refuse a request: 401 without a token, 403 with the wrong one."""
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
    who = check(identity, roles, study)
    if who.role is Role.RATER:
        check_rate((gate.raters, who.name), (gate.rater_tokens, str(who.token)))
    return who


def allow(*roles: Role) -> Any:
    """A dependency: the caller, who has one of these roles for the study of the address."""

    async def caller(request: Request) -> Identity:
        gate: Gate = request.app.state.service.gate
        return admit(gate, await identify(request), roles, request.path_params.get("name"))

    return Depends(caller)


LOOK = (Role.OWNER, Role.VIEWER)
"""Who may see everything of a study."""
ANSWERERS = (Role.OWNER, Role.WORKER, Role.RATER)

Owner = Annotated[Identity, allow(Role.OWNER)]
Looker = Annotated[Identity, allow(*LOOK)]
Reader = Annotated[Identity, allow(*LOOK, Role.WORKER)]
"""Who may see the state of a study."""
Measurer = Annotated[Identity, allow(Role.OWNER, Role.WORKER)]
Answerer = Annotated[Identity, allow(*ANSWERERS)]
"""Who may use the rating page."""
Anyone = Annotated[Identity, allow(*Role)]
