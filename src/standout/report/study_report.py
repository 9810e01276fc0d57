"""The report of a study: one HTML file that opens anywhere, without scripts or network."""

from __future__ import annotations

import math
from importlib.resources import files

from standout import __version__
from standout.report import question_words, study_words
from standout.report.arm_table import arm_table
from standout.report.checks import ALPHA
from standout.report.citation import citations
from standout.report.findings import FINE, NOTE, SKIPPED, WARNING, Finding
from standout.report.phrases import BEGIN, END, Digits, count, moment, plural, short, span
from standout.report.study_facts import Facts, gather
from standout.report.svg import text
from standout.report.svg_arms import arms_picture
from standout.report.svg_bars import effort_bars
from standout.report.svg_many import is_crowded
from standout.report.svg_trace import trace_pictures
from standout.study import Study

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
_SIGNS = {FINE: "✓", WARNING: "!", NOTE: "i", SKIPPED: "–"}
_LEVELS = {FINE: "fine", WARNING: "warning", NOTE: "worth knowing", SKIPPED: "not tested"}
_ORDER = (WARNING, NOTE, FINE, SKIPPED)


def render_report(study: Study, *, seed: int = 0) -> str:
    """The whole page. It reads all rewards: give it a handle that nobody else waits for."""
    return render(gather(study, seed=seed))


def render(facts: Facts) -> str:
    """The page of facts gathered before."""
    seen = facts.seen
    digits = Digits((seen.upper - seen.lower).tolist())
    style = files("standout.report").joinpath("study_report.css").read_text("utf-8")
    name = text(short(seen.name, 80))
    body = [
        _head(facts, name),
        _answer(facts),
        _picture(facts, digits),
        _effort(facts),
        _course(facts, digits),
        _meaning(facts),
        _checks(facts),
        _arms(facts, digits),
        _colophon(facts),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta name="generator" content="standout {__version__}">'
        f"<title>{name}: which arms stand out?</title><style>{style}</style></head>\n"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _section(key: str, title: str, *parts: str) -> str:
    """A section with its heading; nothing where there is nothing to say."""
    if not any(parts):
        return ""
    return (
        f'\n<section id="{key}" aria-labelledby="h-{key}"><h2 id="h-{key}">{title}</h2>'
        f"{''.join(parts)}</section>"
    )


def _p(words: str, kind: str = "") -> str:
    if not words:
        return ""
    return f'<p class="{kind}">{text(words)}</p>' if kind else f"<p>{text(words)}</p>"


def _whole(page: str) -> str:
    """Keep each marked name on one line."""
    return page.replace(BEGIN, '<span class="whole">').replace(END, "</span>")


def _head(facts: Facts, name: str) -> str:
    seen = facts.seen
    state = "finished" if seen.stopped else "under way"
    when = f"begun {moment(seen.created)}"
    if seen.stopped_at is not None:
        took = span(max(0.0, seen.stopped_at - seen.created))
        when += f", stopped {moment(seen.stopped_at)} (after {took})"
    return (
        f'<header><p class="kicker">Study report · {state}</p><h1>{name}</h1>'
        f'<p class="remark">{text(when)}</p></header>'
    )


def _answer(facts: Facts) -> str:
    counts = facts.seen.counts
    numbers = [
        ("arms", counts.arms, ""),
        ("stand out", counts.outliers, "outlier"),
        ("normal", counts.normal, "normal"),
        ("undecided", counts.undecided, "undecided"),
        ("pulls", counts.pulls, ""),
    ]
    cells = "".join(
        f'<div class="{kind}"><dt>{words}</dt><dd>{count(number)}</dd></div>'
        for words, number, kind in numbers
    )
    return (
        '\n<section id="answer" aria-labelledby="h-answer"><h2 id="h-answer" class="kicker">'
        f"The answer</h2>{_whole(_p(study_words.answer(facts, marked=True), 'answer'))}"
        f"{_p(study_words.confidence(facts))}{_p(study_words.guess(facts))}"
        f'<dl class="numbers">{cells}</dl>{_doubt(facts)}</section>'
    )


def _doubt(facts: Facts) -> str:
    """What every reader must know before believing the answer."""
    warnings = facts.warnings
    if not warnings:
        return ""
    items = "".join(f"<li>{text(each.title)}: {text(each.text)}</li>" for each in warnings)
    return (
        f'<div class="doubt" role="note"><p><strong>{plural(len(warnings), "data check")} '
        f"{'gives' if len(warnings) == 1 else 'give'} cause for doubt.</strong> "
        f'See <a href="#checks">Do the data fit the assumptions?</a></p><ul>{items}</ul></div>'
    )


_LEGEND = (
    '<ul class="legend"><li class="outlier"><b>◆</b> stands out</li><li class="undecided"><b>□</b> '
    'undecided</li><li class="normal"><b>●</b> normal</li><li><i class="swatch"></i> threshold, '
    'known to lie in this band</li><li><i class="dots"></i> median</li></ul>'
)


def _picture(facts: Facts, digits: Digits) -> str:
    drawn = arms_picture(facts, digits)
    if not drawn:
        return ""
    words = (
        "Marks are estimates, lines the intervals in which the means lie. An arm is decided when "
        "its interval lies clear of the threshold's band"
    )
    tolerance = facts.seen.problem.tolerance
    words += f", up to the tolerance of {tolerance:g}." if tolerance else "."
    if is_crowded(facts):
        words += " So many arms do not fit one by one: most are drawn as a band, the others apart."
    more = study_words.undecided_reason(facts)
    return _section(
        "picture", "The arms against the threshold",
        f"<figure>{_LEGEND}{drawn}<figcaption>{text(words)}</figcaption></figure>", _p(more),
    )  # fmt: skip


def _effort(facts: Facts) -> str:
    words = (
        "The comparison is simulated: arms with the estimates found here, all pulled equally "
        "often, with the same intervals and the same rule for stopping. Real arms lie a little "
        "nearer to the threshold than the estimates of a decided study, so the true number tends "
        "to be larger."
    )
    bars = effort_bars(facts)
    return _section(
        "effort", "How many pulls it took",
        _p(study_words.effort(facts)),
        f"<figure>{bars}</figure>" if bars else "",
        _p(words, "remark") if bars else "",
    )  # fmt: skip


def _course(facts: Facts, digits: Digits) -> str:
    drawn = trace_pictures(facts, digits)
    if not drawn:
        return ""
    words = "As pulls come in, the threshold is known ever better and arms leave the undecided."
    return _section(
        "course", "How certainty grew",
        f"<figure>{drawn}<figcaption>{words}</figcaption></figure>",
    )  # fmt: skip


def _meaning(facts: Facts) -> str:
    def items(lines: list[str]) -> str:
        return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"

    rows = "".join(
        f'<tr><th scope="row">{text(what)}</th><td>{text(value)}</td></tr>'
        for what, value in question_words.settings(facts)
    )
    return _section(
        "meaning", "What was asked, and what is guaranteed",
        "<h3>The question</h3>",
        *(_p(line) for line in question_words.question(facts)),
        "<h3>The guarantee</h3>", items(question_words.guarantee(facts)),
        "<h3>It rests on these assumptions</h3>", items(question_words.assumptions(facts)),
        f'<h3>All settings</h3><table class="settings"><tbody>{rows}</tbody></table>',
    )  # fmt: skip


def _checks(facts: Facts) -> str:
    tested = [finding for finding in facts.findings if finding.alpha is not None]
    about = ""
    if tested:
        often = round(1 / ALPHA)
        about = (
            f"Each statistical check warns about a study without fault in at most 1 of "
            f"{count(often)} cases; all {len(tested)} together in at most {len(tested)} of "
            f"{count(often)}. No warning does not prove that all is well."
        )
    items = "".join(
        _finding(finding) for finding in sorted(facts.findings, key=lambda f: _ORDER.index(f.level))
    )
    return _section(
        "checks", "Do the data fit the assumptions?", f'<ul class="checks">{items}</ul>',
        _p(about, "remark"),
    )  # fmt: skip


def _finding(finding: Finding) -> str:
    level = finding.level
    advice = f'<p class="advice">{text(finding.advice)}</p>' if finding.advice else ""
    chance = ""
    if level == WARNING and finding.p is not None:
        shown = (
            "less than 1 in a million" if finding.p < 1e-6 else f"at most {_rounded_up(finding.p)}"
        )
        chance = f'<p class="remark">Chance of seeing this without cause: {shown}.</p>'
    return (
        f'<li class="{level}"><b class="sign" aria-hidden="true">{_SIGNS[level]}</b><div>'
        f'<h3>{text(finding.title)} <span class="level">{_LEVELS[level]}</span></h3>'
        f"{_p(finding.text)}{advice}{chance}</div></li>"
    )


def _rounded_up(p: float) -> str:
    """One digit that still is a bound."""
    unit = 10.0 ** math.floor(math.log10(p))
    return f"{math.ceil(p / unit) * unit:.1g}"


def _arms(facts: Facts, digits: Digits) -> str:
    return _section("arms", "All arms", arm_table(facts, digits))


def _colophon(facts: Facts) -> str:
    cited = "".join(f"<li>{text(line)}</li>" for line in citations())
    place = "ADDRESS" if facts.log.file is None else _quoted(facts.log.file)
    command = f"standout report {place} --study {_quoted(facts.seen.name)} -o report.html"
    if facts.seed:
        command += f" --seed {facts.seed}"
    return _section(
        "cite", "How to cite, and how to make this again",
        f"<ul>{cited}</ul>",
        f'<p class="remark">Made {moment(facts.made)} by standout {__version__} with</p>'
        f"<pre><code>{text(command)}</code></pre>",
    )  # fmt: skip


def _quoted(word: str) -> str:
    from shlex import quote

    return quote(short(word, 200))
