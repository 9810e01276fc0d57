"""Mermaid's flowcharts as rows of boxes and arrows, without a script.

GitHub draws a `mermaid` block; a browser would need three megabytes of JavaScript for it. The
charts here are chains of boxes, so each line becomes a row that wraps on a phone, and a
subgraph a frame around its rows.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

ARROW = re.compile(r'\s*-->(?:\|"?(?P<words>[^|"]*)"?\|)?\s*')
BOX = re.compile(r'^(?P<id>[\w/]+)(?:[\[{]"?(?P<words>[^\]}"]*)"?[\]}])?$')


def drawn(chart: str) -> str:
    """The chart as HTML. Raises `ValueError` for a line that it cannot read."""
    known = {m["id"]: m["words"] for m in re.finditer(BOX.pattern[1:-1], chart) if m["words"]}
    rows = []
    for line in chart.strip().splitlines()[1:]:
        line = line.strip()
        if line.startswith("subgraph"):
            title = re.sub(r'^subgraph\s+\w+\["?([^\]"]*)"?\]$', r"\1", line)
            rows.append(f'<div class="flow-frame"><p>{escape(title)}</p>')
        elif line == "end":
            rows.append("</div>")
        elif line:
            rows.append(f'<div class="flow">{_row(line, known)}</div>')
    return f'<div class="flows">{"".join(rows)}</div>'


def _row(line: str, known: dict[str, str]) -> str:
    made, place = [], 0
    for arrow in [*ARROW.finditer(line), None]:
        text = line[place : arrow.start() if arrow else len(line)].strip()
        box = BOX.match(text)
        if box is None:
            raise ValueError(f"not a box of a flowchart: {text!r}")
        words = known.get(box["id"], box["id"])
        made.append(f'<span class="flow-box">{_text(words)}</span>')
        if arrow:
            said = _text(arrow["words"] or "")
            made.append(f'<span class="flow-arrow">{said}<b aria-label="to">→</b></span>')
            place = arrow.end()
    return "".join(made)


def _text(words: str) -> str:
    return escape(words).replace("&lt;br&gt;", "<br>")


class Flowcharts(SphinxPostTransform):
    """Puts the drawing in the block's place."""

    default_priority = 100
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Once for each page."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") == "mermaid":
                block.replace_self(nodes.raw("", drawn(block.astext()), format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_post_transform(Flowcharts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
