"""Pictures of items: the allowed sources of a page, and the service's own folder."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from standout.errors import NoPictureError, NoStudyError
from standout.pictures.item_files import PREFIX, read_picture, write_picture
from standout.service.errors import ApiError
from standout.service.rating.questions import image_policy
from standout.service.schemas import Body
from standout.service.security.auth import Anyone, Identity, Owner, check
from standout.service.service import Service, ServiceOf, answer
from standout.study.storage.tokens import Role

router = APIRouter(include_in_schema=False)

_PART = 500
# A picture opened directly is only a picture, even if its bytes look like a page.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=3600",
}


@dataclass(frozen=True)
class Sources:
    """Where a study's pictures come from.

    `policy` is the list of places for a page's security header; `files` are the paths of pictures
    in the service's own folder.
    """

    policy: str = "'self'"
    files: frozenset[str] = frozenset()


async def sources_of(service: Service, name: str) -> Sources:
    """The sources of a study's items, cached; none if there is no such study."""
    found = service.cache.images.get(name)
    if found is None:
        try:
            found = await service.queues.slow(_read_sources, service, name)
        except NoStudyError:
            return Sources()
        service.cache.images[name] = found
    return found


async def policy_for(service: Service, who: Identity | None, name: str) -> str:
    """The sources of pictures that a page of this study may load, for users who may see it."""
    try:
        check(who, tuple(Role), name)
    except ApiError:
        return Sources().policy
    return (await sources_of(service, name)).policy


def _read_sources(service: Service, name: str) -> Sources:
    study = service.studies.reader(name)

    def addresses() -> Iterator[str]:
        # In parts: items may hold whole pictures.
        for start in range(0, len(study.arms), _PART):
            for item in study.items(study.arms[start : start + _PART]).values():
                if "image" in item:
                    yield item["image"]

    files: set[str] = set()
    policy = image_policy(_noting(addresses(), files))
    return Sources(policy, frozenset(files))


def _noting(addresses: Iterable[str], files: set[str]) -> Iterator[str]:
    for address in addresses:
        if address.startswith(PREFIX):
            files.add(unquote(urlsplit(address).path).removeprefix(PREFIX))
        yield address


class Upload(Body):
    """A picture to put into the folder, its bytes in base64."""

    name: str = Field(min_length=5, max_length=200)
    data: str = Field(max_length=10_000_000)


@router.post("/files")
async def upload(service: ServiceOf, who: Owner, body: Upload) -> Response:
    """Store a picture in the folder; the answer has the `image` for an item."""
    folder = service.settings.files
    if who.study is not None:
        raise ApiError(403, "the folder is for every study, so the owner's token must be, too")
    if folder is None:
        raise NoPictureError("this service has no folder of pictures (standout serve --files)")
    try:
        data = base64.b64decode(body.data, validate=True)
    except ValueError:
        raise ApiError(422, "data: send the picture's bytes in base64") from None
    await service.queues.look(write_picture, folder, body.name, data)
    return answer({"image": PREFIX + quote(body.name)}, 201)


@router.get(PREFIX + "{path:path}")
async def picture(service: ServiceOf, who: Anyone, path: str) -> Response:
    """A picture of the folder; with a token for one study, only those of its items."""
    folder = service.settings.files
    if folder is None:
        raise NoPictureError("this service has no folder of pictures (standout serve --files)")
    if who.study is not None and path not in (await sources_of(service, who.study)).files:
        raise NoPictureError("no item of this token's study has such a picture")
    found = await service.queues.look(read_picture, folder, path)
    return Response(found.body, media_type=found.kind, headers=_HEADERS)
