"""The data of dashboards. Nothing here changes a study or keeps a worker waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from standout.core.kinds import Verdict
from standout.csv_files import write_chances
from standout.estimation.lists import FALSE_SHARE
from standout.pictures.arms import picture_of_view
from standout.pictures.scale import path_range, scale, trace_range
from standout.results import (
    ArmHistory,
    ArmList,
    Chances,
    EndingList,
    FailureList,
    Forecast,
    Item,
    ItemList,
    NextList,
    StudyView,
    Trace,
    VerdictName,
)
from standout.service.answers import model_of, sent
from standout.service.errors import ApiError
from standout.service.open_studies import kept_or_new
from standout.service.routes.files import TYPES, attachment
from standout.service.routes.studies import Limit
from standout.service.schemas import BIGGEST
from standout.service.security.auth import LOOK, allow
from standout.service.service import Service, ServiceOf, answer, to_json
from standout.study import Study
from standout.study.storage.items import count_items, read_items
from standout.study.view import view as look_at

LARGEST = 1_000_000
"""The largest number of characters of an answer with more than one item."""

router = APIRouter(prefix="/studies/{name}", tags=["looking"], dependencies=[allow(*LOOK)])

FORECAST_SECONDS = 10.0
"""Seconds for which a forecast is valid, while the study runs."""
LONG_LOG = 20_000
"""From this number of rewards on, an arm's history is cached."""
CHANCES_PAUSE = 4.0
"""Chances are valid for this multiple of their computing time: a fifth of a core at most."""

Place = Annotated[
    int | None, Query(ge=0, le=BIGGEST, description="The `next` of the previous page.")
]


@router.get("/view", responses=sent(StudyView, "All arms, or those that changed."))
async def view(
    service: ServiceOf,
    name: str,
    since: Annotated[
        int | None, Query(ge=0, le=BIGGEST, description="The `seq` of the previous view.")
    ] = None,
) -> Response:
    """The data of a dashboard; with `since`, only the changes."""
    found = await service.queues.share((name, since), lambda: _view(service, name, since))
    return Response(found, media_type="application/json")


def _view(service: Service, name: str, since: int | None) -> bytes:
    seen = look_at(service.studies.reader(name), since)
    shown = picture_of_view(seen)
    return to_json(replace(seen, scale=scale(shown.low, shown.high)))


@router.get("/arms", responses=sent(ArmList, "Some arms."))
async def arms(
    service: ServiceOf,
    name: str,
    limit: Limit = 100,
    after: Place = None,
    search: Annotated[
        str | None, Query(max_length=200, description="Part of a name, in any case.")
    ] = None,
    verdict: Annotated[VerdictName | None, Query(description="Only these.")] = None,
) -> Response:
    """The arms as a table, in the order of the study, page by page."""
    return await service.look(name, lambda study: _arms(study, limit, after, search, verdict))


def _arms(
    study: Study, limit: int, after: int | None, search: str | None, verdict: VerdictName | None
) -> ArmList:
    seen = look_at(study)
    fits = np.ones(len(seen.names), dtype=np.bool_)
    if verdict is not None:
        fits &= seen.verdict == Verdict[verdict.upper()]
    if search:
        part = search.casefold()
        fits &= np.fromiter((part in arm.casefold() for arm in seen.names), np.bool_, len(fits))
    found = int(np.count_nonzero(fits))
    if after is not None:
        fits[: min(after, len(fits) - 1) + 1] = False
    places = np.flatnonzero(fits).tolist()
    following = places[limit - 1] if len(places) > limit else None
    rows = tuple(seen.row(place) for place in places[:limit])
    return ArmList(rows, found, following)


@router.get("/items", responses=sent(ItemList, "The items of some arms."))
async def items(
    service: ServiceOf,
    name: str,
    positions: Annotated[
        list[Annotated[int, Field(ge=0, le=BIGGEST)]],
        Query(max_length=200, description="Of the arms, in the order of the study."),
    ],
) -> Response:
    """The items of these arms: text, picture, markup; as many as fit into one answer."""
    return await service.look(name, lambda study: list_items(study, positions))


@router.get("/arm", responses=sent(ArmHistory, "One arm over its pulls."))
async def arm(
    service: ServiceOf,
    name: str,
    position: Annotated[int, Query(ge=0, le=BIGGEST, description="In the order of the study.")],
) -> Response:
    """The history of one arm: its interval over its pulls, and its workers."""
    return answer(await service.queues.look(_arm, service, name, position))


def _arm(service: Service, name: str, position: int) -> ArmHistory:
    study = service.studies.reader(name)
    if position >= len(study.arms):
        raise ApiError(404, f"the study has {len(study.arms)} arms; positions begin with 0")

    def find() -> ArmHistory:
        found, seen = study.arm_history(position), look_at(study)
        shown = path_range(found, seen.thresholds, seen.problem.noise.support)
        return replace(found, scale=scale(*shown))

    def good_for(found: ArmHistory, took: float) -> float:
        # A long log is looked through for at most a tenth of the time, however many look on.
        return 9 * took if study.pulse().pulls > LONG_LOG else 0.0

    return kept_or_new(service.cache.arms, (name, position), study, find, good_for)


@router.get("/trace", responses=sent(Trace, "The threshold over the pulls."))
async def trace(service: ServiceOf, name: str) -> Response:
    """The threshold's interval and the undecided arms over the pulls."""
    return await service.look(name, _trace)


def _trace(study: Study) -> Trace:
    found = study.trace()
    return replace(found, scale=scale(*trace_range(found)))


@router.get("/next", responses=sent(NextList, "The next pulls."))
async def following(service: ServiceOf, name: str) -> Response:
    """The pulls that the method would ask for next, and why."""
    return await service.look(name, lambda study: NextList(look_at(study).next))


@router.get(
    "/forecast",
    response_model=model_of(Forecast) | None,
    responses={200: {"description": "Pulls left; null if there is no forecast."}},
)
async def forecast(service: ServiceOf, name: str) -> Response:
    """About how many pulls are left, with an interval."""
    return answer(await service.queues.slow(_forecast, service, name))


def _forecast(service: Service, name: str) -> Forecast | None:
    def good_for(found: Forecast | None, took: float) -> float:
        # Do not cache "too early": it is cheap to compute and may change at any moment.
        return 0.0 if found is None and took < 0.1 else FORECAST_SECONDS

    study = service.studies.reader(name)
    return kept_or_new(service.cache.forecasts, name, study, study.forecast_range, good_for)


@router.get("/endings", responses=sent(EndingList, "Tolerances that would end the study."))
async def endings(service: ServiceOf, name: str) -> Response:
    """The tolerance that would end the study now (proved), and what smaller ones would take."""
    return answer(await service.queues.slow(_endings, service, name))


def _endings(service: Service, name: str) -> EndingList:
    study = service.studies.reader(name)
    return kept_or_new(
        service.cache.endings,
        name,
        study,
        lambda: EndingList(study.endings()),
        lambda found, took: FORECAST_SECONDS if took > 0.1 else 0.0,
    )


_CHANCES = sent(Chances, "Estimates, for all arms; or a CSV of them.")
_CHANCES[200]["content"] = {"text/csv": {"schema": {"type": "string"}}}


@router.get("/chances", responses=_CHANCES)
async def chances(
    service: ServiceOf,
    name: str,
    false_share: Annotated[
        float,
        Query(gt=0, lt=1, description="The largest expected share of wrong arms in `flagged`."),
    ] = FALSE_SHARE,
    seed: Annotated[int, Query(ge=0, le=BIGGEST, description="The seed of the random draws.")] = 0,
    form: Annotated[Literal["json", "csv"], Query(description="Which format.")] = "json",
) -> Response:
    """How likely each arm is to stand out: estimates, not the certificate.

    Those of a running study may be some seconds old, if they are slow to compute.
    """
    found = await service.queues.slow(_chances, service, name, false_share, seed)
    if form == "json":
        return answer(found)
    certain = await service.queues.look(lambda: service.studies.reader(name).identification())
    text = "".join(write_chances(found, certain))
    return Response(text, media_type=TYPES["csv"], headers=attachment(f"{name} chances", "csv"))


def _chances(service: Service, name: str, false_share: float, seed: int) -> Chances:
    study = service.studies.reader(name)
    return kept_or_new(
        service.cache.chances,
        (name, false_share, seed),
        study,
        lambda: study.chances(false_share=false_share, seed=seed),
        lambda _, took: CHANCES_PAUSE * took,
    )


@router.get("/failures", responses=sent(FailureList, "Failures, newest first."))
async def failures(
    service: ServiceOf, name: str, limit: Limit = 100, after: Place = None
) -> Response:
    """The tickets that were given back, and why."""

    def look(study: Study) -> FailureList:
        rows = study.failures(limit, after)
        following = rows[-1].seq if len(rows) == limit and rows[-1].seq != 1 else None
        return FailureList(tuple(rows), following)

    return await service.look(name, look)


def list_items(study: Study, positions: Sequence[int], largest: int = LARGEST) -> ItemList:
    """The items at these positions, in order, as many as fit; others are `left`.

    Positions without an item, or beyond the last arm, are skipped.
    """
    arms = study.arms
    wanted = [place for place in dict.fromkeys(positions) if place < len(arms)]
    with study.memory.reading() as session:
        total = count_items(session, study._key)
        kept = read_items(session, study._key, wanted) if total else {}
    found: list[Item] = []
    size = 0
    there = [place for place in wanted if place in kept]
    for place in there:
        size += sum(map(len, kept[place].values()))
        if found and size > largest:
            break
        found.append(Item(place, arms[place], **kept[place]))
    return ItemList(tuple(found), tuple(there[len(found) :]), total)
