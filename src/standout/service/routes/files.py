"""Streams and files: events, exports, the report."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from standout.report import SAVE_MARK
from standout.service.errors import ApiError
from standout.service.open_studies import kept_or_new
from standout.service.security.auth import LOOK, Looker, allow, check, headers_of
from standout.service.service import Service, ServiceOf

router = APIRouter(prefix="/studies/{name}", tags=["files"], dependencies=[allow(*LOOK)])

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
_CHUNK = 1 << 18
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""A report runs no script and loads nothing; its styles are inline."""
SAVE_LINK = '<p class="save"><a href="?download=true" download>Download this report</a></p>'


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `change` with `seq`, `pulls`, `undecided` and "
            "`stopped`; the current state first, then at most two per second.",
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": "event: change\nid: 42\n"
                    'data: {"seq": 42, "pulls": 17, "undecided": 5, "stopped": false}\n\n',
                }
            },
        }
    },
)
async def events(service: ServiceOf, who: Looker, name: str, request: Request) -> Response:
    """The changes of the study, as a stream of events."""
    await service.queues.look(service.studies.reader, name)  # 404 now rather than later.
    if not service.hub.has_room(name, str(who.token)):
        raise ApiError(429, "too many listeners; try again later", headers={"Retry-After": "10"})

    async def is_welcome() -> bool:
        try:
            check(await service.gate.identify(headers_of(request.scope)), LOOK, name)
        except ApiError:
            return False
        return True

    return StreamingResponse(
        service.hub.listen(name, str(who.token), is_welcome),
        media_type="text/event-stream",
        # Not to be held back by a proxy.
        headers={"X-Accel-Buffering": "no"},
    )


def attachment(name: str, ending: str) -> dict[str, str]:
    """Headers that make a browser save an answer as a file."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    return {
        "Content-Disposition": f'attachment; filename="{plain}.{ending}"; '
        f"filename*=UTF-8''{quote(name, safe='')}.{ending}"
    }


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Every recorded reward, in the order of recording.",
            "content": {
                "text/csv": {"schema": {"type": "string"}},
                "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
                "application/vnd.apache.parquet": {
                    "schema": {"type": "string", "format": "binary"}
                },
            },
        }
    },
)
async def export(
    service: ServiceOf,
    name: str,
    form: Annotated[Literal["csv", "json", "parquet"], Query(description="Which format.")] = "csv",
    raw: Annotated[
        bool,
        Query(
            description="CSV: unchanged names. By default, a name that a spreadsheet would run as "
            "a formula gets a leading '."
        ),
    ] = False,
) -> Response:
    """Every recorded reward, as a file."""
    parts: Iterator[str] | Iterator[bytes]
    if form == "parquet":
        parts = await service.queues.slow(_parquet, service, name)
    else:
        study = await service.queues.look(service.studies.reader, name)
        parts = study.export_parts(form, raw=raw)
    return StreamingResponse(parts, media_type=TYPES[form], headers=attachment(name, form))


def _parquet(service: Service, name: str) -> Iterator[bytes]:
    """The whole file at once, because the format has its index at the end."""
    with service.studies.own(name) as study:
        file = tempfile.TemporaryFile()  # noqa: SIM115  # closed when all of it is read
        try:
            study.export(file, "parquet")
        except BaseException:
            file.close()
            raise
    file.seek(0)

    def read() -> Iterator[bytes]:
        with file:
            while part := file.read(_CHUNK):
                yield part

    return read()


@router.get(
    "/report",
    response_class=Response,
    responses={200: {"description": "One file to share.", "content": {"text/html": {}}}},
)
async def report(
    service: ServiceOf,
    name: str,
    download: Annotated[
        bool, Query(description="Download a file instead of showing a page.")
    ] = False,
) -> Response:
    """The report: one self-contained HTML file, shown as a page or downloaded."""
    text = await service.queues.slow(_report, service, name)
    headers = {"Content-Security-Policy": REPORT_POLICY}
    if download:
        headers = attachment(name, "html")
    else:
        text = text.replace(SAVE_MARK, SAVE_LINK, 1)
    return Response(text, media_type="text/html; charset=utf-8", headers=headers)


def _report(service: Service, name: str) -> str:
    from standout.report.page import render_report

    with service.studies.own(name) as study:
        return kept_or_new(
            service.cache.reports,
            name,
            study,
            lambda: render_report(study, files=service.settings.files),
        )
