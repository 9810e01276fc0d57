"""`standout run` without `--noise`: a few pilot pulls, and the noise that they suggest."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from standout.errors import NoStudyError, ProblemError, StudyError
from standout.text import plural

if TYPE_CHECKING:
    from standout.analysis.noise_advice import NoiseAdvice

PILOT_ARMS, PILOT_PULLS = 3, 8
"""The number of arms in the pilot, and the number of pulls of each."""


def noise_of(
    place: str, name: str, arms: Sequence[str], function: Callable[[str], float] | None
) -> str:
    """The noise of an existing study; else the noise that pilot pulls suggest, with a notice.

    The pilot's rewards do not count, because they were used to choose the noise. Without a
    `function`, as on a cluster, there is no pilot.
    """
    from standout.study import Study

    with contextlib.suppress(NoStudyError), Study.open(place, name) as study:
        return study.problem.noise.spec()
    if function is None:
        typer.echo(
            "without --noise, and without a pilot on a cluster, gaussian noise is assumed. "
            "Timings, prices and counts are often skewed: then use --noise heavy:SIGMA.",
            err=True,
        )
        return "gaussian"
    advice = _advice(arms, function)
    if advice.is_sure or advice.noise == "gaussian":
        typer.echo(f"no --noise given; pilot pulls suggest {advice.summary()}", err=True)
        return advice.noise
    raise StudyError(
        f"give the noise; pilot pulls suggest --noise {advice.noise}, "
        f"because {advice.why.rstrip('.')} ({'; '.join(advice.evidence)}). {advice.hint}"
    )


def _advice(arms: Sequence[str], function: Callable[[str], float]) -> NoiseAdvice:
    from standout.analysis.noise_advice import recommend_noise

    rewards: dict[str, list[float]] = {}
    failure: Exception | None = None
    for arm in arms[:PILOT_ARMS]:
        for _ in range(PILOT_PULLS):
            try:
                rewards.setdefault(arm, []).append(float(function(arm)))
            except Exception as error:  # A study continues after a failure, and so does its pilot.
                failure = error
    found = {arm: values for arm, values in rewards.items() if values}
    if not found:
        arms_tried = plural(min(PILOT_ARMS, len(arms)), "arm")
        raise StudyError(f"{arms_tried} could not be measured: {failure}") from failure
    try:
        return recommend_noise(found)
    except ProblemError as error:
        raise StudyError(f"give the noise (--noise): in the pilot {error}") from None
