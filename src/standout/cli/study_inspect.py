"""`standout study status`, `export`, `verify` and `list`: the state of studies."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli import console
from standout.cli.console import print_json, say
from standout.cli.options import (
    Json,
    Name,
    Place,
    open_study,
    stopped_line,
    typed_place,
    waiting_line,
)
from standout.errors import StorageError, StudyError
from standout.files import writing
from standout.text import endings_words, plural, printable, verdicts

if TYPE_CHECKING:
    from rich.text import Text

    from standout.results import Status, StudyRow
    from standout.study import Study


def status(
    place: Place,
    watch: Annotated[bool, typer.Option("--watch", help="Update until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two updates.", min=0.1)] = 2.0,
    as_json: Json = False,
    name: Name = None,
) -> None:
    """Show the state of a study.

    It shows the verdicts, the threshold, the pending tickets and the pulls left. It also names the
    arms with the highest chances, which are estimates; `standout study chances` has those of all
    arms.
    """
    with open_study(place, name) as study:
        if as_json:
            from standout.cli.study_chances import summary

            endings = [one.to_dict() for one in study.endings()]
            print_json({**study.status().to_dict(), "chances": summary(study), "endings": endings})
        elif watch:
            _watch(study, every)
        else:
            typer.echo("\n".join(overview(study.status(), study)) + "\n")
            say(*picture(study))


def overview(now: Status, study: Study | None = None) -> list[str]:
    """The state of a study as lines of text; some lines need the `study` itself."""
    pulls = plural(now.pulls, "pull")
    if now.budget is not None:
        pulls = f"{now.pulls:,} of {plural(now.budget, 'pull')}"
    pending = f"{now.pending:,} pending" + (f" ({now.expired:,} overdue)" if now.expired else "")
    lines = [
        f"{printable(now.name)}: {plural(now.arms, 'arm')}, {pulls}, {pending}",
        verdicts(len(now.outliers), len(now.normal), len(now.undecided))
        + f"; {now.threshold_words()}",
        *([] if now.found is None else now.found.overlap_lines()),
    ]
    left: int | None = None
    if now.stopped:
        lines.append(stopped_line(now))
    elif study is not None:
        left = study.forecast()
        lines.append("pulls left: " + ("not known yet" if left is None else f"about {left:,}"))
    # A nearly finished study needs no tolerance.
    is_far = now.stopped or left is None or left > now.pulls
    is_offered = now.found is None or bool(now.found.offered_endings())
    if study is not None and now.enough_tolerance is not None and is_far and is_offered:
        lines += endings_words(study.endings())
        lines += ["to apply it: standout study set PATH --tolerance ..."]
    if study is not None and now.undecided and now.pulls:
        from standout.cli.study_chances import leaders_lines

        lines += leaders_lines(study, now.undecided)
    if now.waiting:
        lines.append(waiting_line(now.waiting))
    if now.note:
        lines.append(now.note)
    if now.surplus:
        lines.append(f"{plural(now.surplus, 'reward')} came beyond the budget; kept, not counted")
    for arm, count in sorted(now.failures.items(), key=lambda pair: -pair[1])[:5]:
        why = f"; paused: {printable(now.paused[arm], 60)}" if arm in now.paused else ""
        lines.append(f"{printable(arm, 40)}: {plural(count, 'failure')}{why}")
    quiet = [arm for arm in now.paused if arm not in now.failures]
    lines += [f"{printable(arm, 40)} is paused" for arm in quiet[:5]]
    return lines


def picture(study: Study, taken: int = 8) -> list[Text]:
    """The arms against the threshold, as high as the terminal allows beside `taken` lines."""
    from rich.text import Text

    from standout.pictures import terminal
    from standout.pictures.arms import picture_of_answer

    found = picture_of_answer(study.identification(), study.problem)
    if not len(found.measured):
        return [Text("nothing measured yet")]
    size, glyphs = console.results().size, console.glyphs()
    drawn = terminal.draw(found, size.width, glyphs, max(5, size.height - taken - 5))
    return [*drawn, Text(), terminal.legend(found, glyphs)]


def _watch(study: Study, every: float) -> None:
    from rich.live import Live
    from rich.text import Text

    try:
        with Live(auto_refresh=False) as live:
            while True:
                above = overview(study.status(), study)
                shown = [*map(Text, above), Text(), *picture(study, len(above) + 1)]
                live.update(Text("\n").join(shown), refresh=True)
                if study.status().stopped:
                    return
                time.sleep(every)
    except KeyboardInterrupt:
        return


def export(
    place: Place,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; standard output by default."),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="csv, json or parquet; by the file's ending.")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Unchanged names, even if a spreadsheet would run them (CSV)."),
    ] = False,
    name: Name = None,
) -> None:
    """Write every recorded reward.

    A CSV is safe to open in a spreadsheet: a name that begins like a formula (= + - @) gets a
    leading ', which `standout` removes when it reads the file.
    """
    kind = form or (out.suffix.lstrip(".").lower() if out is not None else "csv")
    if kind not in ("csv", "json", "parquet"):
        raise StudyError(f"no format {kind!r}; there are csv, json and parquet")
    if kind == "parquet" and out is None:
        raise StudyError("Parquet needs a file: give --out")
    with open_study(place, name) as study:
        if out is None:
            study.export(sys.stdout, kind, raw=raw)
            return
        with writing(out, is_binary=kind == "parquet") as file:
            count = study.export(file, kind, raw=raw)
    typer.echo(f"{plural(count, 'reward')} in {out}", err=True)


def verify(
    place: Place,
    head: Annotated[
        str | None,
        typer.Option(help="A digest printed earlier; the events that it covers must be unchanged."),
    ] = None,
    as_json: Json = False,
    name: Name = None,
) -> None:
    """Recompute a study from its log, and compare.

    The exit code is 1 if anything is wrong. The command prints a digest of all events so far. Keep
    it outside the database: a later check with --head shows whether any of these events was
    changed.
    """
    with open_study(place, name) as study:
        found = study.verify(head)
    if as_json:
        print_json(found.to_dict())
    elif found.is_ok:
        typer.echo(
            f"no problems: {plural(found.rewards, 'reward')}, {plural(found.tickets, 'ticket')}, "
            f"{plural(found.steps, 'step')}; digest {found.head}"
        )
        for note in found.notes:
            typer.echo(note)
    else:
        typer.echo("\n".join(found.problems), err=True)
    if not found.is_ok:
        raise typer.Exit(1)


def list_studies(
    place: Annotated[str, typer.Argument(metavar="[PATH]", help="A database or a folder.")] = ".",
    as_json: Json = False,
) -> None:
    """List the studies in a database, or in all files of a folder."""
    found: list[tuple[str, StudyRow]] = []
    if "://" not in place and Path(place).is_dir():
        for path in sorted(Path(place).iterdir()):
            if path.is_file():
                found += _studies_in(path)
    else:
        found = _list_one(typed_place(place))
    if as_json:
        print_json({"studies": [{"place": where, **row.to_dict()} for where, row in found]})
        return
    for where, row in found:
        typer.echo(
            f"{where}: {printable(row.name, 40)}, {plural(row.arms, 'arm')}, "
            f"{plural(row.pulls, 'pull')}, {row.undecided:,} undecided, {row.reason}"
        )
    if not found:
        typer.echo("no studies", err=True)


def _list_one(place: str) -> list[tuple[str, StudyRow]]:
    from standout.study.view import list_studies as read_list

    shown, rows = read_list(place)
    return [(shown, row) for row in rows]


def _studies_in(path: Path) -> list[tuple[str, StudyRow]]:
    """The studies of a file; none if it is another kind of file."""
    try:
        with path.open("rb") as file:
            if not file.read(16).startswith(b"SQLite format 3\x00"):
                return []
        return _list_one(str(path))
    except (OSError, StorageError):
        return []
