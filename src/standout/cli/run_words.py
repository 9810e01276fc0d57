"""The end of `standout run`: the state of the study, the answer, and the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standout.cli.study_inspect import overview
from standout.results import StopReason
from standout.text import printable

if TYPE_CHECKING:
    from standout.client import RemoteStudy
    from standout.results import Identification, Status
    from standout.study import Study


def ending(now: Status, study: Study | RemoteStudy, place: str) -> list[str]:
    """The lines at the end of a run; the answer comes last, where users look."""
    from standout.study import Study

    here = study if isinstance(study, Study) else None
    found = study.identification()
    next_step = _next(now, found, printable(place, 200))
    return [*overview(now, here), "", *found.sentences(), next_step]


def _next(now: Status, found: Identification, place: str) -> str:
    """The next step."""
    if not place:
        return "Next: see every interval on the server's dashboard."
    if not found.undecided:
        return f"Next: standout report {place} -o report.html writes every interval and the checks."
    if now.reason is StopReason.BUDGET:
        more = 2 * (now.budget or 1)
        words = (
            f"Next: standout study set {place} --budget {more}, then the same command with "
            f"--budget {more}"
        )
        if offered := found.offered_endings():
            words += f"; or --tolerance {offered[0].tolerance:g}, which decides every arm now"
        return f"{words}."
    if now.reason is StopReason.RUNNING:
        return "Next: run the same command to continue."
    return f"Next: standout study status {place} shows the undecided arms."
