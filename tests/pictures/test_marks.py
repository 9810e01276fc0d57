"""One mark, one colour and one word per verdict: in the terminal, the report and the pages."""

from __future__ import annotations

import itertools
import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from standout.core.kinds import Verdict
from standout.core.typing import Floats
from standout.pictures import marks
from standout.pictures.marks import MARKS, OUTLIER, THRESHOLD, colours
from standout.service.pages import assets

GROUNDS = {
    "light": ("#ffffff", "#f5f6f8", "#eef0f4", "#f5f7f9"),
    "dark": ("#171c25", "#0e1218", "#202735", "#12171e", "#1a212b"),
}
"""What marks and words stand on, in the report and on the pages."""
# Machado, Oliveira and Fernandes (2009): linear RGB as seen without one kind of cone.
SEEN = {
    "all cones": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}  # fmt: skip
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def rgb(colour: str) -> Floats:
    return np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])


def linear(parts: Floats) -> Floats:
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: Floats, other: Floats) -> float:
    low, high = sorted(float(XYZ[1] @ linear(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(light: Floats) -> Floats:
    xyz = XYZ @ np.clip(light, 0, 1) / XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_in_these_colours_can_be_read_and_marks_be_seen(theme: str) -> None:
    fill, share = rgb(colours(theme)["band"]), int(colours(theme)["band"][7:], 16) / 255
    for ground in map(rgb, GROUNDS[theme]):
        for mark in MARKS.values():
            ink = rgb(getattr(mark.colour, theme))
            assert contrast(ink, ground) >= 4.5, (mark.name, ground)
            # A mark may lie on the threshold's band.
            assert contrast(ink, share * fill + (1 - share) * ground) >= 3, (mark.name, ground)
        assert contrast(rgb(colours(theme)["band-line"]), ground) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eyes", SEEN)
def test_colours_differ_for_all_eyes(theme: str, eyes: str) -> None:
    seen = [
        lab(np.array(SEEN[eyes]) @ linear(rgb(getattr(mark.colour, theme))))
        for mark in MARKS.values()
    ]
    # 2.3 is a difference that is just noticed.
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 18


def test_nothing_hangs_on_colour() -> None:
    glyphs = [{mark.glyph, mark.low} for mark in MARKS.values()]
    for one, other in itertools.combinations(glyphs, 2):
        assert {each.fine for each in one}.isdisjoint(each.fine for each in other)
        assert {each.plain for each in one}.isdisjoint(each.plain for each in other)
    shapes = [(mark.corners, mark.radius, mark.is_open) for mark in MARKS.values()]
    assert len({len(corners) for corners, *_ in shapes}) == len(MARKS)
    for mark in (*MARKS.values(), THRESHOLD):
        assert mark.glyph.plain.isascii()
        assert len(mark.glyph.fine) == len(mark.glyph.plain) == 1


def test_a_low_outlier_stands_upside_down() -> None:
    def heights(path: str) -> list[float]:
        return [float(pair.split()[1]) for pair in re.findall(r"[\d.-]+ [\d.-]+", path)]

    high = heights(marks.outline(OUTLIER, False, 0, 0, 10))
    assert heights(marks.outline(OUTLIER, True, 0, 0, 10)) == [-y for y in high]
    assert min(high) == high[0]


def test_the_pages_have_the_same_table() -> None:
    _, served = assets()
    script = served["marks.js"].body.decode()
    for verdict in Verdict:
        assert f"export const {verdict.name} = {int(verdict)};" in script
    table = json.loads(re.search(r"MARKS = (.+);", script)[1])  # type: ignore[index]
    for verdict, row in enumerate(table):
        mark = MARKS[Verdict(verdict)]
        assert row["name"] == mark.name == Verdict(verdict).name.lower()
        assert [tuple(corner) for corner in row["corners"]] == list(mark.corners)
        assert (row["radius"], row["isOpen"]) == (mark.radius, mark.is_open)
    sheet = served["marks.css"].body.decode()
    for theme, rule in zip(("light", "dark"), sheet.splitlines(), strict=True):
        assert dict(re.findall(r"--([\w-]+): (#\w+);", rule)) == colours(theme)


def test_no_style_sheet_or_script_has_colours_or_marks_of_its_own() -> None:
    names = "|".join(colours("light"))
    sources = {
        path.name: path.read_text("utf-8")
        for folder in (files("standout.service") / "static", files("standout.report"))
        for path in folder.iterdir()
        if path.name.endswith((".css", ".js", ".html"))
    }
    assert len(sources) > 20
    glyphs = {each.fine for mark in MARKS.values() for each in (mark.glyph, mark.low)}
    for name, text in sources.items():
        assert not re.search(rf"--({names}):", text), name
        assert not any(glyph in text for glyph in glyphs | set("◆◇■")), name
        assert not any(colour in text for colour in colours("light").values()), name


def test_the_docs_have_the_same_table() -> None:
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")
    rows = {row[1]: "|".join(row) for row in re.findall(r"(\| (\w+) \| .*#.*)", text)}
    for mark in MARKS.values():
        parts = (mark.glyph.fine, f"`{mark.glyph.plain}`", mark.colour.light, mark.colour.dark)
        assert all(part in rows[mark.name] for part in parts), mark.name
    assert f"{OUTLIER.low.fine}" in rows["outlier"]
    for part in (THRESHOLD.glyph.fine, THRESHOLD.line.light, THRESHOLD.line.dark):
        assert part in rows[THRESHOLD.name]
