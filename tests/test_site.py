"""The documentation: `make docs` builds it with warnings as errors; here is what it cannot see."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import standout

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
