"""The bodies of requests to the API, and the answers that are not results."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)

from standout.csv_files import PARTS
from standout.errors import ProblemError
from standout.study.arguments import TEN_YEARS
from standout.study.rating import PAGE_KEYS
from standout.study.storage.tokens import Role
from standout.study.token_links import HERE

BIGGEST = 2**63 - 1
LONGEST_KEY = 200
MOST_TICKETS = 10_000
MOST_REWARDS = 50_000

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
    Field(description="Who measures; by default the token's name."),
]


def proper(name: str) -> str:
    """A study's name, unless a browser would treat it as part of a path."""
    if name in (".", ".."):
        raise ProblemError(f"a study cannot be called {name!r}")
    return name


class Body(BaseModel):
    """The body of a request: no unknown fields, no text in place of numbers."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


class ErrorInfo(BaseModel):
    """The description of an error."""

    code: str = Field(description="For programs.", examples=["told"])
    message: str = Field(
        description="For people.",
        examples=["ticket 17 has the recorded reward 1.0, not 0.0; to correct it, void it"],
    )
    detail: dict[str, Any] | None = Field(default=None, examples=[{"index": 0}])


class ErrorBody(BaseModel):
    """Every answer that is not a success."""

    error: ErrorInfo


class Health(BaseModel):
    """The health of the service and its database."""

    status: Literal["ok", "unavailable"]
    database: Literal["ok", "not answering"]
    version: str = Field(examples=["0.1.0"])


class NewStudy(Body):
    """A new study; missing fields have the defaults of `Study.create`."""

    model_config = _example(name="beans", arms=["bag 1", "bag 2", "bag 3"], noise="bernoulli")

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
    until: str | None = Field(
        default=None,
        max_length=200,
        description="End early, as soon as the chances promise this (an estimate): errors=0.5, or "
        "false-share=0.05,missed-share=0.05.",
        examples=["errors=0.5"],
    )
    seed: Whole = Field(default=0, ge=0, le=BIGGEST)
    lease: Lease = None
    pause_after: Whole | None = Field(default=None, ge=1, le=10**9)
    ordered: Yes = Field(
        default=True,
        description="Count an arm's rewards in the order of asking. If false, the answer is right "
        "only if the duration of a measurement does not depend on its value.",
    )
    items: dict[str, dict[str, str | None]] | None = Field(
        default=None,
        description=f"What the rating page shows for an arm: {', '.join(PARTS)}.",
        examples=[{"bag 7": {"text": "A bag of beans", "image": "https://example.org/7.jpg"}}],
    )
    room: Whole | None = Field(
        default=None,
        ge=3,
        le=100_000,
        description="The largest number of arms, including those added later; all of them share "
        "delta.",
    )
    axis: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="The name of a reward with its unit, for axes.",
        examples=["Delay in minutes"],
    )
    page: dict[str, Any] | None = Field(
        default=None,
        description=f"How the rating page asks: {', '.join(PAGE_KEYS)}. What they may be is "
        "said where the rating page is described, and by the answer to what they may not.",
        examples=[{"question": "Is this bag ripe?", "scale": {"min": 1, "max": 7, "steps": 6}}],
    )


class Asking(Body):
    """How pulls are handed out."""

    lease: Lease = None
    worker: Worker = None
    items: Yes = Field(default=False, description="Say what to show for each arm.")
    known: list[TicketNumber] | None = Field(
        default=None,
        max_length=MOST_TICKETS,
        description="Return this worker's other pending tickets before new ones, in case an "
        "answer was lost.",
    )


class Ask(Asking):
    """The number of pulls to hand out."""

    model_config = _example(n=2)

    n: Whole = Field(default=1, ge=1, le=MOST_TICKETS)


class Reward(Body):
    """A reward, of a ticket or of an arm (or of both, which must agree)."""

    ticket: TicketNumber | None = None
    arm: ArmName | None = None
    reward: Number = Field(examples=[1.0])


class Tell(Asking):
    """Rewards: all of them count or, if one is bad, none."""

    model_config = _example(rewards=[{"ticket": 17, "reward": 1.0}], ask=1)

    rewards: list[Reward] = Field(min_length=1, max_length=MOST_REWARDS)
    ask: Whole = Field(
        default=0, ge=0, le=MOST_TICKETS, description="Also ask for this many tickets."
    )
    key: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_KEY,
        description="An idempotency key: the same rewards sent again with this key count once and "
        "get the first answer; others are refused (409). Any text, for example a random one.",
        examples=["plate 12, 3 May"],
    )


class Fail(Body):
    """A ticket to give back."""

    ticket: TicketNumber
    reason: str = Field(default="", max_length=2000, examples=["dropped the plate"])
    worker: Worker = None


class Release(Body):
    """Tickets whose leases end now."""

    tickets: list[TicketNumber] = Field(max_length=MOST_TICKETS)


class Renew(Release):
    """Tickets whose leases start again."""

    lease: Lease = None


class Resume(Body):
    """An arm to hand out again."""

    arm: ArmName
    reason: str = Field(default="", max_length=2000)
    worker: Worker = None


class Pause(Resume):
    """An arm to pause."""

    reason: str = Field(default="paused by hand", max_length=2000)


class ChangeBody(Body):
    """A change by an owner: why, who (by default the token), and an idempotency key."""

    reason: str = Field(default="", max_length=2000, examples=["near enough"])
    worker: Worker = None
    key: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_KEY,
        description="An idempotency key: a change sent again with this key is made once.",
    )


class NewSettings(ChangeBody):
    """Settings to change; missing ones stay."""

    model_config = _example(tolerance=0.01, reason="near enough")

    budget: Annotated[Whole, Field(ge=1)] | None = None
    tolerance: Annotated[Number, Field(ge=0)] = 0.0
    batch: Annotated[Whole, Field(ge=1)] = 1
    until: str | None = Field(default=None, examples=["errors=0.5"])
    pause_after: Annotated[Whole, Field(ge=1)] | None = None
    lease: Annotated[Number, Field(gt=0, le=TEN_YEARS)] = 86400.0
    stopped: Yes = False

    def given(self) -> dict[str, Any]:
        """The settings that were sent."""
        mine = self.model_fields_set - set(ChangeBody.model_fields)
        return {name: getattr(self, name) for name in sorted(mine)}


class Void(ChangeBody):
    """A reward that was recorded by mistake: its place in the log (`seq`), or its ticket."""

    model_config = _example(place=17, value=0.5, reason="misread")

    place: Annotated[Whole, Field(ge=1, le=BIGGEST)] | None = None
    ticket: TicketNumber | None = None
    value: Number | None = Field(default=None, description="The value that was really measured.")


class Layout(Body):
    """How a CSV is laid out."""

    separator: Literal[",", ";", "\t"] = ","
    decimal: Literal[".", ","] = "."
    arm: str | None = Field(default=None, max_length=1000, description="The column of the arms.")
    value: str | None = Field(
        default=None, max_length=1000, description="The column of the rewards."
    )
    drop_missing: Yes = Field(default=False, description="Leave out rows without a reward.")


class PastRewards(Layout):
    """A table of past rewards, as the text of a CSV."""

    model_config = _example(text="arm,value\nbag 7,1\nbag 8,0\n")

    text: str = Field(max_length=10_000_000)
    label: str = Field(default="the table", max_length=200, description="Its name in errors.")
    worker: Worker = None


class NewArms(ChangeBody):
    """Arms that join a study with room for them."""

    model_config = _example(arms=["bag 8"], reason="it came late")

    arms: list[ArmName] = Field(min_length=1, max_length=10_000)


class NewName(Body):
    """Another name for a study."""

    name: StudyName
    reason: str = Field(default="", max_length=2000)
    worker: Worker = None


class NewCopy(Body):
    """A copy of this study."""

    name: StudyName
    rewards: Yes = Field(default=True, description="With its whole history.")
    worker: Worker = None


class NewToken(Body):
    """A new token: its role, its study (null for every study), its label."""

    model_config = _example(role="rater", study="beans", label="office")

    role: Role
    study: str | None = Field(default=None, max_length=1000)
    label: str = Field(default="", max_length=200)
    lasts: Number | None = Field(
        default=None,
        gt=0,
        le=TEN_YEARS,
        description="Seconds until it expires; null for never.",
        examples=[604800],
    )
    origin: str = Field(
        default=HERE,
        max_length=300,
        pattern=r"^https?://[A-Za-z0-9.:\[\]_-]+$",
        description="The public address of this service, for the link.",
    )


class Done(BaseModel):
    """The request was carried out and is on disk."""

    done: bool = True


class PageBody(BaseModel):
    """The rating page's settings; null if the study has none."""

    page: dict[str, Any] | None
