"""Pictures of items: from where a page may load them, and those of the service's own folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter
from starlette.responses import Response

from standout.errors import NoPictureError, NoStudyError
from standout.service.errors import ApiError
from standout.service.rating.questions import image_policy
from standout.service.security.auth import Anyone, Identity, check
from standout.service.service import Service, ServiceOf
from standout.study.rating.picture_files import PREFIX, read_picture
from standout.study.storage.tokens import Role

router = APIRouter(include_in_schema=False)

_PART = 500
# A picture opened by itself is nothing but a picture, whatever its bytes pretend to be.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=3600",
}


@dataclass(frozen=True)
class Sources:
    """Where a study's pictures are: `policy` as a page's header names the places, and the
    paths of those in the service's own folder."""

    policy: str = "'self'"
    files: frozenset[str] = frozenset()


async def sources_of(service: Service, name: str) -> Sources:
    """Of a study's items, kept for later; none if there is no such study."""
    found = service.cache.images.get(name)
    if found is None:
        try:
            found = await service.queues.slow(_read_sources, service, name)
        except NoStudyError:
            return Sources()
        service.cache.images[name] = found
    return found


async def policy_for(service: Service, who: Identity | None, name: str) -> str:
    """The sources of pictures that a page of this study may load; told to those who may see."""
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


@router.get(PREFIX + "{path:path}")
async def picture(service: ServiceOf, who: Anyone, path: str) -> Response:
    """A picture of the folder; with a token for one study, only those that its items name."""
    folder = service.settings.files
    if folder is None:
        raise NoPictureError("this service has no folder of pictures (standout serve --files)")
    if who.study is not None and path not in (await sources_of(service, who.study)).files:
        raise NoPictureError("no item of this token's study has such a picture")
    found = await service.queues.look(read_picture, folder, path)
    return Response(found.body, media_type=found.kind, headers=_HEADERS)
