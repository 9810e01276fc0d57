"""The health of the service."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from standout import __version__
from standout.service.answers import sent
from standout.service.schemas import Health
from standout.service.service import ServiceOf, answer

router = APIRouter(tags=["service"])

SECONDS = 2.0
"""How long the database may take to answer."""


@router.get(
    "/health",
    responses={
        **sent(Health, "The service and its database answer."),
        503: {"model": Health, "description": "The service answers, its database does not."},
    },
)
@router.head("/health", include_in_schema=False)
async def health(service: ServiceOf) -> Response:
    """Whether the service and its database answer. Needs no token, and never waits long."""
    is_there = await service.queues.probe(service.studies.ping, SECONDS)
    said = {
        "status": "ok" if is_there else "unavailable",
        "database": "ok" if is_there else "not answering",
        "version": __version__,
    }
    found = answer(said, 200 if is_there else 503)
    if not is_there:
        found.headers["Retry-After"] = "2"
    return found
