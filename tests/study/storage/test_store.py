"""What every store promises, tried on both databases."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from standout.errors import (
    NoStudyError,
    StorageError,
    StudyError,
    StudyExistsError,
    UnavailableError,
)
from standout.study.events.event import Kind, make_event
from standout.study.storage.items import count_items, put_items, read_items
from standout.study.storage.session import BATCH, Deleted
from standout.study.storage.store import Store, open_store
from tests.study.storage.stores import add, chain, last, make, with_study


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    made = open_store(place, create=True, patience=5)
    yield made
    made.close()


def test_events_come_back_as_they_went_in(store: Store) -> None:
    study, events = with_study(store, 2 * BATCH + 1)
    with store.read() as session:
        assert list(session.events(study)) == events
        assert list(session.events(study, BATCH, BATCH + 2)) == events[BATCH : BATCH + 3]
        assert list(session.events(study, 2 * BATCH)) == events[2 * BATCH :]
        assert list(session.events(study, 2 * BATCH + 1)) == []
        assert session.head(study) == (2 * BATCH, events[-1].digest)
        assert session.head(study + 1) is None
        assert session.event_of_key(study, "k7") == events[7]
        assert session.event_of_key(study, "k") is None


def test_texts_and_times_are_kept_to_the_last_bit(store: Store) -> None:
    study, _ = with_study(store, 1)
    texts = ["", "é", "汉字 🙂", "%s ? $1 'quoted'", "x" * 100_000, "\\x00", "\n\t"]
    times = [0.0, 1e6, 1 / 3, 1.7e9 + 1e-6, 5e-324, 1.7976931348623157e308, -1.5]
    events, before = [], b"\0" * 32
    for number, (text, moment) in enumerate(zip(texts, times, strict=True), start=1):
        key = None if number % 2 else text
        events.append(make_event(before, number, moment, Kind.NOTED, text, key, text))
    with store.write() as session:
        session.append(study, events)
    with store.read() as session:
        assert list(session.events(study, 1)) == events


def test_a_number_or_key_that_is_there_is_refused(store: Store) -> None:
    study, events = with_study(store)
    new = make_event(events[-1].digest, 3, 1e6, Kind.TOLD, "w", "k1", "[0]")
    for bad in (events[2], new):
        with pytest.raises(StorageError, match="nothing was changed"), store.write() as session:
            session.append(study, [bad])
    with store.read() as session:
        assert list(session.events(study)) == events


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE standout_events SET body = '[1]' WHERE number = 1",
        "DELETE FROM standout_events WHERE number = 2",
        "DELETE FROM standout_deleted",
        "UPDATE standout_deleted SET events = 0",
    ],
)
def test_events_and_traces_are_only_added(store: Store, statement: str) -> None:
    study, _ = with_study(store, name="gone")
    with_study(store)
    with store.write() as session:
        session.delete_study(Deleted(study, "gone", 1.0, "w", "", 0, 3, "ab"))
    with pytest.raises(StorageError, match="never"), store.write() as session:
        session.run(statement)


@pytest.mark.parametrize("name", ["standout_events_kept", "standout_events_whole"])
def test_a_missing_guard_is_noticed(store: Store, name: str) -> None:
    with store.read() as session:
        assert session.missing_guards() == []
    with store.write() as session:
        session.run(f"DROP TRIGGER {name}" + ("" if store.is_sqlite else " ON standout_events"))
    with store.read() as session:
        assert session.missing_guards() == [name]


def test_a_deleted_study_leaves_a_line_and_its_id_is_not_given_again(store: Store) -> None:
    first, events = with_study(store, name="first")
    other, kept = with_study(store, name="other")
    with store.write() as session:
        put_items(session, other, {0: {"text": "x"}})
        session.put_snapshot(other, 2, b"s", b"r", is_alone=True)
        session.delete_study(Deleted(other, "other", 5.0, "eva", "wrong arms", 7, 3, "00ff"))
    with store.write() as session:
        assert session.names() == [(first, "first")]
        assert list(session.events(other)) == []
        assert session.snapshot(other) is None
        assert count_items(session, other) == 0
        assert list(session.events(first)) == events
        (line,) = session.deleted()
        assert line == (other, "other", 5.0, "eva", "wrong arms", 7, 3, "00ff")
        assert session.create_study("other") > other
    assert kept


def test_studies_are_found_by_name(store: Store) -> None:
    with store.read() as session, pytest.raises(NoStudyError):
        session.find(None)
    one, _ = with_study(store, name="one")
    with store.read() as session:
        assert session.find(None) == session.find("one") == (one, "one")
    with_study(store, name="two")
    with store.read() as session:
        assert session.find("one") == (one, "one")
        with pytest.raises(StudyError, match="'one', 'two'"):
            session.find(None)
        with pytest.raises(NoStudyError, match="three"):
            session.find("three")
    with pytest.raises(StudyExistsError), store.write() as session:
        session.create_study("two")


def test_an_event_that_was_seen_comes_without_its_body(store: Store) -> None:
    study, (_, seen, after) = with_study(store)
    with store.read() as session:
        assert list(session.events(study, 1, seen=1)) == [replace(seen, body=""), after]


def test_a_snapshot_grows_by_parts(store: Store) -> None:
    study, _ = with_study(store)
    with store.write() as session:
        assert session.snapshot(study) is None
        session.put_snapshot(study, 5, b"s5", b"r5", is_alone=True)
        session.put_snapshot(study, 9, b"s9", b"r9", is_alone=False)
        assert session.newest_snapshot(study) == (9, b"s9")
        assert session.snapshot(study) == (9, b"s9", [b"r5", b"r9"])
        session.put_snapshot(study, 4, b"s4", b"r4", is_alone=True)
        assert session.snapshot(study) == (4, b"s4", [b"r4"])
        session.drop_snapshots(study)
        assert session.snapshot(study) is session.newest_snapshot(study) is None


def test_items_are_read_by_position(store: Store) -> None:
    study, _ = with_study(store)
    items = {0: {"text": "tea"}, 3: {"picture": "é.png", "text": "'?'"}}
    with store.write() as session:
        put_items(session, study, items)
        put_items(session, study, {})
    with store.read() as session:
        assert read_items(session, study) == items
        assert read_items(session, study, [1, 3, 3]) == {3: items[3]}
        assert read_items(session, study, []) == {}
        assert count_items(session, study) == 2


def append_and_raise(store: Store, study: int, error: type[BaseException]) -> None:
    with store.write() as session:
        session.append(study, chain(1, first=3))
        raise error


def test_what_raises_leaves_nothing(store: Store) -> None:
    study, events = with_study(store)
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            append_and_raise(store, study, error)
        with store.read() as session:
            assert list(session.events(study)) == events
    with store.write() as session:  # It goes on afterwards.
        session.append(study, chain(1, first=3, before=events[-1].digest))


def test_a_reader_sees_one_moment(place: str, store: Store) -> None:
    study, events = with_study(store)
    other = open_store(place)
    with store.read() as session:
        assert session.head(study) == (2, events[-1].digest)
        with other.write() as elsewhere:
            elsewhere.append(study, chain(1, first=3))
        assert session.head(study) == (2, events[-1].digest)
    with store.read() as session:
        assert session.head(study) == (3, chain(1, first=3)[0].digest)
    other.close()


def lock(store: Store, study: int) -> None:
    with store.write() as session:
        session.lock(study)


def test_nobody_else_writes_to_a_locked_study(place: str, store: Store) -> None:
    study, _ = with_study(store)
    other = open_store(place, patience=0.3)
    with store.write() as session:
        session.lock(study)
        with pytest.raises(UnavailableError, match="nothing was changed") as caught:
            lock(other, study)
        assert caught.value.has_waited
    lock(other, study)  # It goes on afterwards.
    other.close()


def test_a_lock_waits_and_then_sees_what_was_committed(place: str, store: Store) -> None:
    study, _ = with_study(store)
    seen: list[tuple[int, bytes] | None] = []
    is_begun = threading.Event()

    def wait() -> None:
        other = open_store(place)
        is_begun.set()
        with other.write() as session:
            session.lock(study)
            seen.append(session.head(study))
        other.close()

    with store.write() as session:
        session.lock(study)
        thread = threading.Thread(target=wait)
        thread.start()
        is_begun.wait()
        session.append(study, chain(1, first=3))
    thread.join()
    assert [found and found[0] for found in seen] == [3]


def test_threads_take_turns(store: Store) -> None:
    """As many events as were appended, each behind the one before."""
    with_study(store)
    threads = [threading.Thread(target=add, args=(store, 20)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert last(store) == 82


def test_a_transaction_inside_another_is_refused(store: Store) -> None:
    with store.read(), pytest.raises(StudyError, match="under way"), store.write():
        pass
    store.ping()


def test_a_store_has_an_identity_of_its_own(place: str, store: Store) -> None:
    again = open_store(place, create=True)
    assert (again.identity, again.generation) == (store.identity, 0)
    again.close()
    with_study(store)
    with store.write() as session:
        session.begin_again()
    again = open_store(place)
    assert (again.identity, again.generation) == (store.identity, 1)
    with again.read() as session:
        assert session.names() == []
    again.close()
    study, events = with_study(store)
    with store.read() as session:
        assert list(session.events(study)) == events


def test_a_store_of_another_version_is_refused(place: str, store: Store) -> None:
    with store.write() as session:
        session.run("UPDATE standout_store SET version = 2")
    store.close()
    with pytest.raises(StorageError, match="version 2"):
        open_store(place)


def test_a_place_without_a_store(place: str) -> None:
    with pytest.raises(StorageError) as caught:
        open_store(place)
    assert isinstance(caught.value, NoStudyError)


def test_closed_is_opened_again_by_the_next_use(store: Store) -> None:
    study, events = with_study(store)
    store.close()
    with store.read() as session:
        assert list(session.events(study)) == events


def test_the_clock_can_be_given(place: str) -> None:
    store = open_store(place, create=True, clock=lambda: 42.0)
    with store.write() as session:
        study = session.create_study("a")
        session.lock(study)
        assert session.now == 42.0
    store.close()


def test_a_signal_takes_effect_between_transactions(place: str) -> None:
    """Wherever it comes: no transaction is left open, and nobody is kept from a turn."""
    store = make(place, 10, patience=5)
    main = threading.get_ident()

    def work_until_interrupted(after: float) -> None:
        threading.Timer(after, signal.pthread_kill, (main, signal.SIGINT)).start()
        while True:
            add(store)
            store.ping()

    for number in range(60):
        before = last(store)
        with pytest.raises(KeyboardInterrupt):
            work_until_interrupted(number * 0.0002)
        assert last(store) >= before
    store.close()
