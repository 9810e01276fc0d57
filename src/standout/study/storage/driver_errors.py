"""What a driver's error means, in words that say what to do; never with a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standout.errors import StorageError, UnavailableError
from standout.study.storage.sqlite_lock import LOCKED

if TYPE_CHECKING:
    from standout.study.storage.database import Storage

SILENT = "has not answered for"
"""In the message of a connection on which nothing came for too long."""
_WAITED = {"LockNotAvailable", "QueryCanceled"}
"""PostgreSQL's errors for a lock or a statement that took longer than allowed."""
_READ_ONLY, _DAMAGED, _CANNOT_OPEN, _FOREIGN = 8, 11, 14, 26


def explain(storage: Storage, cause: BaseException | None) -> StorageError:
    """What to raise for an error that a driver raised while `storage` was used.

    An `UnavailableError` where trying again may help: a lock that is held, a
    PostgreSQL server that is gone, starting, or silent.
    """
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    message = _message(storage, cause, code)
    kinds = {kind.__name__ for kind in type(cause).__mro__}
    is_away = not storage.is_sqlite and kinds & {"OperationalError", "InterfaceError"}
    if code not in LOCKED and not is_away:
        return StorageError(message)
    has_waited = code in LOCKED or bool(kinds & _WAITED) or SILENT in message
    return UnavailableError(message, has_waited=has_waited)


def _message(storage: Storage, cause: BaseException | None, code: int) -> str:
    name = storage.shown
    text = " ".join(str(cause).split())
    if code in LOCKED or type(cause).__name__ == "LockNotAvailable":
        return (
            f"{name} was busy for {storage.patience:g} s; another process holds a long "
            "transaction. Nothing was changed; try again"
        )
    if code == _FOREIGN:
        return f"{name} is not a study: it is no SQLite database; nothing was changed"
    if code == _DAMAGED:
        return f"{name} is damaged or cut short ({text}); restore it from a copy"
    if code in (_READ_ONLY, _CANNOT_OPEN):
        return _no_access(storage, code)
    for password in filter(None, storage.address.passwords):
        text = text.replace(password, "***")
    return f"{name}: {text}"


def _no_access(storage: Storage, code: int) -> str:
    file = storage.file
    if file is not None and file.is_read_only:
        return (
            f"{storage.shown} is read-only here and cannot be read without writing: its newest "
            f"rewards are in {file.log.name} (or a -journal). Copy it with the files beside it "
            "to a folder that you can write to, and open it there"
        )
    what = "written to" if code == _READ_ONLY else "opened"
    return f"{storage.shown} cannot be {what}; check the permissions of file and folder"
