"""Stores with something in them."""

from __future__ import annotations

from pathlib import Path

from standout.study.events.event import NO_DIGEST, Event, Kind, make_event
from standout.study.storage.items import put_items
from standout.study.storage.session import Deleted
from standout.study.storage.store import Store, open_store
from standout.study.storage.tokens import create


def chain(n: int, *, first: int = 0, before: bytes = NO_DIGEST) -> list[Event]:
    """Events with digests that follow one another."""
    made = []
    for number in range(first, first + n):
        kind = Kind.TOLD if number else Kind.CREATED
        made.append(make_event(before, number, 1e6 + number / 7, kind, "w", f"k{number}", "[0]"))
        before = made[-1].digest
    return made


def with_study(store: Store, n: int = 3, name: str = "a") -> tuple[int, list[Event]]:
    """A new study of `n` events: its id, and the events."""
    events = chain(n)
    with store.write() as session:
        study = session.create_study(name)
        session.append(study, events)
    return study, events


def add(store: Store, count: int = 1, study: int = 1) -> int:
    """Append events, each in a transaction; the number of the last."""
    number = -1
    for _ in range(count):
        with store.write() as session:
            session.lock(study)
            number, before = session.head(study) or (-1, NO_DIGEST)
            number += 1
            session.append(study, chain(1, first=number, before=before))
    return number


def last(store: Store, study: int = 1) -> int:
    """The number of the newest event; all digests up to it are right."""
    with store.read() as session:
        found = list(session.events(study))
        head = session.head(study)
    assert found == chain(len(found))
    assert head is not None
    assert head == (found[-1].number, found[-1].digest)
    return head[0]


def make(place: str | Path, events: int = 60, *, patience: float = 10.0) -> Store:
    """A store with a study, an item, a snapshot, a token, and what is left of another study."""
    store = open_store(place, create=True, patience=patience)
    study, _ = with_study(store, events)
    gone, _ = with_study(store, 2, "gone")
    with store.write() as session:
        put_items(session, study, {0: {"text": "é"}})
        session.put_snapshot(study, 5, b"\0state", b"\xffrewards", is_alone=True)
        session.delete_study(Deleted(gone, "gone", 1.0, "w", "", 0, 2, "ab"))
    create(store, "owner", None, "me")
    return store
