"""A folder that belongs to this user alone, for sockets and locks that need not outlive a boot."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def _candidates() -> Iterator[Path]:
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given and os.path.isabs(given):
        yield Path(given) / "standout"
    with suppress(OSError):  # There is no folder for temporary files.
        yield Path(tempfile.gettempdir()) / f"standout-{os.geteuid()}"


def is_private(path: Path) -> bool:
    """Whether it is a folder of this user that nobody else may enter."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return is_ours and not found.st_mode & 0o077


def private_folder() -> Path | None:
    """The folder, made if need be; None where there can be none, or somebody else made it."""
    for path in _candidates():
        with suppress(OSError):
            os.mkdir(path, 0o700)
        if is_private(path) and os.access(path, os.W_OK):
            return path
    return None
