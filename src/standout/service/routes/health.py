"""Whether the service is there."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from standout import __version__
from standout.service.plain import answer
from standout.service.routes import sent
from standout.service.schemas import Health
from standout.service.service import ServiceOf

router = APIRouter(tags=["service"])


@router.get("/health", responses=sent(Health, "The service and its database answer."))
async def health(service: ServiceOf) -> Response:
    """Whether the service and its database are there. Needs no token."""
    await service.threads.look(service.shelf.names)
    return answer({"status": "ok", "version": __version__})
