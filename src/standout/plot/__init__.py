"""Plots on matplotlib axes: each function draws one picture and returns its axes.

Every function takes `ax=`, the axes to draw on, and makes new axes by default. The numbers in a
plot come from the function of the same name in `standout.plot.data`, which does not need
matplotlib. Install matplotlib with `pip install 'standout[plot]'`.

A `Recorder`, passed to `identify` as `progress`, stores the data for plots over pulls. A `Study`
has these data in its log.
"""

from __future__ import annotations

from standout.plot.course import Course, Recorder, course_of
from standout.plot.draw import arms, chances, intervals, pulls, rewards, undecided

__all__ = [
    "Course",
    "Recorder",
    "arms",
    "chances",
    "course_of",
    "intervals",
    "pulls",
    "rewards",
    "undecided",
]


def __dir__() -> list[str]:
    return sorted(__all__)
