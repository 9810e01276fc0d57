"""The report of a study: one HTML file that opens anywhere, without scripts or network."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from shlex import quote
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from standout import __version__
from standout.analysis.checks.findings import FINE, NOTE, SKIPPED, WARNING
from standout.analysis.checks.ranks import ALPHA
from standout.core.kinds import Verdict
from standout.core.problem import Side
from standout.pictures.marks import MARKS, NORMAL, OUTLIER, UNDECIDED, css
from standout.pictures.svg import effort_bars
from standout.pictures.svg_arms import MOST_ROWS, many, rows
from standout.pictures.svg_trace import trace_pictures
from standout.report import question, words
from standout.report.estimates import estimates
from standout.report.facts import CITATIONS, Facts, gather
from standout.study import Study
from standout.text import BEGIN, END, Digits, count, moment, plural, printable, span

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
_SIGNS = {FINE: "✓", WARNING: "!", NOTE: "i", SKIPPED: "–"}
_LEVELS = {FINE: "fine", WARNING: "warning", NOTE: "worth knowing", SKIPPED: "not tested"}
_ORDER = (WARNING, NOTE, FINE, SKIPPED)
MOST_NORMAL = 1000
"""The largest number of normal arms shown; outliers and undecided arms are always shown."""
MOST_BYTES = 1_400_000
"""Beyond this size of the page, even those are cut."""
ROW_BYTES = 110
"""The size of a row without its name."""


def render_report(
    study: Study,
    *,
    seed: int = 0,
    files: str | None = None,
    told: Callable[[str], object] = str,
) -> str:
    """The whole page. It reads all rewards, so use a handle that no other thread waits for."""
    return render(gather(study, seed=seed, files=files, told=told))


def render(facts: Facts) -> str:
    """The page of the given facts."""
    seen = facts.seen
    digits = Digits((seen.upper - seen.lower).tolist())
    listed, left_out = table_rows(facts, digits)
    return _template().render(
        **_head(facts),
        **_answer(facts),
        **_pictures(facts, digits),
        **estimates(facts, digits),
        cards=_cards(facts),
        effort=words.effort(facts),
        question=question.question(facts),
        guarantee=question.guarantee(facts),
        assumptions=question.assumptions(facts),
        settings=question.settings(facts),
        changes=question.changes(facts),
        notes=question.notes(facts),
        findings=sorted(facts.findings, key=lambda each: _ORDER.index(each.level)),
        about_checks=_about_checks(facts),
        rows=listed,
        left_out=left_out,
        citations=CITATIONS,
        made=moment(facts.made),
        command=_command(facts),
    )


def template_of(package: str, name: str, **filters: Callable[..., str]) -> Template:
    """The template `name` of a package; values are escaped, and a missing value is an error."""
    here = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    here.filters |= filters
    return here.from_string(files(package).joinpath(name).read_text("utf-8"))


@cache
def _template() -> Template:
    found = template_of("standout.report", "page.html", whole=_whole, chance=_chance)
    style = files("standout.report").joinpath("style.css").read_text("utf-8")
    more: dict[str, Any] = {
        "policy": _POLICY,
        "version": __version__,
        "signs": _SIGNS,
        "levels": _LEVELS,
        "style": Markup(_colours() + style),
    }
    found.globals.update(more)
    return found


def _colours() -> str:
    """The colours of verdicts and threshold; on paper, the light ones."""
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {css('dark')} }} }}"
    return f":root {{ {css('light')} }}\n{dark}\n@media print {{ :root {{ {css('light')} }} }}\n"


def _whole(text: str) -> Markup:
    """Keep each marked name on one line."""
    marked = str(escape(text))
    return Markup(marked.replace(BEGIN, '<span class="whole">').replace(END, "</span>"))


def _chance(p: float) -> str:
    """A probability rounded up to one digit, so that it stays an upper bound."""
    if p < 1e-6:
        return "less than 1 in a million"
    unit = 10.0 ** math.floor(math.log10(p))
    return f"at most {math.ceil(p / unit) * unit:.1g}"


def _head(facts: Facts) -> dict[str, Any]:
    seen = facts.seen
    when = f"begun {moment(seen.created)}"
    if seen.stopped_at is not None:
        took = span(max(0.0, seen.stopped_at - seen.created))
        when += f", stopped {moment(seen.stopped_at)} (after {took})"
    return {
        "name": printable(seen.name, 80),
        "state": "finished" if seen.stopped else "under way",
        "when": when,
    }


def _answer(facts: Facts) -> dict[str, Any]:
    counts, number = facts.seen.counts, len(facts.warnings)
    give = "gives" if number == 1 else "give"
    return {
        "answer": words.answer(facts, marked=True),
        "confidence": words.confidence(facts),
        "guess": words.guess(facts),
        "likely": facts.picture.likely,
        "numbers": [
            ("arms", count(counts.arms), ""),
            (OUTLIER.many, count(counts.outliers), OUTLIER.name),
            (NORMAL.name, count(counts.normal), NORMAL.name),
            (UNDECIDED.name, count(counts.undecided), UNDECIDED.name),
            ("pulls", count(counts.pulls), ""),
        ],
        "warnings": facts.warnings,
        "doubt": f"{plural(number, 'data check')} {give} reason to doubt the data.",
    }


def _cards(facts: Facts) -> dict[str, Any]:
    counts = facts.seen.counts
    title = "What stands out" if counts.outliers else "What probably stands out"
    shown = [
        (printable(facts.seen.names[card.arm], 80), card, MARKS[facts.picture.kind(card.arm)].name)
        for card in facts.cards
    ]
    left = counts.outliers - len(shown)
    more = f"and {plural(left, 'more arm')}: see the table below." if left > 0 else ""
    return {"title": title, "shown": shown, "more": more if shown else ""}


def _pictures(facts: Facts, digits: Digits) -> dict[str, Any]:
    picture, pulls, uniform = facts.picture, facts.seen.counts.pulls, facts.uniform
    draw = rows if len(picture.names) <= MOST_ROWS else many
    return {
        "arms_picture": Markup(draw(picture, digits) if pulls else ""),
        "caption": words.caption(facts),
        "legend": _legend(picture.side),
        "undecided_reason": words.undecided_reason(facts),
        "bars": Markup("" if uniform is None else effort_bars(pulls, uniform)),
        "trace_picture": Markup(trace_pictures(facts.trace, digits)),
    }


def _legend(side: Side) -> list[tuple[str, str, str]]:
    both = side is Side.BOTH
    found = []
    if side is not Side.LOW:
        found.append((OUTLIER.name, OUTLIER.glyph.fine, ("high " if both else "") + OUTLIER.name))
    if side is not Side.HIGH:
        found.append((OUTLIER.name, OUTLIER.low.fine, ("low " if both else "") + OUTLIER.name))
    return [*found, *((mark.name, mark.glyph.fine, mark.name) for mark in (UNDECIDED, NORMAL))]


def _about_checks(facts: Facts) -> str:
    tested = sum(finding.alpha is not None for finding in facts.findings)
    if not tested:
        return ""
    often = count(round(1 / ALPHA))
    return (
        f"Each statistical check warns about a faultless study in at most 1 of {often} cases, all "
        f"{tested} together in at most {tested} of {often}. The absence of warnings does not "
        "prove that the data are sound."
    )


def _command(facts: Facts) -> str:
    place = "ADDRESS" if facts.log.file is None else quote(printable(facts.log.file, 200))
    name = quote(printable(facts.seen.name, 200))
    seed = f" --seed {facts.seed}" if facts.seed else ""
    return f"standout report {place} --study {name} -o report.html{seed}"


@dataclass(frozen=True)
class Row:
    """One arm in words: `kind` is its verdict's name, `verdict` its mark with its word."""

    kind: str
    name: str
    text: str
    verdict: str
    estimate: str
    interval: str
    pulls: str


def table_rows(facts: Facts, digits: Digits) -> tuple[list[Row], str]:
    """Outliers, then undecided, then normal arms; and, in words, what is left out."""
    rows: list[Row] = []
    missing: dict[Verdict, int] = {}
    size = 0
    length = 60 if len(facts.seen.names) > MOST_NORMAL else 120
    for verdict in (Verdict.OUTLIER, Verdict.UNDECIDED, Verdict.NORMAL):
        found = facts.positions(verdict).tolist()
        most = MOST_NORMAL if verdict is Verdict.NORMAL else len(found)
        for place, arm in enumerate(found):
            row = _row(facts, arm, digits, length)
            # An escaped character takes up to six bytes instead of one.
            shown = row.name + row.text
            size += ROW_BYTES + len(shown.encode()) + 5 * sum(c in "<>&\"'" for c in shown)
            if place >= most or size > MOST_BYTES:
                missing[verdict] = len(found) - place
                break
            rows.append(row)
    return rows, _left_out(missing, facts.seen.problem.side)


def _row(facts: Facts, arm: int, digits: Digits, length: int) -> Row:
    seen, picture = facts.seen, facts.picture
    mark = MARKS[picture.kind(arm)]
    glyph = mark.low if picture.is_low(arm) else mark.glyph
    return Row(
        kind=mark.name,
        name=printable(seen.names[arm], length),
        text=facts.texts.get(arm, "")[:length],
        verdict=f"{glyph.fine} {picture.word(arm)}",
        estimate=digits(float(seen.estimate[arm])),
        interval=digits.interval(float(seen.lower[arm]), float(seen.upper[arm])),
        pulls=count(int(seen.pulls[arm])),
    )


def _left_out(missing: dict[Verdict, int], side: Side) -> str:
    if not missing:
        return ""
    parts = " and ".join(f"{count(number)} {MARKS[kind].name}" for kind, number in missing.items())
    which = "largest" if side is Side.LOW else "smallest"
    return (
        f"To keep this file small, {parts} arms (those with the {which} estimates) are not shown."
    )
