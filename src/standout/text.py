"""Numbers, lists and times in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from standout.results import Ending

LONGEST_NAME = 60
WHOLE = 30
"""Names of at most this length fit on a line."""


def printable(name: str, width: int = LONGEST_NAME) -> str:
    """A name on one line of at most `width` characters, without control characters."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return text if len(text) <= width else text[: width - 1] + "…"


def count(number: float) -> str:
    """A whole number with thousands separators: 12345.2 as `12,345`."""
    return f"{number:,.0f}"


def rounded(number: float) -> str:
    """An approximate number with two significant digits: 12,345 as 12,000."""
    if number <= 0 or not math.isfinite(number):
        return f"{number:g}"
    unit = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return f"{round(number / unit) * unit:,.0f}"


def signed(number: float) -> str:
    """A number with its sign; a negative one with a real minus."""
    return f"{number:+.2g}".replace("-", "\u2212")


BEGIN, END = "\ue000", "\ue001"
"""Enclose a name that a page must not break; `printable` removes them from names."""


def listed(
    things: Sequence[str], most: int = 5, *, marked: bool = False, width: int = LONGEST_NAME
) -> str:
    """`a`, `a and b`, `a, b and c`, or `a, b and 7 more`; each cut to `width` characters."""
    shown = [printable(thing, width) for thing in things]
    if marked:
        shown = [f"{BEGIN}{thing}{END}" if len(thing) <= WHOLE else thing for thing in shown]
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{count(len(things) - most + 1)} more"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def plural(number: int, one: str, many: str = "") -> str:
    """A number with its noun in the right form.

    >>> plural(1, "arm"), plural(2345, "arm"), plural(0, "study", "studies")
    ('1 arm', '2,345 arms', '0 studies')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def agree(number: int, one: str, many: str) -> str:
    """The form of a word that agrees with a number.

    >>> agree(1, "is", "are"), agree(0, "is", "are")
    ('is', 'are')
    """
    return one if number == 1 else many


def verdicts(outliers: int, normal: int, undecided: int) -> str:
    """The numbers of arms by verdict.

    >>> verdicts(1, 4, 0)
    '1 outlier, 4 normal, 0 undecided'
    """
    return f"{plural(outliers, 'outlier')}, {count(normal)} normal, {count(undecided)} undecided"


def article(noun: str) -> str:
    """A noun with its indefinite article.

    >>> article("owner's token"), article("pull"), article("uniform pull")
    ("an owner's token", 'a pull', 'a uniform pull')
    """
    is_vowel = noun[:1].lower() in tuple("aeiou") and not noun.lower().startswith(("uni", "use"))
    return f"{'an' if is_vowel else 'a'} {noun}"


def moment(seconds: float) -> str:
    """A time for users, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def iso(seconds: float | None) -> str | None:
    """A time for programs, in ISO 8601."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def span(seconds: float) -> str:
    """A duration in its largest suitable unit."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return plural(round(seconds / size), unit)
    return plural(round(seconds), "second")


class Digits:
    """Formats all values of a study with the same decimals: about 1 % of an interval's width."""

    def __init__(self, widths: Iterable[float]) -> None:
        import numpy as np  # Imported late to keep the command line's help quick.

        finite = [width for width in widths if math.isfinite(width) and width > 0]
        width = float(np.median(finite)) if finite else 0.01
        self.decimals = min(8, max(0, 1 - math.floor(math.log10(width))))

    def __call__(self, value: float) -> str:
        """The value as text; a dash for NaN."""
        if not math.isfinite(value):
            return "–" if math.isnan(value) else ("∞" if value > 0 else "\u2212∞")
        text = f"{value:,.{self.decimals}f}"
        # No minus before a zero.
        return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "\u2212")

    def interval(self, lower: float, upper: float) -> str:
        """Both ends in words, as `0.12 to 0.34`; `not known yet` if both are infinite."""
        if math.isinf(lower) and math.isinf(upper):
            return "not known yet"
        return f"{self(lower)} to {self(upper)}"


def chance_words(chance: float) -> str:
    """A chance with two digits, never rounded to certainty.

    >>> chance_words(0.9723), chance_words(0.99999), chance_words(0.0)
    ('0.97', '>0.99', '<0.01')
    """
    if chance > 0.99:
        return ">0.99"
    return "<0.01" if chance < 0.01 else f"{chance:.2f}"


def endings_words(endings: Sequence[Ending]) -> list[str]:
    """What other tolerances would take, one line each; none if there is nothing to report."""
    if not endings:
        return []
    now, *smaller = endings
    lines = [f"a tolerance of {now.tolerance:g} would decide every arm now (proved)"]
    for one in smaller:
        took = (
            "longer than was simulated"
            if one.pulls is None
            else f"about {rounded(one.pulls)} more pulls"
        )
        lines.append(f"  of {one.tolerance:g}: {took}")
    return lines
