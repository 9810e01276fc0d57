"""`standout run --server`: measuring for a study of a server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from standout.client import RemoteStudy

TOKEN = "STANDOUT_TOKEN"


def read_token(path: str | None) -> str | None:
    """The token from a file or from the environment: a list of processes shows neither."""
    from standout.errors import StudyError

    if path is None:
        return os.environ.get(TOKEN) or None
    try:
        with open(path, encoding="utf-8") as file:
            token = file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: the token cannot be read: {error}") from None
    if not token:
        raise StudyError(f"{path}: there is no token in it")
    return token


def say_waiting(text: str) -> None:
    """That a server or a database is away, or back; on a line of its own."""
    begin = "\n" if sys.stderr.isatty() else ""  # Below the line that shows progress.
    typer.echo(f"{begin}standout: {text}", err=True)


def open_remote(
    server: str, study: str | None, token_file: str | None
) -> tuple[RemoteStudy, Callable[[object], float]]:
    """The study, and what checks a measured value."""
    from standout.client import Client
    from standout.core.noise import parse_noise
    from standout.errors import StudyError
    from standout.study.measuring.worker import PATIENCE

    client = Client(server, read_token(token_file), patience=PATIENCE, say=say_waiting)
    if study is None:
        names = [row.name for row in client.studies()]
        if len(names) != 1:
            raise StudyError(f"say which study: --study, one of {', '.join(map(repr, names))}")
        study = names[0]
    remote = client.study(study)
    noise = parse_noise(remote.status().problem.noise)
    return remote, noise.check_reward
