"""Tokens: permissions for the studies of a database, over HTTP.

A token is shown once, when it is created. The database stores a salted hash, which is useless to a
reader of the database. The secret has 256 random bits, so one round of SHA-256 is enough.

A revoked token stays in its table, because a store is open only if it never had a token.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from standout.errors import StudyError
from standout.results import Result
from standout.study.storage.session import Session
from standout.study.storage.store import Store

_COLUMNS = "id, role, study, label, created, revoked, made_by, revoked_by, expires, salt, hash"
_ADD = f"INSERT INTO standout_tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_READ = f"SELECT {_COLUMNS} FROM standout_tokens ORDER BY created, id"
_FORM = re.compile(r"standout_([0-9a-f]{12})_([0-9A-Za-z_-]{43})")
LONGEST_LABEL = 200


class Role(StrEnum):
    """The permissions of a token."""

    OWNER = "owner"
    """Everything."""
    WORKER = "worker"
    """Ask, tell, give back, status."""
    RATER = "rater"
    """Answer on the rating page: the tickets handed to it, nothing else."""
    VIEWER = "viewer"
    """Look, and change nothing."""


@dataclass(frozen=True)
class Token(Result):
    """A token without its secret; times in seconds since 1970.

    `made_by` and `revoked_by` are names, empty if unknown. A token without `expires` is valid until
    it is revoked.
    """

    id: str
    role: Role
    study: str | None
    label: str
    created: float
    revoked: float | None = None
    made_by: str = ""
    revoked_by: str = ""
    expires: float | None = None

    def is_usable(self, now: float) -> bool:
        """Whether it is valid at this time (seconds since 1970)."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True)
class TokenList(Result):
    """Tokens without their secrets, oldest first."""

    tokens: tuple[Token, ...]


@dataclass(frozen=True)
class NewTokenMade(Result):
    """A new token: its text, a link that contains it, and the link as a QR code (`1` is dark)."""

    made: Token
    token: str
    link: str
    code: tuple[str, ...]


@dataclass(frozen=True)
class KeptToken:
    """A token as stored in the database."""

    token: Token
    salt: str
    hash: str

    def is_of(self, secret: str) -> bool:
        """Whether this is the token with that secret, compared in constant time."""
        return hmac.compare_digest(self.hash, _hash(self.salt, secret))


def _hash(salt: str, secret: str) -> str:
    return hashlib.sha256(f"{salt}{secret}".encode()).hexdigest()


def split(text: str) -> tuple[str, str] | None:
    """The id and the secret of a token's text; None if it cannot be one."""
    match = _FORM.fullmatch(text)
    return None if match is None else (match[1], match[2])


def create(
    store: Store,
    role: str,
    study: str | None,
    label: str = "",
    *,
    by: str = "",
    lasts: float | None = None,
) -> tuple[Token, str]:
    """Create a token that is valid for `lasts` seconds (None: until it is revoked).

    The returned text contains the secret, which is not stored.
    """
    try:
        kind = Role(role)
    except ValueError:
        raise StudyError(f"no role {role!r}; choose from {', '.join(Role)}") from None
    if len(label) > LONGEST_LABEL or "\x00" in label:
        raise StudyError(f"a label has at most {LONGEST_LABEL} characters, and no NUL")
    if lasts is not None and not 0 < lasts < math.inf:
        raise StudyError(f"a token lasts for a positive number of seconds, not {lasts:g}")
    number, secret, salt = secrets.token_hex(6), secrets.token_urlsafe(32), secrets.token_hex(16)
    with store.write() as session:
        if study is not None:
            _check_study(session, study)
        expires = None if lasts is None else session.now + lasts
        token = Token(number, kind, study, label, session.now, made_by=by, expires=expires)
        values = (number, str(kind), study, label, token.created, None, by, "", expires)
        session.run(_ADD, (*values, salt, _hash(salt, secret)))
    return token, f"standout_{number}_{secret}"


def _check_study(session: Session, study: str) -> None:
    names = [name for _, name in session.names()]
    if study not in names:
        known = ", ".join(repr(name) for name in names) or "none yet"
        raise StudyError(f"there is no study {study!r} here; choose from {known}")


def read_all(session: Session) -> list[KeptToken]:
    """All tokens, including revoked and expired ones, oldest first."""
    return [
        KeptToken(Token(number, Role(role), *rest), salt, digest)
        for number, role, *rest, salt, digest in session.run(_READ)
    ]


def count_tokens(session: Session) -> tuple[int, int]:
    """The number of valid tokens, and of all tokens ever created."""
    found = read_all(session)
    return sum(kept.token.is_usable(session.now) for kept in found), len(found)


def revoke(store: Store, number: str, *, by: str = "") -> tuple[Token, list[Token]]:
    """Revoke a token and end its logins; return it and the valid tokens. Repeating is harmless.

    Raises StudyError if there is no such token.
    """
    with store.write() as session:
        found = {kept.token.id: kept.token for kept in read_all(session)}
        token = found.get(number)
        if token is None:
            raise StudyError(f"there is no token {number!r}; `standout token list` shows them")
        if token.revoked is None:
            session.revoke_tokens("id", number, session.now, by)
        others = [t for t in found.values() if t.id != number and t.is_usable(session.now)]
    return token, others
