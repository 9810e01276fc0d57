"""Atomic replacement of files, and CSV records with their line numbers."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from standout.errors import StandoutError


@contextmanager
def writing(path: Path, *, is_binary: bool = False) -> Iterator[IO[Any]]:
    """A file to write to, which appears at `path` only when it is complete.

    After an error or an interrupt the old file, if any, is unchanged. Text is UTF-8, with the line
    ends as written. Raises `StandoutError` if the file cannot be written.
    """
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}-")
        kind: dict[str, Any] = {} if is_binary else {"encoding": "utf-8", "newline": ""}
        with os.fdopen(handle, "wb" if is_binary else "w", **kind) as file:
            yield file
        # mkstemp makes private files; results should be as readable as any other file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
        name = None
    except OSError as error:
        raise StandoutError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if name is not None:
            with suppress(OSError):
                os.unlink(name)


def write_file(path: Path, content: str | bytes) -> Path:
    """Replace the file at `path` as a whole and return `path`; a missing folder is made.

    >>> write_file(Path("made/greeting.txt"), "hello").read_text()
    'hello'
    """
    with suppress(OSError):  # A problem with the folder is reported when the file is made.
        path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path, is_binary=isinstance(content, bytes)) as file:
        file.write(content)
    return path


def csv_records(
    text: str, label: str, kind: type[StandoutError], separator: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV that are not empty, each with the number of its first line.

    Raises an error of `kind`, which names the line, if the text is not valid CSV.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise kind(f"{label}, line {line}: not valid CSV: {error}") from None
