"""The pages for people: a dashboard and a rating page, with the files that they are made of.

A page is the same for all users. It reads its data from the API with the user's cookie, so the
page itself contains no secret and needs no token.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import Field
from starlette.responses import Response

from standout.csv_files import read_arms, read_items
from standout.pictures import marks
from standout.service.errors import ApiError
from standout.service.past import read_past
from standout.service.pictures import policy_for
from standout.service.pictures import router as pictures
from standout.service.rating.routes import router as rating
from standout.service.schemas import Body, PastRewards
from standout.service.security.auth import Owner, identify
from standout.service.service import ServiceOf, answer

router = APIRouter(include_in_schema=False)
LOAD = ["GET", "HEAD"]

_HERE = Path(__file__).parent
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_AS_IN_SCRIPTS = "!'()*~"
"""Characters that `encodeURIComponent` keeps and Python's `quote` does not."""
_FOR_EVER = "public, max-age=31536000, immutable"
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)$", re.MULTILINE | re.DOTALL)
"""A comment that has its lines to itself."""
_IMPORT = re.compile(r'^import .*?from "\./([\w.]+)";', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Asset:
    """A file of the pages, plain and compressed."""

    body: bytes
    packed: bytes
    kind: str


@cache
def assets() -> tuple[str, dict[str, Asset]]:
    """All files by name, and the version in their addresses.

    Marks and colours of verdicts come from their one table. Comments are removed, because they were
    an eighth of the size; lines keep their numbers. The version is a hash of all files, so the
    content of an address never changes and a browser may cache it forever.
    """
    bodies = {"marks.js": marks.script().encode(), "marks.css": marks.style_sheet().encode()}
    for path in (_HERE / "static").iterdir():
        if path.suffix in _TYPES:
            text = path.read_text(encoding="utf-8")
            if path.suffix != ".svg":
                text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
            bodies[path.name] = text.encode()
    found: dict[str, Asset] = {}
    digest = hashlib.sha256()
    for name, body in sorted(bodies.items()):
        digest.update(name.encode() + b"\0" + body)
        kind = _TYPES[Path(name).suffix]
        found[name] = Asset(body, gzip.compress(body, 9, mtime=0), kind)
    return digest.hexdigest()[:12], found


@cache
def modules_of(name: str) -> list[str]:
    """A script and all that it imports, so that a browser can load them at once."""
    _, files = assets()
    found, waiting = [name], [name]
    while waiting:
        for other in _IMPORT.findall(files[waiting.pop()].body.decode()):
            if other not in found:
                found.append(other)
                waiting.append(other)
    return found


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined
    )


_SHEETS = {"rate": ["rate"], "error": []}
"""Style sheets of a page beside those of all; the others are of the dashboard's kind."""


def page(name: str, **filled: str) -> str:
    """A page with the addresses of its files, and the parts that depend on the address."""
    version, files = assets()
    modules = modules_of(f"{name}.js") if f"{name}.js" in files else []
    return (
        _templates()
        .get_template(f"{name}.html")
        .render(
            static=f"/static/{version}",
            modules=modules,
            sheets=_SHEETS.get(name, ["dashboard"]),
            **filled,
        )
    )


def policy(images: str = "'self'") -> str:
    """Everything from this server, no inline scripts, pictures from the given places."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src {images}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def _shown(name: str, images: str = "'self'", **filled: str) -> Response:
    return Response(
        page(name, **filled),
        media_type="text/html; charset=utf-8",
        headers={"Content-Security-Policy": policy(images), "Cache-Control": "no-cache"},
    )


_TITLES = {
    401: "A token is needed here",
    403: "This token does not open this",
    404: "There is nothing here",
    429: "Too many at once",
}


def error_page(error: ApiError) -> Response:
    """An error as a page for a browser."""
    title = _TITLES.get(error.status, "That did not work")
    words = error.message[:1].upper() + error.message[1:].rstrip(".") + "."
    found = _shown("error", title=title, words=words)
    found.status_code = error.status
    found.headers.update(error.headers or {})
    return found


@router.api_route("/static/{version}/{name}", methods=LOAD)
async def static(version: str, name: str, request: Request) -> Response:
    """A file of the pages; a file of another version is not cached."""
    current, files = assets()
    asset = files.get(name)
    if asset is None:
        raise ApiError(404, "there is nothing at this address")
    headers = {
        "Cache-Control": _FOR_EVER if version == current else "no-cache",
        "Vary": "Accept-Encoding",
    }
    is_packed = "gzip" in request.headers.get("accept-encoding", "")
    if is_packed:
        headers["Content-Encoding"] = "gzip"
    body = asset.packed if is_packed else asset.body
    return Response(body, media_type=asset.kind, headers=headers)


@router.api_route("/", methods=LOAD)
async def home() -> Response:
    """The list of studies."""
    return _shown("home")


@router.api_route("/compare", methods=LOAD)
async def compare() -> Response:
    """Studies side by side."""
    return _shown("compare")


@router.api_route("/study/{name}", methods=LOAD)
async def study(name: str, request: Request, service: ServiceOf) -> Response:
    """The dashboard of the study called `name`; an empty one if there is no such study."""
    who = await identify(request)
    sources = await policy_for(service, who, name)
    known = "no" if who is None else "yes"
    # The page's first request is preloaded with its scripts. Its address is written as
    # the script writes it: what differs would be fetched twice.
    view = f"/api/v1/studies/{quote(name, safe=_AS_IN_SCRIPTS)}/view"
    return _shown("study", sources, view=view, known=known)


@router.api_route("/rate/{name}", methods=LOAD)
async def rate(name: str, request: Request, service: ServiceOf) -> Response:
    """The rating page; pictures may come from the places of this study's items."""
    who = await identify(request)
    sources = await policy_for(service, who, name)
    return _shown("rate", sources, known="no" if who is None else "yes")


@router.get("/session")
async def session(request: Request, service: ServiceOf) -> Response:
    """The identity of the user, for a page."""
    who = await identify(request)
    if who is None:
        return answer({"role": None, "study": None, "token": False, "files": False})
    found = {"role": str(who.role), "study": who.study, "token": who.token is not None}
    offered = {"files": service.settings.files is not None, "parquet": has_parquet()}
    return answer({**found, **offered})


def has_parquet() -> bool:
    """Whether the packages that write Parquet are installed."""
    return find_spec("pyarrow") is not None


class ArmsText(Body):
    """A list of arms as it was pasted."""

    text: str = Field(max_length=10_000_000)


@router.post("/arms/table")
async def arms_of_table(service: ServiceOf, who: Owner, body: PastRewards) -> Response:
    """The arms of a table of past rewards, for a new study."""
    data, _ = await service.queues.look(read_past, body)
    return answer({"arms": [str(arm) for arm in data.arms], "items": {}})


@router.post("/arms")
async def arms(service: ServiceOf, who: Owner, body: ArmsText) -> Response:
    """Parse a list of arms as the command line does; errors name the line."""
    given = (body.text.removeprefix("\ufeff"), "arms")
    read = {"arms": read_arms, "items": read_items}
    return answer({name: await service.queues.look(call, *given) for name, call in read.items()})


router.include_router(rating)
router.include_router(pictures)
