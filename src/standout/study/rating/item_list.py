"""The items of some arms, as a page asks for them: those in sight, and no more than fits."""

from __future__ import annotations

from collections.abc import Sequence

from standout.results import Item, ItemList
from standout.study.storage.items import count_items, read_items
from standout.study.study import Study

LARGEST = 1_000_000
"""Characters of one answer, if its first item is not longer by itself."""


def list_items(study: Study, positions: Sequence[int], largest: int = LARGEST) -> ItemList:
    """The items at these positions, in this order, as far as they fit; others are `left`.

    A position without an item, or beyond the last arm, is passed over.
    """
    arms = study.arms
    wanted = [place for place in dict.fromkeys(positions) if place < len(arms)]
    with study._reading() as session:
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
