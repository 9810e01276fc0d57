"""The JSON of the API, as it is described to others."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from standout.study.scale import MOST_STEPS

BIGGEST = 2**63 - 1
TEN_YEARS = 10 * 366 * 86400.0

StudyName = Annotated[str, Field(pattern=r"^[^/\x00-\x1f\x7f]{1,200}$", examples=["beans"])]
ArmName = Annotated[str, Field(min_length=1, max_length=2000, examples=["bag 7"])]
# Strict: no text or truth value in place of a number.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]
Yes = Annotated[bool, Field(strict=True)]
TicketNumber = Annotated[Whole, Field(ge=1, le=BIGGEST, examples=[17])]
Lease = Annotated[
    Annotated[Number, Field(gt=0, le=TEN_YEARS)] | None,
    Field(description="Seconds until the tickets are handed out again."),
]
Worker = Annotated[
    Annotated[str, Field(max_length=200)] | None,
    Field(description="Who measures; a rater's is always its own."),
]
Count = Annotated[int, Field(ge=0)]
Column = list[float | None]


class Body(BaseModel):
    """What is sent to us: nothing unknown, no text for numbers."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class ErrorInfo(BaseModel):
    """What went wrong."""

    code: str = Field(description="For programs.", examples=["told"])
    message: str = Field(
        description="For people.",
        examples=["ticket 17 was told 1.0 before, not 0.0; a told reward is never changed"],
    )
    detail: dict[str, Any] | None = Field(default=None, examples=[{"index": 0}])


class ErrorBody(BaseModel):
    """Every answer that is not a success."""

    error: ErrorInfo


class Health(BaseModel):
    """Whether the service is there, and its database."""

    status: Literal["ok", "unavailable"]
    database: Literal["ok", "not answering"]
    version: str = Field(examples=["0.1.0"])


class Button(Body):
    """One answer on the rating page."""

    label: str = Field(min_length=1, examples=["yes"])
    value: Number = Field(examples=[1])
    key: str | None = Field(default=None, min_length=1, max_length=1, examples=["y"])


class Scale(Body):
    """Answers from `min` to `max` on the rating page, `steps` steps apart (10 unless said)."""

    min: Number = Field(examples=[1])
    max: Number = Field(examples=[7])
    steps: Whole | None = Field(default=None, ge=1, le=MOST_STEPS, examples=[6])
    step: Number | None = Field(
        default=None,
        gt=0,
        description="Instead of `steps`: how far one is from the next; must lead to `max`.",
    )
    low_label: str | None = None
    high_label: str | None = None


class PageSettings(Body):
    """How the rating page asks."""

    question: str | None = Field(default=None, examples=["Is this bag ripe?"])
    buttons: list[Button] | None = None
    scale: Scale | None = None
    consent: str | None = None
    end: str | None = None


class ItemParts(Body):
    """What the rating page shows for an arm."""

    text: str | None = Field(default=None, examples=["A bag of beans"])
    image: str | None = Field(default=None, examples=["https://example.org/bag-7.jpg"])
    html: str | None = None


class NewStudy(Body):
    """A study to begin; what is left out is as in `Study.create`."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={
            "examples": [
                {"name": "beans", "arms": ["bag 1", "bag 2", "bag 3"], "noise": "bernoulli"}
            ]
        },
    )

    name: StudyName
    arms: list[ArmName] = Field(min_length=3, max_length=100_000)
    noise: str = Field(
        max_length=200,
        description="bernoulli, gaussian:SIGMA, gaussian, bounded:A,B or heavy:SIGMA.",
        examples=["bernoulli"],
    )
    k: Number = Field(default=3.0, ge=1)
    k_low: Number | None = Field(default=None, ge=1)
    delta: Number = Field(default=0.05, gt=0, lt=1)
    side: Literal["high", "low", "both"] = "high"
    tolerance: Number = Field(default=0.0, ge=0)
    mad_scale: Number | None = Field(default=None, gt=0)
    method: str | None = Field(default=None, max_length=200, examples=["focus"])
    budget: Whole | None = Field(default=None, ge=1, le=10**15)
    seed: Whole = Field(default=0, ge=0, le=BIGGEST)
    lease: Lease = None
    pause_after: Whole | None = Field(default=None, ge=1, le=10**9)
    ordered: Yes = Field(
        default=True,
        description="Count an arm's rewards in the order of asking. Without, the answer is "
        "only right if how long a measurement takes has nothing to do with its value.",
    )
    items: dict[str, ItemParts] | None = None
    page: PageSettings | None = None


class StudyRow(BaseModel):
    """A study in the list."""

    name: str
    method: str
    arms: Count
    pulls: Count
    pending: Count
    undecided: Count
    outliers: Count
    stopped: bool
    reason: str = Field(examples=["running"])
    created: float = Field(description="Seconds since 1970.")


class StudyList(BaseModel):
    """Some studies; `next` is the `after` of the next page."""

    studies: list[StudyRow]
    next: str | None


class Ends(BaseModel):
    """An interval; an end that is not known yet is null."""

    lower: float | None
    upper: float | None


class Threshold(Ends):
    """The threshold's interval, and where it seems to be."""

    estimate: float | None


class ProblemBody(BaseModel):
    """What is asked."""

    k: float
    mad_scale: float
    delta: float
    side: str
    k_low: float | None
    tolerance: float
    noise: str


class WaitingBody(BaseModel):
    """Told rewards of an arm that wait until `ticket` is told or given back."""

    arm: str
    rewards: Count
    ticket: int
    worker: str
    expired: bool


class StatusBody(BaseModel):
    """How a study stands."""

    name: str
    created: float
    method: str
    problem: ProblemBody
    lease: float
    arms: Count
    pulls: Count
    pending: Count
    expired: Count
    surplus: Count
    budget: int | None
    outliers: list[str]
    normal: list[str]
    undecided: list[str]
    threshold: Ends
    threshold_low: Ends | None
    note: str | None
    stopped: bool
    reason: str
    rounds: Count
    failures: dict[str, int]
    paused: dict[str, str]
    waiting: list[WaitingBody]
    head: str = Field(description="Digest of all that was told, in hex.")


class IdentificationBody(BaseModel):
    """The answer so far; the last five have an entry per arm."""

    outliers: list[str]
    normal: list[str]
    undecided: list[str]
    best_guess: list[str]
    threshold: Ends
    threshold_low: Ends | None
    threshold_estimate: float | None
    pulls: Count
    rounds: Count
    reason: str
    note: str | None
    arms: list[str]
    means: Column
    lower: Column
    upper: Column
    pulls_by_arm: list[int]
