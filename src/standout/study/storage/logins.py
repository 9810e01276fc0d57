"""Logins: a browser's cookie in place of a token, so that it can be ended separately.

The cookie has 256 random bits, and the store their hash. A login ends with its token.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import NamedTuple

from standout.study.storage.session import Session
from standout.study.storage.store import Store

_FORM = re.compile(r"login_[0-9A-Za-z_-]{43}")
_COLUMNS = "id, token, created, expires"


class Login(NamedTuple):
    """A stored login; times in seconds since 1970."""

    id: str
    """The hash of the cookie's text."""
    token: str
    """The id of the token that began it."""
    created: float
    expires: float


def login_id(text: str) -> str | None:
    """The id of a cookie's text in the store; None if it cannot be a login."""
    return hashlib.sha256(text.encode()).hexdigest() if _FORM.fullmatch(text) else None


def begin_login(store: Store, token: str, lasts: float) -> tuple[Login, str]:
    """Begin a login for the token with this id, for `lasts` seconds; return the cookie text.

    Expired logins are deleted.
    """
    text = f"login_{secrets.token_urlsafe(32)}"
    with store.write() as session:
        now = session.now
        login = Login(hashlib.sha256(text.encode()).hexdigest(), token, now, now + lasts)
        session.run("DELETE FROM standout_sessions WHERE expires <= ?", (now,))
        session.run(f"INSERT INTO standout_sessions ({_COLUMNS}) VALUES (?, ?, ?, ?)", login)
    return login, text


def read_logins(session: Session) -> dict[str, Login]:
    """All logins that have not expired, by their ids."""
    found = session.run(
        f"SELECT {_COLUMNS} FROM standout_sessions WHERE expires > ?", (session.now,)
    )
    return {row[0]: Login(*row) for row in found}


def end_login(store: Store, text: str) -> None:
    """End a login; a missing one is no error."""
    number = login_id(text)
    if number is not None:
        with store.write() as session:
            session.run("DELETE FROM standout_sessions WHERE id = ?", (number,))
