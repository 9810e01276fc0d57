"""The items of arms in a report: a name alone may mean nothing to its reader."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from standout.errors import NoPictureError
from standout.pictures.item_files import PREFIX, read_picture
from standout.study import Study
from standout.text import printable

MOST_CARDS = 12
"""The largest number of arms shown with their pictures."""
MOST_BYTES = 1_000_000
"""The largest size of all pictures together, as encoded in the page."""
LONGEST = 120
"""The largest number of characters of an item's text beside its arm."""
_PART = 500
_QUOTES = '“”"'


@dataclass(frozen=True)
class Card:
    """One arm as raters saw it; `picture` is a `data:` address, which needs no network.

    `elsewhere` is the address of a picture that could not be embedded.
    """

    arm: int
    text: str
    picture: str
    elsewhere: str


def read_texts(study: Study) -> dict[int, str]:
    """The beginning of each arm's text, by the arm's position; arms without text are left out."""
    found: dict[int, str] = {}
    index = {name: place for place, name in enumerate(study.arms)}
    for start in range(0, len(study.arms), _PART):
        # In parts, because items may contain whole pictures.
        for name, parts in study.items(study.arms[start : start + _PART]).items():
            text = brief(parts.get("text") or parts.get("html") or "")
            if text:
                found[index[name]] = text
    return found


def brief(text: str, most: int = LONGEST) -> str:
    """A text on one line, cut if it is long."""
    return printable(" ".join(text.split()), most)


def quoted(text: str, most: int = 60) -> str:
    """A text in quotation marks; existing ones are removed first."""
    bare = text.strip(_QUOTES)
    return f"“{brief(bare, most)}”"


def cards(study: Study, arms: Sequence[int], folder: str | None) -> tuple[Card, ...]:
    """The items of these arms: the first few that have one, with pictures while there is room."""
    found: list[Card] = []
    room = MOST_BYTES
    names = [study.arms[arm] for arm in arms]
    for arm, parts in _items(study, arms, names):
        if len(found) == MOST_CARDS:
            break
        address = parts.get("image", "")
        picture = _written_out(address, folder)
        if len(picture) > room:
            picture = ""
        room -= len(picture)
        elsewhere = "" if picture else brief(address)
        text = brief(parts.get("text") or parts.get("html") or "", 300)
        found.append(Card(arm, text, picture, elsewhere))
    return tuple(found)


def _items(
    study: Study, arms: Sequence[int], names: Sequence[str]
) -> Iterable[tuple[int, dict[str, str]]]:
    for start in range(0, len(arms), MOST_CARDS):
        part = names[start : start + MOST_CARDS]
        kept = study.items(part)
        for arm, name in zip(arms[start : start + MOST_CARDS], part, strict=True):
            if name in kept:
                yield arm, kept[name]


def _written_out(address: str, folder: str | None) -> str:
    """A picture as a `data:` address; empty for a picture elsewhere."""
    if address.startswith("data:image/"):
        return address
    if folder is None or not address.startswith(PREFIX):
        return ""
    try:
        found = read_picture(folder, unquote(urlsplit(address).path).removeprefix(PREFIX))
    except NoPictureError:
        return ""
    return f"data:{found.kind};base64,{base64.b64encode(found.body).decode()}"
