"""A store after a fork: the parent's raises a clear error, and the child's own works."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import pytest

from standout.errors import StudyError
from standout.study.storage.store import open_store
from tests.study.processes import in_child
from tests.study.storage.stores import add, last, make


def test_the_parents_store_cannot_be_used(place: str) -> None:
    store = make(place)

    def use() -> None:
        for call in (add, last):
            with pytest.raises(StudyError, match=r"before this process was forked.*open the study"):
                call(store)
        with pytest.raises(StudyError, match="forked"):
            store.ping()
        store.close()

    in_child(use)
    add(store)  # The child has not closed it.
    assert last(store) == 60
    store.close()


def test_a_child_opens_its_own(place: str) -> None:
    store = make(place)

    def use() -> None:
        own = open_store(place)
        add(own, 5)
        own.close()

    for _ in range(3):
        in_child(use)
        add(store)
    assert last(store) == 59 + 18
    store.close()


def test_parent_and_child_write_at_once(place: str) -> None:
    store = make(place)
    begun, begin = os.pipe()

    def work() -> None:
        own = open_store(place)
        os.write(begin, b"x")
        add(own, 100)
        own.close()

    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    os.read(begun, 1)
    add(store, 100)
    assert os.waitpid(child, 0)[1] == 0
    assert last(store) == 259
    store.close()


def test_what_a_child_forgets_is_still_its_parents(place: str) -> None:
    """Neither garbage nor the child's end close the parent's connection or remove its log."""
    stores = [make(place)]

    def forget() -> None:
        stores.clear()
        gc.collect()

    in_child(forget)
    add(stores[0])
    assert last(stores[0]) == 60
    stores[0].close()


def test_the_log_outlives_the_parent(folder: Path) -> None:
    """The parent closes the file, others come, and what the child writes is seen by all."""
    file = folder / "study.db"
    store = make(file)

    def use() -> None:
        own = open_store(file)
        add(own, 3)

        def look() -> None:
            other = open_store(file)
            assert last(other) == 62
            other.close()

        in_child(look)
        add(own)
        assert last(own) == 63
        own.close()

    in_child(use)
    store.close()
    store = open_store(file)
    assert last(store) == 63
    store.close()


def test_amid_a_transaction_of_another_thread(place: str) -> None:
    """No hang on a lock that no thread of the child can let go of."""
    store = make(place)
    begun, over = threading.Event(), threading.Event()

    def hold() -> None:
        with store.write() as session:
            session.lock(1)
            begun.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait()

    def use() -> None:
        with pytest.raises(StudyError, match="forked"):
            add(store)
        store.close()
        if store.is_sqlite:
            with pytest.raises(StudyError, match=r"another thread when this process was forked"):
                open_store(place)

    in_child(use)
    over.set()
    thread.join()
    add(store)
    assert last(store) == 60
    store.close()
