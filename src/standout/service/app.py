"""The application: API and pages on the studies of one place."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI

from standout import __version__
from standout.service import errors, pages
from standout.service.routes import (
    ERRORS,
    changing,
    files,
    health,
    measuring,
    studies,
    tokens,
    views,
)
from standout.service.security import login
from standout.service.security.guard import Guard
from standout.service.service import start
from standout.service.settings import Settings

API = "/api/v1"
_ABOUT = """\
Ask what to measure and tell the rewards: studies that find the arms that stand out.

Send a token as `Authorization: Bearer TOKEN`. Every answer that is not a success is
`{"error": {"code", "message", "detail"}}`. Times are seconds since 1970.
"""

_ROUTES = APIRouter()
"""All addresses, shared by all apps of a process, because creating them is slow."""
for _module in (health, studies, measuring, changing, views, files, tokens):
    _ROUTES.include_router(_module.router, prefix=API, responses=ERRORS)
_ROUTES.include_router(login.router)
_ROUTES.include_router(pages.router)


def create_app(place: str | os.PathLike[str], settings: Settings | None = None) -> FastAPI:
    """The service on a file or a database address."""
    chosen = settings or Settings()
    service = start(os.fspath(place), chosen)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.studies.close()

    app = FastAPI(
        title="standout",
        summary="Studies over HTTP",
        description=_ABOUT,
        version=__version__,
        openapi_url=f"{API}/openapi.json",
        # Their pages would load scripts from another host.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service = service
    errors.install(app, pages.error_page)
    app.router.routes.extend(_ROUTES.routes)
    app.add_middleware(Guard, settings=chosen, gate=service.gate)
    _describe_tokens(app, chosen.may_be_open)
    return app


def _describe_tokens(app: FastAPI, may_be_open: bool) -> None:
    """Describe in the API how a token is sent, and whether it may be missing."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = make()
            described.setdefault("components", {})["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"}
            }
            described["security"] = [{"token": []}, *([{}] if may_be_open else [])]
            described["paths"][f"{API}/health"]["get"]["security"] = []
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
