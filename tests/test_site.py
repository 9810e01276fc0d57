"""The documentation: `make docs` builds it with warnings as errors; here is what it cannot see."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import standout
from standout.cli.main import app

ROOT = Path(__file__).resolve().parents[1]


def test_the_reference_has_every_public_name() -> None:
    """Errors come from their module as a whole."""
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    named = set(re.findall(r"^\.\. [a-z:]+:: standout\.(\w+)$", page, re.MULTILINE))
    assert "errors" in named
    assert set(standout.__all__) - set(standout.errors.__all__) <= named


PAGE = '<html id="top"><a href="other.html#{anchor}">x</a><img src="{picture}"></html>'


@pytest.mark.parametrize(
    ("anchor", "picture", "fault"),
    [
        ("here", "a.png", None),
        ("there", "a.png", "index.html: other.html#there: no such anchor"),
        ("here", "b.png", "index.html: b.png: no such file"),
        ("here", "//there.example/a.png", "is loaded from another site"),
        ("here", "https://there.example/a.png", "is loaded from another site"),
    ],
)
def test_a_dead_or_foreign_link_is_found(
    tmp_path: Path, anchor: str, picture: str, fault: str | None
) -> None:
    (tmp_path / "index.html").write_text(PAGE.format(anchor=anchor, picture=picture))
    (tmp_path / "other.html").write_text('<p id="here"><a href="https://there.example">y</a></p>')
    (tmp_path / "a.png").touch()
    (tmp_path / "site.css").write_text("p { background: url(a.png) }")
    found = list(runpy.run_path(str(ROOT / "tools" / "check_site.py"))["faults"](tmp_path))
    assert len(found) == (fault is not None)
    assert fault is None or found[0].endswith(fault)


def test_a_font_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>x</p>")
    (tmp_path / "site.css").write_text('@import "https://there.example/font.css"; ')
    found = list(runpy.run_path(str(ROOT / "tools" / "check_site.py"))["faults"](tmp_path))
    assert found == ["site.css: https://there.example/font.css: is loaded from another site"]


TEACHING = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def shell_lines(page: Path) -> list[str]:
    """Those of blocks for a shell: `sh`, `console`, or without a language."""
    kind, lines = None, []
    for line in page.read_text("utf-8").replace("\\\n", " ").splitlines():
        if line.startswith("```"):
            kind = line[3:] if kind is None else None
        elif kind in ("", "sh", "console"):
            lines.append(line)
    return lines


def commands(page: Path) -> list[list[str]]:
    """The words of every command of ours among them."""
    found = []
    for line in shell_lines(page):
        line = re.sub(r"\$\([^)]*\)", "X", line)
        if match := re.search(r"(?:^|^\$ |[;=] |[a-z0-9] |\* )(standout [a-z].*)", line):
            found.append(shlex.split(re.split(r" [|>&]", match[1])[0], comments=True))
    return found


def test_commands_on_the_pages_exist_with_their_options() -> None:
    wrong, seen = [], 0
    for page in TEACHING:
        for words in commands(page):
            seen += 1
            command: Any = get_command(app)
            rest = words[1:]
            while rest and rest[0] in getattr(command, "commands", {}):
                command = command.commands[rest.pop(0)]
            options = {name for option in command.params for name in (*option.opts, "-h", "--help")}
            given = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
            if hasattr(command, "commands") and rest and not given:
                wrong.append(f"{page.name}: no command {' '.join(words)}")
            wrong += [f"{page.name}: {' '.join(words)}: {o}" for o in given if o not in options]
    assert seen > 60
    assert wrong == []


def test_flowcharts_become_rows_of_boxes() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "_ext" / "flowcharts.py"))["drawn"]
    chart = 'flowchart LR\n  A["x < y<br>z"] -->|"why & how"| b/c --> D{who}\n  D --> A\n'
    made = drawn(chart)
    boxes = re.findall(r'<span class="flow-box">(.*?)</span>', made)
    assert boxes == ["x &lt; y<br>z", "b/c", "who", "who", "x &lt; y<br>z"]
    assert "why &amp; how" in made
    with pytest.raises(ValueError, match="not a box"):
        drawn("flowchart LR\n  A -.-> B\n")
