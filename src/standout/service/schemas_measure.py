"""The JSON of asking and telling."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from standout.service.schemas import (
    ArmName,
    Body,
    Count,
    Lease,
    Number,
    TicketNumber,
    Whole,
    Worker,
    Yes,
)

LONGEST_KEY = 200
MOST_TICKETS = 10_000
MANY, MOST_REWARDS = 1_000, 50_000


class TicketBody(BaseModel):
    """One pull to measure; `item` is what to show for its arm, if that was wanted."""

    ticket: TicketNumber
    arm: str = Field(examples=["bag 7"])
    expires: float = Field(description="Seconds since 1970.")
    item: dict[str, str] | None = None


class Ask(Body):
    """How many pulls to hand out."""

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, json_schema_extra={"examples": [{"n": 2}]}
    )

    n: Whole = Field(default=1, ge=1, le=MOST_TICKETS)
    lease: Lease = None
    worker: Worker = None
    items: Yes = Field(default=False, description="Say what to show for each arm.")
    known: list[TicketNumber] | None = Field(
        default=None,
        max_length=MOST_TICKETS,
        description="Give this worker's other pending tickets again, before new ones: "
        "for whoever lost an answer. Raters always get theirs again.",
    )


class Tickets(BaseModel):
    """Pulls to measure, none when there is nothing to do now."""

    tickets: list[TicketBody]
    stopped: bool


class Reward(Body):
    """A reward, of a ticket or of an arm (or of both, which must agree)."""

    ticket: TicketNumber | None = None
    arm: ArmName | None = None
    reward: Number = Field(examples=[1.0])

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if self.ticket is None and self.arm is None:
            raise ValueError("say of which ticket, or of which arm")
        return self


def _leave_many(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """Many rewards are checked later, beside the event loop (see `bodies`)."""
    return value if isinstance(value, list) and MANY < len(value) <= MOST_REWARDS else check(value)


Rewards = Annotated[
    list[Reward], Field(min_length=1, max_length=MOST_REWARDS), WrapValidator(_leave_many)
]


class Tell(Body):
    """Rewards, all of which are counted or, if one is bad, none."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={"examples": [{"rewards": [{"ticket": 17, "reward": 1.0}], "ask": 1}]},
    )

    rewards: Rewards
    ask: Whole = Field(default=0, ge=0, le=MOST_TICKETS, description="Ask for so many, too.")
    lease: Lease = None
    worker: Worker = None
    items: Yes = False
    known: list[TicketNumber] | None = Field(default=None, max_length=MOST_TICKETS)
    key: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_KEY,
        description="Stands for this request: the same rewards sent again with the same key "
        "count once and get the first answer; others are refused (409). Any text of your own, "
        "a random one for instance.",
        examples=["plate 12, 3 May"],
    )


class Told(Tickets):
    """What became of the rewards, and the next tickets if they were asked for."""

    counted: Count
    repeated: Count = Field(description="Told before with the same value: nothing done.")
    surplus: Count = Field(description="Beyond the budget: kept, but in no total.")
    again: bool = Field(description="Told before with the same key: this is the first answer.")
    time: float | None = Field(description="When that was, in seconds since 1970.")


class Fail(Body):
    """A ticket to give back."""

    ticket: TicketNumber
    reason: str = Field(default="", max_length=2000, examples=["dropped the plate"])
    worker: Worker = None


class Renew(Body):
    """Tickets whose leases begin anew."""

    tickets: list[TicketNumber] = Field(max_length=MOST_TICKETS)
    lease: Lease = None


class Release(Body):
    """Tickets whose leases end now."""

    tickets: list[TicketNumber] = Field(max_length=MOST_TICKETS)


class Pause(Body):
    """An arm to hand out no more."""

    arm: ArmName
    reason: str = Field(default="paused by hand", max_length=2000)


class Resume(Body):
    """An arm to hand out again."""

    arm: ArmName


class Done(BaseModel):
    """It is done."""

    done: bool = True


class PendingRow(BaseModel):
    """A ticket that is out."""

    ticket: int
    arm: str
    worker: str
    asked: float
    expires: float


class PendingList(BaseModel):
    """All tickets that are out."""

    pending: list[PendingRow]


class PageBody(BaseModel):
    """The rating page's settings, null where the study has none."""

    page: dict[str, Any] | None
