"""An answer as one HTML page: summary, picture and table. The page of a study is its report."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from standout import __version__
from standout.files import writing
from standout.report.page import render_report
from standout.results.display import Displayed
from standout.study import Study

MOST_ROWS = 2000
"""The largest number of rows in the table; a data frame has all of them."""
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 860px; margin: 2rem auto; padding: 0 1rem }
pre { font: inherit; white-space: pre-wrap }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { text-align: left; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid #8884 }
.remark { opacity: .7; font-size: 13px }
.table { overflow-x: auto }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title><style>{style}</style></head>
<body><h1>{title}</h1>{answer}<div class="table">{table}</div>
<p class="remark">{remark}</p></body></html>
"""


def write(answer: Displayed, path: Path) -> Path:
    """Write the page of an answer, or the report of a local study."""
    page = render_report(answer) if isinstance(answer, Study) else render(answer)
    with writing(path) as file:
        file.write(page)
    return path


def render(answer: Displayed) -> str:
    """The page; every value is escaped, except the SVG that the answer draws itself."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return _PAGE.format(
        title=escape(_title(answer)),
        style=_STYLE,
        answer=Markup(answer._repr_html_()),
        table=_table(answer.columns()),
        remark=escape(f"Made by standout {__version__}, {made}."),
    )


def _title(answer: Displayed) -> str:
    return f"{type(answer).__name__}: which arms stand out?"


def _table(columns: dict[str, Any]) -> Markup:
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in columns)
    cells = list(zip(*columns.values(), strict=True))
    rows = [
        Markup("<tr>{}</tr>").format(
            Markup("").join(Markup("<td>{}</td>").format(_shown(value)) for value in row)
        )
        for row in cells[:MOST_ROWS]
    ]
    more = ""
    if len(cells) > MOST_ROWS:
        more = Markup('<p class="remark">{:,} more rows are not shown.</p>').format(
            len(cells) - MOST_ROWS
        )
    body = Markup("").join(rows)
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}").format(
        head, body, more
    )


def _shown(value: Any) -> str:
    """A value as the table shows it."""
    if isinstance(value, float):  # Includes NumPy's.
        return "–" if math.isnan(value) else f"{value:.5g}".replace("-", "\u2212")
    return str(value)
