"""Changes of a study, for owners: settings, a stop, a voided reward, deletion.

`standout.study.settings` explains which changes are harmless.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from standout.results import ChangeList, Status
from standout.service.answers import sent
from standout.service.errors import ApiError
from standout.service.schemas import (
    ChangeBody,
    Done,
    NewArms,
    NewCopy,
    NewName,
    NewSettings,
    Void,
    proper,
)
from standout.service.security.auth import Identity, Looker, Owner
from standout.service.service import ServiceOf
from standout.study import Study
from standout.study_interface import ByHand

router = APIRouter(prefix="/studies/{name}", tags=["changing"])


def _hand(who: Identity, body: ChangeBody) -> ByHand:
    return ByHand(body.reason, who.signs(body.worker), body.key)


@router.patch("", responses=sent(Status, "The state of the study."))
async def change(service: ServiceOf, who: Owner, name: str, body: NewSettings) -> Response:
    """Change settings. Missing ones stay; null removes a budget, `until` or `pause_after`.

    No setting can make a verdict wrong. `stopped` ends the study by hand, or restarts it.
    """
    return await service.by_hand(name, lambda study: study._set(body.given(), _hand(who, body)))


@router.post("/void", responses=sent(Status, "The state of the study."))
async def void(service: ServiceOf, who: Owner, name: str, body: Void) -> Response:
    """Take back a reward that was recorded by mistake, or correct it."""
    return await service.by_hand(
        name,
        lambda study: study.void(
            body.place, ticket=body.ticket, value=body.value, **_hand(who, body)._asdict()
        ),
    )


@router.get("/changes", responses=sent(ChangeList, "All changes by hand, oldest first."))
async def changes(service: ServiceOf, who: Looker, name: str) -> Response:
    """All changes made by hand: what, by whom, when and why."""
    return await service.look(name, lambda study: ChangeList(tuple(study.changes())))


@router.post("/arms", responses=sent(Status, "The state of the study."))
async def add_arms(service: ServiceOf, who: Owner, name: str, body: NewArms) -> Response:
    """Add arms to a study that was created with room for them; verdicts are computed again."""
    hand = _hand(who, body)._asdict()
    return await service.by_hand(name, lambda study: study.add_arms(body.arms, **hand))


@router.post("/rename", responses=sent(Done))
async def rename(service: ServiceOf, who: Owner, name: str, body: NewName) -> Response:
    """Rename the study; the tokens for it alone follow."""
    by, new = who.signs(body.worker), proper(body.name)
    done = await service.write(name, lambda study: study.rename(new, body.reason, worker=by))
    service.studies.forget(name)
    service.gate.forget()
    return done


@router.post("/copy", responses=sent(Done))
async def copy(service: ServiceOf, who: Owner, name: str, body: NewCopy) -> Response:
    """Copy this study, with its history or without rewards."""
    if who.study is not None:
        raise ApiError(403, "this token is for one study and cannot create others")
    by, new = who.signs(body.worker), proper(body.name)
    return await service.write(name, lambda study: study.copy(new, rewards=body.rewards, worker=by))


@router.delete("", responses=sent(Done))
async def delete(
    service: ServiceOf,
    who: Owner,
    name: str,
    confirm: Annotated[str, Query(description="The study's name again.")],
    reason: Annotated[str, Query(max_length=2000)] = "",
    worker: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Remove the study with all its rewards, for good."""
    by = who.signs(worker)

    def remove(study: Study) -> None:
        study.delete(confirm, reason, worker=by)

    done = await service.write(name, remove)
    service.studies.forget(name)
    return done
