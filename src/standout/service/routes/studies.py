"""Studies: the list, a new one, how one stands."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from standout.core.methods import DEFAULT_METHOD
from standout.core.problem import MAD_SCALE, Problem
from standout.errors import ProblemError
from standout.results import Identification, Status, StudyList
from standout.service.answers import answer, sent
from standout.service.errors import ApiError
from standout.service.open_studies import PATIENCE, OpenStudies
from standout.service.schemas import NewStudy, PageBody
from standout.service.security.auth import Anyone, Looker, Owner, Reader
from standout.service.service import Service, ServiceOf
from standout.study import Study
from standout.study.storage.catalogue import DAY

router = APIRouter(tags=["studies"])

Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]


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
    "/studies", status_code=201, responses=sent(Status, "The study has begun.", status=201)
)
async def create_study(service: ServiceOf, who: Owner, body: NewStudy) -> Response:
    """Begin a study."""
    if who.study is not None and who.study != body.name:
        raise ApiError(403, "this token is for another study")
    return await service.queues.slow(_create, service.studies, body)


def _create(opened: OpenStudies, body: NewStudy) -> Response:
    if body.name in (".", ".."):
        raise ProblemError(f"a study cannot be called {body.name!r}")
    problem = Problem(
        noise=body.noise,
        k=body.k,
        k_low=body.k_low,
        delta=body.delta,
        side=body.side,
        tolerance=body.tolerance,
        mad_scale=MAD_SCALE if body.mad_scale is None else body.mad_scale,
    )
    items: dict[str, Any] = {
        arm: parts.model_dump(exclude_none=True) for arm, parts in (body.items or {}).items()
    }
    page = None if body.page is None else body.page.model_dump(exclude_none=True)
    with Study.create(
        opened.place,
        body.arms,
        problem,
        body.method or DEFAULT_METHOD,
        name=body.name,
        budget=body.budget,
        until=body.until,
        seed=body.seed,
        lease=DAY if body.lease is None else body.lease,
        pause_after=body.pause_after,
        ordered=body.ordered,
        items=items,
        page=page,
        patience=PATIENCE,
    ) as study:
        return answer(study.status(), 201)


@router.get("/studies/{name}", responses=sent(Status, "How the study stands."))
async def status(service: ServiceOf, who: Reader, name: str) -> Response:
    """How a study stands: verdicts, threshold, what is pending."""
    return await service.queues.look(_status, service, name)


def _status(service: Service, name: str) -> Response:
    return answer(service.studies.reader(name).status())


@router.get("/studies/{name}/identification", responses=sent(Identification, "The answer so far."))
async def identification(service: ServiceOf, who: Reader, name: str) -> Response:
    """The answer so far, with every arm's interval."""
    return await service.queues.look(_identification, service, name)


def _identification(service: Service, name: str) -> Response:
    return answer(service.studies.reader(name).identification())


@router.get("/studies/{name}/page", responses=sent(PageBody, "The rating page's settings."))
async def page(service: ServiceOf, who: Anyone, name: str) -> Response:
    """How the rating page asks people."""
    return await service.queues.look(_page, service, name)


def _page(service: Service, name: str) -> Response:
    return answer({"page": service.studies.reader(name).page})
