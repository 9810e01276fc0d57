"""`standout study chances`: how likely each arm is to stand out, beside what is certain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from standout.cli.console import print_json
from standout.cli.options import Json
from standout.cli.study_options import Name, Place, open_study

if TYPE_CHECKING:
    from standout.results import Chances, Identification
    from standout.study import Study

LEADERS = 5
LISTED = 20
MOST_SHOWN = 20_000
"""With more arms `status` says nothing of chances, which would take seconds."""


def chances(
    place: Place,
    false_share: Annotated[
        float,
        typer.Option(help="Largest share of wrong arms to expect on the flagged list."),
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of the random draws.", min=0)] = 0,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="All arms as a CSV: arm, chance, flagged, mean, pulls.")
    ] = False,
    as_json: Json = False,
    name: Name = None,
) -> None:
    """How likely each arm is to stand out: estimates, not the certificate.

    The prior is learnt from all arms together, which assumes that nothing is
    known beforehand that tells them apart; docs/chances.md says how well it is
    calibrated. What is certain is in `standout study status`.
    """
    with open_study(place, name) as study:
        found = study.chances(false_share=false_share, seed=seed)
        if as_json:
            print_json(found.to_dict())
        elif as_csv:
            _write_csv(found, study.identification())
        else:
            typer.echo("\n".join(_lines(found)))


def _write_csv(found: Chances, answer: Identification) -> None:
    from standout.study.csv_files import guarded, quoted

    flagged = set(found.flagged)
    # Not typer.echo, which takes control characters out of names.
    sys.stdout.write("arm,chance,flagged,mean,pulls\n")
    for i, arm in enumerate(found.arms):
        mean = "" if answer.means[i] != answer.means[i] else repr(float(answer.means[i]))
        sys.stdout.write(
            f"{quoted(guarded(arm))},{found.chance[i]:.6f},{int(arm in flagged)},"
            f"{mean},{answer.pulls_by_arm[i]}\n"
        )


def _lines(found: Chances) -> list[str]:
    from standout.text import plural, printable

    lines = [f"estimates from {plural(found.pulls, 'pull')}, not certain:"]
    lines += [
        f"  chance {shown(chance)}  {printable(arm, 100)}" for arm, chance in found.leaders(LISTED)
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
    if found.note:
        lines.append(found.note)
    return lines


def leaders_lines(study: Study, undecided: Sequence[str]) -> list[str]:
    """The undecided arms with the highest chances, in words that no certificate uses.

    Nothing for so many arms that a look would take long.
    """
    from standout.text import printable

    if len(study.arms) > MOST_SHOWN:
        return []
    is_open, found = set(undecided), study.chances()
    leaders = [pair for pair in found.leaders(len(found.arms)) if pair[0] in is_open][:LEADERS]
    words = ", ".join(f"{printable(arm, 40)} chance {shown(chance)}" for arm, chance in leaders)
    return [f"estimates, not certain: {words}"]


def shown(chance: float) -> str:
    """A chance in two digits, never as if it were certain.

    >>> shown(0.9723), shown(0.99999), shown(0.0)
    ('0.97', '>0.99', '<0.01')
    """
    if chance > 0.99:
        return ">0.99"
    return "<0.01" if chance < 0.01 else f"{chance:.2f}"


def summary(study: Study) -> dict[str, Any] | None:
    """The chances as JSON without an entry for every arm: the leaders instead.

    None for so many arms that a look would take long.
    """
    if len(study.arms) > MOST_SHOWN:
        return None
    found = study.chances()
    plain = found.to_dict()
    del plain["arms"], plain["chance"]
    leaders = [{"arm": arm, "chance": chance} for arm, chance in found.leaders(LEADERS)]
    return {"leaders": leaders, **plain}
