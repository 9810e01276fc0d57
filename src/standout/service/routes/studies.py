"""Studies: the list, a new one, the state of one."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from standout.core.problem import Problem
from standout.results import Identification, Status, StudyList
from standout.service.answers import sent
from standout.service.errors import ApiError
from standout.service.open_studies import PATIENCE, OpenStudies
from standout.service.schemas import NewStudy, PageBody, proper
from standout.service.security.auth import Looker, Owner, Reader
from standout.service.service import ServiceOf, answer
from standout.study import Study
from standout.study.transaction import behind_commit

router = APIRouter(tags=["studies"])

Limit = Annotated[int, Query(ge=1, le=1000, description="The largest number of studies.")]


@router.get("/studies", responses=sent(StudyList, "Some studies, oldest first."))
async def list_studies(
    service: ServiceOf,
    who: Looker,
    limit: Limit = 100,
    after: Annotated[str | None, Query(description="The `next` of the page before.")] = None,
) -> Response:
    """The studies that the token may see."""
    return answer(await service.queues.look(service.studies.page, limit, after, who.study))


@router.post(
    "/studies", status_code=201, responses=sent(Status, "The study was created.", status=201)
)
async def create_study(service: ServiceOf, who: Owner, body: NewStudy) -> Response:
    """Create a study; the answer says how it stands."""
    if who.study is not None and who.study != body.name:
        raise ApiError(403, "this token is for another study")
    return await service.queues.slow(_create, service.studies, body)


def _create(opened: OpenStudies, body: NewStudy) -> Response:
    proper(body.name)
    # Missing fields have the defaults of `Problem` and `Study.create`.
    given = body.model_dump(exclude_none=True)
    if not body.method:
        given.pop("method", None)
    asked = {each.name for each in fields(Problem)} & given.keys()
    problem = Problem(**{key: given.pop(key) for key in asked})
    arms = given.pop("arms")
    with (
        Study.create(opened.place, arms, problem, **given, patience=PATIENCE) as study,
        behind_commit(),
    ):
        return answer(study.status(), 201)


@router.get("/studies/{name}", responses=sent(Status, "The state of the study."))
async def status(service: ServiceOf, who: Reader, name: str) -> Response:
    """The state of a study: verdicts, threshold, pending tickets."""
    return await service.look(name, Study.status)


@router.get("/studies/{name}/identification", responses=sent(Identification, "The answer so far."))
async def identification(service: ServiceOf, who: Reader, name: str) -> Response:
    """The answer so far, with every arm's interval."""
    return await service.look(name, Study.identification)


@router.get("/studies/{name}/page", responses=sent(PageBody, "The rating page's settings."))
async def page(service: ServiceOf, who: Reader, name: str) -> Response:
    """The texts and buttons of the rating page."""
    return await service.look(name, lambda study: {"page": study.page})
