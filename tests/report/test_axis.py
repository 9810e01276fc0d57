"""What a reward is, with its unit, stands on the axes of every picture of a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from standout import Problem, Study, plot
from standout.errors import ProblemError
from standout.report.page import render_report

AXIS = "Delay <in> minutes"


@pytest.mark.parametrize("arms", [5, 60])
def test_axes_say_what_a_reward_is(arms: int, tmp_path: Path) -> None:
    names = [f"arm {i}" for i in range(arms)]
    problem = Problem(noise="gaussian:1")
    with Study.create(tmp_path / "s.db", names, problem, axis=AXIS, room=70) as study:
        study.tell_many([(arm, float(i)) for i, arm in enumerate(names) for _ in range(3)])
        assert study.axis == study.status().axis == AXIS
        assert study.plot().get_xlabel() == f"{AXIS}: mean, with its interval"
        assert plot.intervals(study, ["arm 0"]).get_ylabel().startswith(AXIS)
        assert plot.rewards(study, "arm 0").get_ylabel() == f"{AXIS} of arm 0"
        shown = render_report(study)
        assert "70 in all, which share δ" in shown
        # On wide and on narrow screens.
        assert shown.count(">Delay &lt;in&gt; minutes</text>") == 2


def test_an_axis_has_a_name(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="axis"):
        Study.create(tmp_path / "s.db", ["a", "b", "c"], Problem(noise="bernoulli"), axis="")
