"""`standout study backup` and `restore`: all studies of a place, as one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli.console import live_line, print_json
from standout.cli.options import Json, Place, typed_place
from standout.text import plural

if TYPE_CHECKING:
    from standout.results import Copy

Force = Annotated[bool, typer.Option("--force", help="Replace existing studies.")]


def backup(
    place: Place,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write.")],
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Copy all studies of a place into one file.

    The studies may be in use. The file appears when it is complete and verified.
    Do not copy the file of a study in another way while it is in use: the newest
    rewards are in a second file beside it.

    \b
    Examples:
      standout study backup beans.db copies/beans-monday.db
      standout study backup env:PLACE monday.db --force --json
    """
    from standout.study.copying import backup as copy

    with _progress(as_json) as show:
        done = copy(typed_place(place), file, force=force, progress=show)
    _say(done, as_json)


def restore(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file from `standout study backup`.")
    ],
    place: Place,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Restore the studies of a backup.

    They go to a new file or to a PostgreSQL database. Existing studies are
    replaced only with --force, and never while they are in use. Every study is
    verified.

    \b
    Examples:
      standout study restore copies/beans-monday.db beans.db
      standout study restore monday.db env:PLACE
    """
    from standout.study.copying import restore as copy

    with _progress(as_json) as show:
        done = copy(file, typed_place(place), force=force, progress=show)
    _say(done, as_json)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A line that shows the progress; for terminals only."""
    if quiet:
        yield None
        return
    with live_line() as line:
        task = line.add_task("copying")

        def show(done: int, total: int) -> None:
            share = 100 * done / max(1, total)
            words = f"copying: {share:.0f} %" if done < total else "verifying the copy"
            line.update(task, description=words)

        yield show


def _say(done: Copy, as_json: bool) -> None:
    for remark in done.remarks:
        typer.echo(f"warning: {remark}", err=True)
    if as_json:
        print_json(done.to_dict())
        return
    size = "" if done.size is None else f" ({done.size / 1e6:,.1f} MB)"
    typer.echo(f"copied {done.source} to {done.target}{size} and verified it:")
    for study in done.studies:
        typer.echo(
            f"  {study.name}: {plural(study.pulls, 'pull')}, {plural(study.rewards, 'reward')}"
        )
