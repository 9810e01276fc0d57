"""What people type: places, durations, files."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from standout.errors import StudyError
from standout.study.csv_files import decode
from standout.study.storage.location import has_password

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def typed_place(text: str) -> str:
    """A place from the command line: a file, an address, or `env:NAME` for one kept secret.

    An address with a password is refused: every user of the machine could read
    it in the list of processes.
    """
    if text.startswith("env:"):
        name = text.removeprefix("env:")
        value = os.environ.get(name)
        if not value:
            raise StudyError(f"the environment variable {name!r} is not set")
        return value
    if has_password(text):
        raise StudyError(
            "the address holds a password, which the list of processes would show; leave it out "
            "and set PGPASSWORD or ~/.pgpass, or write env:NAME and put the address in $NAME"
        )
    return text


def seconds_of(text: str) -> float:
    """Read `90`, `90s`, `15m`, `8h`, `3d`, `2w`."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise StudyError(f"duration {text!r} must look like 90s, 15m, 8h or 3d")
    return float(match[1]) * _UNITS[match[2]]


def read_text(path: str) -> tuple[str, str]:
    """The text of a file, or of the standard input for `-`, and its name for messages."""
    if path == "-":
        return decode(sys.stdin.buffer.read(), "standard input"), "standard input"
    try:
        return decode(Path(path).read_bytes(), path), path
    except OSError as error:
        raise StudyError(f"{path}: cannot be read: {error.strerror}") from None
