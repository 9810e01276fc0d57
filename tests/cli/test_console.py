"""Progress in a pipe."""

from __future__ import annotations

import pytest

from standout.cli.console import Milestones


def test_a_line_for_each_tenth_where_no_bar_can_be_drawn(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show = Milestones()
    for done in range(101):
        show("fig1", done, 100)
    show("fig2", 0, 0)
    assert capsys.readouterr().err.split("\n")[:-1] == [
        *(f"fig1: {10 * i}%" for i in range(11)), "fig2: 100%",
    ]  # fmt: skip


def test_a_slow_figure_says_now_and_then_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show = Milestones(seconds=0.0)
    for done in (1, 2, 3):
        show("fig1", done, 1000)
    assert capsys.readouterr().err.count("fig1") == 3
