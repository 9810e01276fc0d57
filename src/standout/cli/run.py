"""`standout run`: measure arms by running any program that prints a number."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli.console import print_json
from standout.cli.exits import INTERRUPTED, TERMINATED, Terminated
from standout.cli.options import (
    Budget,
    Json,
    MethodText,
    QuestionOptions,
    Seed,
    Unordered,
    Until,
    expanded,
    read_text,
    typed_place,
)
from standout.core.noise import NOISE_FORMS
from standout.errors import StudyError
from standout.text import plural, verdicts

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from standout.client import RemoteStudy
    from standout.driver.worker import Worker
    from standout.results import Status
    from standout.study_interface import StudyInterface

AUTO = "auto"
RunNoise = Annotated[
    str,
    typer.Option(
        "--noise",
        metavar="NOISE",
        show_default="what a few pilot pulls suggest",
        help=f"How rewards scatter: {NOISE_FORMS}.",
    ),
]
TOKEN = "STANDOUT_TOKEN"
GRACE = 15.0
"""Seconds to give back pending tickets when a run is asked to end."""


@expanded
def run(
    arms: Annotated[
        str | None, typer.Option(help="CSV with a column arm; - for standard input.")
    ] = None,
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH]",
            help="Where to keep the study: a file (by default ARMS.db in this folder), "
            "postgresql://user@host/database, or env:NAME.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="A program that prints one number, e.g. './assay {arm}'. No shell."),
    ] = None,
    measure_python: Annotated[
        str | None,
        typer.Option(help="A Python function in place of a program, as module:function."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Parallel measurements; 1, or Dask's threads.", min=1)
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a program is killed.")
    ] = None,
    retries: Annotated[
        int, typer.Option(help="Failures in a row after which an arm is paused.", min=0)
    ] = 2,
    dask: Annotated[str | None, typer.Option(help="Measure on this Dask cluster.")] = None,
    noise: RunNoise = AUTO,
    *,
    question: QuestionOptions,
    method: MethodText = None,
    budget: Budget = None,
    until: Until = None,
    seed: Seed = 0,
    unordered: Unordered = False,
    name: Annotated[
        str | None,
        typer.Option(
            "--study",
            metavar="NAME",
            show_default="main; with --server, the only one there",
            help="The study's name.",
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(help="Measure for a study on this server: http://host:port."),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(help="With --server: a file with the token; by default $STANDOUT_TOKEN."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure arms with a program until the answer is certain.

    With --until, it ends as soon as the answer is probable. After any interruption, the same
    command continues. Several processes may measure for one study at once, on several machines with
    PostgreSQL or with --server. With --server, arms and problem are those of the server's study.
    """
    from standout.cli.run_noise import noise_of
    from standout.csv_files import read_arms
    from standout.driver.campaign import default_place, make_or_find
    from standout.driver.worker import PATIENCE, Worker
    from standout.retries import Patience
    from standout.study import Study

    function = _measure_of(measure, measure_python, timeout, is_remote=dask is not None)
    study: Study | RemoteStudy
    where = ""
    if server is not None:
        if arms is not None or place is not None:
            raise StudyError("with --server the study exists already: leave out PATH and --arms")
        study, check = _open_remote(server, name, token_file)
    elif arms is None:
        raise StudyError("name the arms with --arms, or an existing study with --server")
    else:
        where, listed = typed_place(place or default_place(arms)), read_arms(*read_text(arms))
        if noise == AUTO:
            noise = noise_of(where, name or "main", listed, None if dask else function)
        study = make_or_find(
            where,
            listed,
            question.problem(noise),
            method,
            name=name or "main",
            budget=budget,
            until=until,
            seed=seed,
            ordered=not unordered,
        )
        check = study.problem.noise.check_reward
    with _executor(dask, jobs) as (executor, count), closing(study):
        show = None if as_json or not sys.stderr.isatty() else _progress()
        # A study on a server has its own patience.
        patience = Patience(PATIENCE, _say_waiting) if isinstance(study, Study) else None
        status = _run(
            Worker(
                study, check, function, executor, count,
                retries=retries, progress=show, patience=patience,
            )
        )  # fmt: skip
        now = study.status()
        if as_json:
            print_json(now.to_dict())
        else:
            from standout.cli.run_words import ending

            typer.echo("\n".join(ending(now, study, where)))
    if not status.stopped:
        typer.echo(f"{plural(len(status.paused), 'arm')} could not be measured", err=True)
        raise typer.Exit(1)


def _read_token(path: str | None) -> str | None:
    """The token from a file or from the environment; a list of processes shows neither."""
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


def _say_waiting(text: str) -> None:
    """Report on its own line that a server or a database is unavailable, or back."""
    begin = "\n" if sys.stderr.isatty() else ""  # Below the line that shows progress.
    typer.echo(f"{begin}standout: {text}", err=True)


def _open_remote(
    server: str, study: str | None, token_file: str | None
) -> tuple[RemoteStudy, Callable[[object], float]]:
    """The study, and a function that checks a measured value."""
    from standout.client import Client
    from standout.core.noise import parse_noise
    from standout.driver.worker import PATIENCE

    client = Client(server, _read_token(token_file), patience=PATIENCE, say=_say_waiting)
    if study is None:
        names = [row.name for row in client.studies()]
        if len(names) != 1:
            raise StudyError(f"name the study with --study: {', '.join(map(repr, names))}")
        study = names[0]
    remote = client.study(study)
    noise = parse_noise(remote.status().problem.noise)
    return remote, noise.check_reward


def _measure_of(
    measure: str | None, measure_python: str | None, timeout: float | None, is_remote: bool
) -> Callable[[str], float]:
    from standout.driver.command import Function, load_function, parse_command

    if (measure is None) == (measure_python is None):
        raise StudyError(
            "give a way to measure: --measure COMMAND or --measure-python MODULE:FUNCTION"
        )
    if measure is not None:
        return parse_command(measure, timeout)
    if timeout is not None:
        raise StudyError("--timeout is for programs and cannot be used with --measure-python")
    name = str(measure_python)
    if not is_remote:
        load_function(name)
    return Function(name)


@contextmanager
def _executor(address: str | None, jobs: int | None) -> Iterator[tuple[Executor, int]]:
    from standout.driver.campaign import dask, threads

    if address is None:
        with threads(jobs or 1) as executor:
            yield executor, jobs or 1
    else:
        with dask(address) as (executor, count):
            yield executor, jobs or count


def _run(worker: Worker) -> Status:
    from standout.driver.command import kill_running
    from standout.driver.worker import POLL

    # On a thread, so that no signal's exception interrupts a transaction or a kernel.
    work: Future[Status] = Future()
    thread = threading.Thread(target=_carry_out, args=(worker.run, work), daemon=True)
    thread.start()
    try:
        # Poll: a signal may be delivered to another thread, which wakes none.
        while not wait([work], timeout=POLL).done:
            pass
        return work.result()
    except (KeyboardInterrupt, Terminated) as error:
        worker.end()
        kill_running()
        with suppress(KeyboardInterrupt, Terminated):  # A second signal ends the run at once.
            thread.join(GRACE)
        kill_running()
        if not thread.is_alive():
            worker.study.close()
        was_interrupted = isinstance(error, KeyboardInterrupt)
        if was_interrupted:
            typer.echo("\ninterrupted; run the same command to continue", err=True)
        sys.stdout.flush()
        sys.stderr.flush()
        # A Python function that still runs must not block the terminal.
        os._exit(INTERRUPTED if was_interrupted else TERMINATED)
    finally:
        kill_running()


def _carry_out(call: Callable[[], Status], work: Future[Status]) -> None:
    try:
        work.set_result(call())
    except BaseException as error:
        work.set_exception(error)


def _progress() -> Callable[[StudyInterface], None]:
    """A progress line that is rewritten, at most twice a second."""
    last = 0.0

    def show(study: StudyInterface) -> None:
        nonlocal last
        if time.monotonic() - last < 0.5:
            return
        last = time.monotonic()
        now = study.status()
        found = verdicts(len(now.outliers), len(now.normal), len(now.undecided))
        text = f"{plural(now.pulls, 'pull')}; {found}"
        sys.stderr.write(f"\r{text:<70}")
        sys.stderr.flush()

    return show
