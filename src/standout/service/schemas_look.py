"""The JSON of what dashboards read."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from standout.service.schemas import Column, Count, Ends, ProblemBody, Threshold

VerdictName = Literal["undecided", "normal", "outlier"]


class CountsBody(BaseModel):
    """How many of what."""

    arms: Count
    pulls: Count
    pending: Count
    expired: Count
    surplus: Count
    rounds: Count
    outliers: Count
    normal: Count
    undecided: Count


class NextRow(BaseModel):
    """Pulls of an arm that would be handed out next."""

    arm: str
    pulls: Count
    why: str = Field(examples=["undecided"])


class NextBody(BaseModel):
    """What the method would ask next."""

    next: list[NextRow]


class Tick(BaseModel):
    """A round value and how it is written."""

    value: float
    label: str


class Scale(BaseModel):
    """The values from `low` to `high` that a picture shows, and its ticks."""

    low: float
    high: float
    ticks: list[Tick]


class ViewBody(BaseModel):
    """All arms (`full`), or those that changed since `since` at their `positions`.

    `verdict` is 0 undecided, 1 normal, 2 outlier. `names` comes with a full
    view only.
    """

    seq: Count
    full: bool
    positions: list[int] | None
    names: list[str] | None
    estimate: Column
    lower: Column
    upper: Column
    pulls: list[int]
    pending: list[int]
    verdict: list[int]
    threshold: Threshold
    threshold_low: Threshold | None
    median: float | None
    scale: Scale
    counts: CountsBody
    name: str
    created: float
    problem: ProblemBody
    method: str
    budget: int | None
    stopped: bool
    stopped_at: float | None
    reason: str
    note: str | None
    failures: dict[str, int]
    paused: dict[str, str]
    next: list[NextRow]


class ArmRow(BaseModel):
    """One arm."""

    position: Count
    arm: str
    estimate: float | None
    lower: float | None
    upper: float | None
    pulls: Count
    pending: Count
    verdict: VerdictName
    failures: Count
    paused: str | None


class ArmList(BaseModel):
    """Some arms; `next` is the `after` of the next page, `found` how many fit in all."""

    arms: list[ArmRow]
    found: Count
    next: int | None


class TraceBody(BaseModel):
    """One entry per kept moment, in the order of pulls."""

    pulls: list[int]
    time: list[float]
    lower: Column
    upper: Column
    lower_low: Column
    upper_low: Column
    undecided: list[int]
    scale: Scale


class ForecastBody(BaseModel):
    """Pulls left; four of five plays end between `lower` and `upper` (null: no end to be seen)."""

    pulls_left: Count
    lower: Count
    upper: int | None


class FailureRow(BaseModel):
    """A ticket that was given back."""

    seq: Count
    time: float
    arm: str
    ticket: int
    worker: str
    reason: str


class FailureList(BaseModel):
    """Failures, newest first; `next` is the `after` of the next page."""

    failures: list[FailureRow]
    next: int | None


__all__ = [
    "ArmList",
    "ArmRow",
    "CountsBody",
    "Ends",
    "FailureList",
    "ForecastBody",
    "NextBody",
    "TraceBody",
    "VerdictName",
    "ViewBody",
]
