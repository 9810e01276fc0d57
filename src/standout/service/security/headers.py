"""Headers: what a browser is told about our answers, and what we believe of its requests."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from standout.service.errors import ApiError
from standout.service.settings import Settings

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'"
)
"""Content only from here; nobody may frame it. A page may set its own, narrower or wider."""

_ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # What a study says now is old in a second; files that stay say so themselves.
    "Cache-Control": "no-store",
}
_ALWAYS_RAW = [(name.lower().encode(), value.encode()) for name, value in _ALWAYS.items()]
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
FOR_ANYBODY = ("/login", "/logout")
"""What may be sent something without a token."""
_JSON_LIKE = ("application/json",)
_FORM = "application/x-www-form-urlencoded"


def add_security(headers: list[tuple[bytes, bytes]]) -> None:
    """Add what is missing to an answer's headers, as ASGI has them."""
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

    A page from elsewhere whose name has been made to point here could otherwise
    talk to a server that trusts whatever is local (DNS rebinding).
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
    """Refuse to change anything for a page of another site."""
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
    # A proxy may call us by another name than its own.
    if not is_same and theirs[0] not in {name.lower() for name in settings.allow_hosts}:
        raise _foreign()


def _foreign() -> ApiError:
    return ApiError(403, "requests from pages of other sites change nothing here")


def check_content(path: str, method: str, headers: dict[str, str]) -> None:
    """Take JSON only: a form of another site cannot send it. Logging in takes a form too."""
    if method in SAFE_METHODS or headers.get("content-length", "") == "0":
        return
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    taken = (*_JSON_LIKE, _FORM) if path in FOR_ANYBODY else _JSON_LIKE
    if kind not in taken:
        raise ApiError(415, f"send {' or '.join(taken)}, not {kind or 'an unnamed type'}")
