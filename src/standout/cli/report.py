"""`standout report`: a study as one file to share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from standout.cli.console import print_json, progress_words
from standout.cli.options import Json, Name, Place, open_study
from standout.errors import StudyError
from standout.files import writing


def report(
    place: Place,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The HTML file to write.")] = None,
    name: Name = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the simulated comparison with uniform sampling.", min=0)
    ] = 0,
    files: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="The folder of pictures given to `standout serve --files`."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a report of a study as one HTML file.

    It has the answer, a picture, the guarantee and the data checks. The file opens
    offline, prints well and needs no script. With --json, the same facts are
    printed as JSON.

    \b
    Examples:
      standout report beans.db -o report.html
      standout report beans.db --json | jq .answer
    """
    if out is None and not as_json and sys.stdout.isatty():
        raise StudyError("name the file of the report: -o report.html (or use --json)")

    from standout.pictures.item_files import checked_folder
    from standout.report.facts import gather
    from standout.report.page import render

    folder = None if files is None else checked_folder(files)
    with open_study(place, name) as opened, progress_words("report") as told:
        facts = gather(opened, seed=seed, files=folder, told=told)
    if out is not None:
        _write(out, render(facts))
    elif not as_json:
        sys.stdout.write(render(facts))
    if as_json:
        print_json(facts.to_dict())
    for finding in facts.warnings:
        typer.echo(f"warning: {finding.title}: {finding.text}", err=True)


def _write(path: Path, page: str) -> None:
    with writing(path) as file:
        file.write(page)
    typer.echo(f"wrote the report to {path} ({len(page.encode()) / 1000:,.0f} kB)", err=True)
