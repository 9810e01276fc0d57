"""The answer in sentences: which arms stand out, where the threshold is, what to do next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from standout.results.interval import possible_means, words_of
from standout.text import Digits, agree, count, listed, plural, printable

if TYPE_CHECKING:
    from standout.results.answer import Identification

MOST = 5
"""The largest number of arms named in a sentence."""


def answer_sentences(found: Identification) -> list[str]:
    """The answer as sentences: arms with their intervals, threshold, pulls, chance of an error."""
    digits = Digits((found.upper - found.lower).tolist() if len(found.means) else [])
    lines = [_standing_out(found, digits)]
    if found.undecided:
        lines += _undecided(found, digits)
    if found.outliers or found.normal:
        low, high = possible_means("" if found.problem is None else found.problem.noise)
        words = [words_of(each.lower, each.upper, low, high, digits) for each in found.thresholds]
        is_two = len(words) > 1
        lines.append(
            f"The threshold{'s lie' if is_two else ' lies'} {' and '.join(words)}. "
            f"{plural(found.pulls, 'pull')}{_wrong(found)}."
        )
    return lines


def _wrong(found: Identification) -> str:
    if found.problem is None:
        return ""
    return f"; the chance that any verdict is wrong is at most {found.problem.delta:g}"


def _standing_out(found: Identification, digits: Digits) -> str:
    of = f"of the {count(len(found.arms))} arms"
    certainly = " for certain" if found.undecided else ""
    if not found.outliers:
        return f"None {of} stands out{certainly}."
    number = len(found.outliers)
    shown = listed(_with_intervals(found, found.outliers, digits), MOST, width=110)
    verb = agree(number, "stands", "stand")
    return f"{count(number)} {of} {verb} out{certainly}: {shown}."


def _undecided(found: Identification, digits: Digits) -> list[str]:
    number = len(found.undecided)
    shown = listed(_with_intervals(found, found.undecided, digits), 4, width=110)
    lines = [f"{plural(number, 'arm')} {agree(number, 'is', 'are')} undecided: {shown}."]
    certain = set(found.outliers)
    guess = [printable(str(arm), 40) for arm in found.best_guess if arm not in certain]
    if guess:
        lines.append(f"Best guess, not certain: {listed(guess, MOST)} would stand out.")
    return lines


def _with_intervals(found: Identification, arms: Any, digits: Digits) -> list[str]:
    """The first arms by name, each with its mean, interval and pulls."""
    place = {arm: i for i, arm in enumerate(found.arms)}
    texts = []
    for number, arm in enumerate(arms):
        name, i = printable(str(arm), 40), place.get(arm)
        if number >= MOST or i is None or not len(found.means) or math.isnan(found.means[i]):
            texts.append(name)
            continue
        interval = digits.interval(float(found.lower[i]), float(found.upper[i]))
        mean = digits(float(found.means[i]))
        texts.append(f"{name} ({mean}, interval {interval}, {_pulls(found, i)})")
    return texts


def _pulls(found: Identification, i: int) -> str:
    return plural(int(found.pulls_by_arm[i]), "pull")
