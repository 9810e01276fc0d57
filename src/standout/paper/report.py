"""One page with all figures, the claims and the comparison; it needs no other file."""

from __future__ import annotations

import base64
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import metadata
from pathlib import Path

import standout
from standout.paper.claims import Claim
from standout.paper.reference import Comparison, summary
from standout.paper.table import Table, make_table

_PACKAGES = ("numpy", "numba", "matplotlib")

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; color: #1a1a1a; background: #fff; }
img { max-width: 100%; height: auto; display: block; margin: 1rem auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: 1rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem;
  border-bottom: 1px solid #ddd; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.verdict { font-weight: 600; white-space: nowrap; }
@media (max-width: 50rem) { table { display: block; overflow-x: auto; } }
.holds { color: #1c6b2c; } .partly { color: #8a5300; } .fails { color: #a31621; }
code, pre { background: #f4f4f4; padding: .1rem .3rem; } pre { padding: .6rem; overflow-x: auto; }
"""


@dataclass(frozen=True)
class Shown:
    """A figure as made: its pictures (PNG), claims, comparisons and files."""

    title: str
    about: str
    runs: int
    pictures: Mapping[str, bytes]
    claims: tuple[Claim, ...]
    comparisons: tuple[Comparison, ...]
    files: tuple[Path, ...]


def versions() -> dict[str, str]:
    """What made the figures."""
    found = {"standout": standout.__version__, "Python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Each number beside the authors' code's, with the distance in standard errors."""
    return make_table(
        "figure number reference ours error standard_errors_away",
        [
            (each.figure, each.what, each.reference, each.ours, each.error, each.errors_away)
            for each in comparisons
        ],
    )


def report_html(shown: Sequence[Shown], command: str) -> str:
    """The page."""
    claims = [claim for figure in shown for claim in figure.claims]
    comparisons = [each for figure in shown for each in figure.comparisons]
    made_with = ", ".join(f"{name} {version}" for name, version in versions().items())
    counts = ", ".join(
        f"{sum(claim.verdict == verdict for claim in claims)} {word}"
        for verdict, word in (("holds", "hold"), ("partly", "hold partly"), ("fails", "fail"))
    )
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Robust Outlier Arm Identification, reproduced</title><style>{_STYLE}</style>",
        "</head><body><h1>Robust Outlier Arm Identification, reproduced</h1>",
        "<p>The figures of Zhu, Katariya &amp; Nowak (ICML 2020), computed again.</p>",
        f"<pre>{escape(command)}</pre><p>Made with {escape(made_with)}.</p>",
        f"<h2>Claims</h2><p>{len(claims)} claims: {counts}.</p>",
        _claims_html(claims),
    ]
    for figure in shown:
        parts.append(f"<h2>{escape(figure.title)}</h2>")
        parts.append(f"<p>{escape(figure.about)} {figure.runs} runs per point.</p>")
        parts += [_picture_html(name, picture) for name, picture in figure.pictures.items()]
    parts += [
        "<h2>Beside the authors’ code</h2>",
        "<p>Numbers that the authors’ released code gave, run apart with other seeds. The last "
        "column is the difference in standard errors of that difference.</p>",
        "".join(f"<p>{escape(sentence)}.</p>" for sentence in summary(comparisons)),
        _comparisons_html(comparisons),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _claims_html(claims: Sequence[Claim]) -> str:
    rows = [
        f"<tr><td>{escape(claim.figure)}</td><td>{escape(claim.claim)}</td>"
        f"<td>{escape(claim.measured)}</td>"
        f'<td class="verdict {claim.verdict}">{claim.verdict}</td>'
        f"<td>{escape(claim.reason)}</td></tr>"
        for claim in claims
    ]
    head = "<tr><th>figure</th><th>the paper</th><th>measured</th><th>verdict</th><th>why</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _comparisons_html(comparisons: Sequence[Comparison]) -> str:
    rows = [
        f"<tr><td>{each.figure}</td><td>{escape(each.what)}</td>"
        f'<td class="number">{_number(each.reference)}</td>'
        f'<td class="number">{_number(each.ours)}</td>'
        f'<td class="number">{_away(each)}</td></tr>'
        for each in comparisons
    ]
    head = (
        '<tr><th>figure</th><th>number</th><th class="number">reference</th>'
        '<th class="number">ours</th><th class="number">standard errors away</th></tr>'
    )
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _picture_html(name: str, picture: bytes) -> str:
    data = base64.b64encode(picture).decode()
    return f'<img alt="{escape(name)}" src="data:image/png;base64,{data}">'


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.6g}"


def _away(each: Comparison) -> str:
    if each.error == 0:
        return "exact" if each.is_same else "differs"
    return f"{each.errors_away:+.1f}"
