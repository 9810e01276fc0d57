"""`standout study chances`: how likely each arm is to stand out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from standout.cli.console import print_json
from standout.cli.options import Json, Name, Place, open_study
from standout.text import chance_words, plural, printable

if TYPE_CHECKING:
    from standout.results import Chances
    from standout.study import Study

LEADERS = 5
LISTED = 20


def chances(
    place: Place,
    false_share: Annotated[
        float,
        typer.Option(help="The largest expected share of wrong arms on the flagged list."),
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of the random draws.", min=0)] = 0,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="All arms as a CSV: arm, chance, flagged, mean, pulls.")
    ] = False,
    as_json: Json = False,
    name: Name = None,
) -> None:
    """Show each arm's chance to stand out: an estimate, not a proof.

    The prior is learnt from all arms together, and treats them alike before the first reward.
    docs/chances.md shows its calibration. `standout study status` shows what is certain.
    """
    with open_study(place, name) as study:
        found = study.chances(false_share=false_share, seed=seed)
        if as_json:
            print_json(found.to_dict())
        elif as_csv:
            from standout.csv_files import write_chances

            # Not typer.echo, which takes control characters out of names.
            sys.stdout.writelines(write_chances(found, study.identification()))
        else:
            typer.echo("\n".join(_lines(found)))


def _lines(found: Chances) -> list[str]:
    lines = [f"estimates from {plural(found.pulls, 'pull')}, not certain:"]
    lines += [
        f"  chance {chance_words(chance)}  {printable(arm, 100)}"
        for arm, chance in found.leaders(LISTED)
    ]
    if len(found.arms) > LISTED:
        lines.append(f"  {len(found.arms) - LISTED:,} more; --csv or --json has all")
    theta = found.likely_threshold
    if theta.upper - theta.lower < float("inf"):
        lines.append(
            f"the threshold lies between {theta.lower:.5g} and {theta.upper:.5g} "
            f"with chance {found.level:g}"
        )
    lines.append(
        f"flagged: {plural(len(found.flagged), 'arm')}, of which at most "
        f"{found.false_share:.0%} are expected to be wrong"
    )
    lines.append(
        f"best guess: {plural(len(found.probable), 'arm')} with a chance above 0.5; "
        f"expected wrong: {found.expected_wrong:.2g}"
    )
    return lines + _care(found)


def _care(found: Chances) -> list[str]:
    return [f"caution: {found.note}"] if found.note else []


def leaders_lines(study: Study, undecided: Sequence[str]) -> list[str]:
    """The undecided arms with the highest chances, in words that no certificate uses.

    Empty for so many arms that the computation would be slow.
    """
    from standout.estimation.until import MOST_ARMS

    if len(study.arms) > MOST_ARMS:
        return []
    is_open, found = set(undecided), study.chances()
    leaders = [pair for pair in found.leaders(len(found.arms)) if pair[0] in is_open][:LEADERS]
    words = ", ".join(
        f"{printable(arm, 40)} chance {chance_words(chance)}" for arm, chance in leaders
    )
    return [f"estimates, not certain: {words}", *_care(found)]


def summary(study: Study) -> dict[str, Any] | None:
    """The chances as JSON, with the leaders in place of an entry for every arm.

    None for so many arms that the computation would be slow.
    """
    from standout.estimation.until import MOST_ARMS

    if len(study.arms) > MOST_ARMS:
        return None
    return study.chances().leaders_dict(LEADERS)
