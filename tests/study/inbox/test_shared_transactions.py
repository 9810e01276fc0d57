"""Requests that share a transaction: as if each had come by itself, and each with its own error."""

from __future__ import annotations

import json
import random
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from standout.errors import BatchError, StorageError, ToldError
from standout.results import Ticket
from standout.study import Study
from standout.study.inbox import lock, shared_transactions
from standout.study.inbox.request_sockets import BACK, DONE, SentRequest
from standout.study.inbox.requests import LONGEST, Answer, Request
from standout.study.inbox.shared_transactions import SharedTransactions
from standout.study.rewards import make_items
from standout.study.storage.stored_study import StoredStudy
from standout.study.transaction import MOMENT, Mark
from tests.patience import until
from tests.study.conftest import Clock
from tests.study.cut import cutting
from tests.study.inbox.leader import ARMS, PROBLEM, make, want
from tests.study.postgres import Server


class Sent:
    """A request as whoever has the turn finds it."""

    is_taken_back = False

    def __init__(self, request: Request) -> None:
        self.line = request.pack()
        self.said: list[bytes] = []

    def say(self, line: bytes) -> None:
        self.said.append(line)


def transactions_of(study: Study) -> SharedTransactions:
    return SharedTransactions(study._storage, study._stored)


class Twins:
    """The same requests for two studies: of one in groups, of the other one by one."""

    def __init__(self, place: str, other: Path, *, ordered: bool, lease: float) -> None:
        self.clocks = (Clock(), Clock())
        self.grouped, self.single = (
            Study.create(
                at, ARMS, PROBLEM, ordered=ordered, lease=lease, budget=400, clock=clock, seed=3
            )
            for at, clock in zip((place, str(other)), self.clocks, strict=True)
        )

    def carry_out(self, requests: list[Request]) -> list[Any]:
        """The answers of both, which must be the same."""
        sent = [Sent(request) for request in requests]
        transactions_of(self.grouped)._in_one(None, sent)  # type: ignore[arg-type]
        found: list[Any] = []
        now = self.clocks[1].now
        for number, (request, one) in enumerate(zip(requests, sent, strict=True)):
            self.clocks[1].now = now + number * MOMENT
            try:
                expected = transactions_of(self.single)._alone(request)
                assert one.said[-1] == DONE
                assert Answer.unpack(one.said[0]) == expected
                found.append(expected)
            except BatchError:
                assert one.said == [BACK]
        for clock in self.clocks:
            clock.now = now + 1.0
        return found


SIZES = {"calm": (1,), "hasty": (0, 1, 1, 1, 1, 3), "plates": (1, 1, 1, 2, 3, 5)}


def random_request(rng: random.Random, study: Study, known: list[Ticket], kind: str) -> Request:
    """Mostly one told ticket and one pull, in any order, and some rewards without asking.

    Unless all is calm, also several at once, and the same ticket twice; of the hasty with short
    leases, which let everything be looked up anew, of the others with long ones.
    """
    pairs: list[Any] = []
    is_calm = kind == "calm"
    for _ in range(rng.choice(SIZES[kind])):
        if not known or rng.random() < 0.15:
            pairs.append((rng.choice(ARMS), float(rng.randrange(9))))
        else:
            place = rng.randrange(len(known))
            ticket = known[place] if not is_calm and rng.random() < 0.3 else known.pop(place)
            is_other = not is_calm and rng.random() < 0.03
            pairs.append((ticket, float(ticket.id % 5) + is_other))
    items = make_items(pairs, study._stored.progress)
    count = rng.choice((1, 1, 1, 0, 2)) if items else 1
    lease = rng.choice((None, 2.0)) if kind == "hasty" else None
    return Request(items, count, rng.choice(("a", "b")), Mark.of(None), lease)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", SIZES)
def test_a_group_is_as_one_by_one(
    place: str, folder: Path, ordered: bool, kind: str, seed: int
) -> None:
    """What is looked up ahead for all of a group is right for each, whatever came before it."""
    rng = random.Random(seed)
    lease = 5.0 if kind == "hasty" else 1000.0
    twins = Twins(place, folder / "single.db", ordered=ordered, lease=lease)
    known: list[Ticket] = []
    for _ in range(40):
        requests = [
            random_request(rng, twins.grouped, known, kind) for _ in range(rng.choice((1, 2, 4, 8)))
        ]
        for answer in twins.carry_out(requests):
            known += answer.tickets
        mine, theirs = (one._stored.progress for one in (twins.grouped, twins.single))
        assert mine.held.tolist() == theirs.held.tolist()
        assert mine.state.sums.tolist() == theirs.state.sums.tolist()
    first, second = twins.grouped.status(), twins.single.status()
    assert first.pulls > 100
    assert (first.pulls, first.pending, first.undecided) == (
        second.pulls,
        second.pending,
        second.undecided,
    )
    assert first.threshold == second.threshold
    for study in (twins.grouped, twins.single):
        assert study.verify().problems == ()
        study.close()


def test_a_reward_waits_for_a_pull_of_the_same_group(place: str) -> None:
    """One pull of an arm is told and another handed out; what comes then stands behind that."""
    study = make(place)
    for arm in ARMS[1:]:
        study.pause(arm)
    told = study.ask(worker="me")
    assert told is not None
    assert told.arm == ARMS[0]
    told_items, unasked = (
        make_items([pair], study._stored.progress) for pair in ((told, 1.0), (ARMS[0], 4.0))
    )
    sent = [
        Sent(Request(told_items, 0, "me", Mark.of(None))),
        Sent(Request((), 1, "me", Mark.of(None))),
        Sent(Request(unasked, 0, "me", Mark.of(None))),
    ]
    transactions_of(study)._in_one(None, sent)  # type: ignore[arg-type]
    (ticket,) = study.pending()
    assert ticket.arm == ARMS[0]
    assert study._stored.progress.held.sum() == 1
    study.tell(ticket.ticket, 2.0)
    assert study._stored.progress.held.sum() == 0
    assert study.verify().problems == ()
    study.close()


def test_what_waits_is_known_after_a_plate_of_the_same_group(place: str) -> None:
    """A plate may tell again what waits, or lie around it: that waits still, in its order."""
    study = make(place)
    for arm in ARMS[1:]:
        study.pause(arm)
    tickets = study.ask(6, worker="me")
    first, *rest = [ticket.id for ticket in tickets]
    assert {ticket.arm for ticket in tickets} == {ARMS[0]}
    study.tell_many([(number, 1.0) for number in rest[:2]])
    before = study._stored.progress.state.pulls[0]
    found = study.in_one_transaction(
        [
            lambda turn: turn.tell_many([(rest[0], 1.0), (rest[3], 4.0)]),
            lambda turn: turn.tell_many([(first, 0.0)]),
        ],
        2,
        [first],
    )
    assert [one.counted for one in found] == [1, 1]  # type: ignore[union-attr]
    # The first three; the fifth waits for the fourth.
    assert study._stored.progress.state.pulls[0] == before + 3
    assert study._stored.progress.held.sum() == 1
    assert study.verify().problems == ()
    study.close()


def test_an_error_reaches_whoever_caused_it(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make(place)
    ticket = study.ask(worker="me")
    assert ticket is not None
    study.tell(ticket, 1.0, worker="me")
    caught: list[BaseException] = []

    def contradict() -> None:
        with Study.open(place) as mine:
            try:
                mine.tell(ticket, 2.0, worker="me")
            except ToldError as error:
                caught.append(error)

    shared = share_turn(study, monkeypatch, [contradict], lambda: study.tell(arm="fir", reward=3.0))
    assert shared.counted == 1
    assert "never changed" in str(caught[0])
    assert study.history()["reward"].tolist()[-2:] == [1.0, 3.0]
    study.close()


def test_an_error_of_ones_own_leaves_the_others(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(place)
    ticket = study.ask(worker="me")
    assert ticket is not None
    study.tell(ticket, 1.0, worker="me")
    told: list[Any] = []

    def tell() -> None:
        with Study.open(place) as mine:
            told.append(mine.tell(arm="fir", reward=3.0, worker="other"))

    with pytest.raises(ToldError):
        share_turn(study, monkeypatch, [tell], lambda: study.tell(ticket, 2.0))
    assert told[0].counted == 1
    assert study.history()["worker"].tolist()[-1] == "other"
    assert study.verify().problems == ()
    study.close()


def test_a_transaction_that_breaks_is_tried_by_each_alone(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(place)
    told: list[Any] = []

    def tell() -> None:
        with Study.open(place) as mine:
            told.append(mine.tell(arm="fir", reward=3.0, worker="other"))

    flush, breaks = StoredStudy.flush, [True]

    def fail_once(stored: StoredStudy, connection: Any) -> None:
        if breaks:
            breaks.pop()
            raise StorageError("the disk is full")
        flush(stored, connection)

    monkeypatch.setattr(StoredStudy, "flush", fail_once)
    receipt = share_turn(
        study, monkeypatch, [tell], lambda: study.tell(arm="elm", reward=4.0, worker="own")
    )
    assert (receipt.counted, told[0].counted) == (1, 1)
    assert sorted(study.history()["worker"].tolist()[-2:]) == ["other", "own"]
    assert study.verify().problems == ()
    study.close()


def test_ones_own_is_done_once_if_serving_others_fails(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(place)
    gather, calls = lock.Turn.gather, [0]

    def fail_later(turn: lock.Turn, seconds: float = 0.0) -> Any:
        calls[0] += 1
        if calls[0] > 1:
            raise OSError("no more files can be opened")
        return gather(turn, seconds)

    monkeypatch.setattr(lock.Turn, "gather", fail_later)
    want(study)
    before = study.status().pulls
    assert study.tell(arm="elm", reward=4.0).counted == 1
    assert calls[0] > 1
    assert study.status().pulls == before + 1
    assert study.verify().problems == ()
    study.close()


def test_a_commit_of_which_nobody_knows_is_made_once(server: Server) -> None:
    """Cut off at the end of a transaction for several, whoever has the turn looks for its own."""
    url = server.new_database("cut_group")
    make(url).close()
    with cutting(url) as way, Study.open(way.url) as study:
        progress = study._stored.progress
        mine, other = (
            Request(make_items([(arm, 7.0)], progress), 0, who, Mark.of(None))
            for arm, who in (("ash", "me"), ("elm", "other"))
        )
        sent = Sent(other)
        way.is_armed = True
        answer = transactions_of(study)._with([sent], mine)  # type: ignore[list-item]
        assert (answer.receipt.counted, answer.receipt.again, way.cuts) == (1, True, 1)
        assert DONE not in sent.said
        workers = study.history()["worker"].tolist()
        assert (workers.count("me"), workers.count("other")) == (1, 1)
        assert study.verify().problems == ()


def test_what_was_done_before_the_inbox_failed_is_done_once(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(place)
    told: list[Any] = []

    def wait_and_fail(inbox: Any, sent: SentRequest, end: float) -> None:
        until(lambda: sent.look() or sent.is_done, "it is not done")
        raise OSError("no lock can be had")

    def tell() -> None:
        with Study.open(place) as mine:
            told.append(mine.tell(arm="fir", reward=3.0, worker="other"))

    monkeypatch.setattr(shared_transactions, "_wait", wait_and_fail)
    share_turn(study, monkeypatch, [tell], lambda: study.tell(arm="elm", reward=4.0))
    assert told[0].counted == 1
    assert study.history()["worker"].tolist().count("other") == 1
    assert study.verify().problems == ()
    study.close()


def share_turn(study: Study, monkeypatch: pytest.MonkeyPatch, others: list[Any], own: Any) -> Any:
    """Do `own` when the `others`, which are begun in threads, have sent what they want."""
    gather, threads = lock.Turn.gather, [threading.Thread(target=other) for other in others]
    is_first = [True]

    def gather_all(turn: lock.Turn, seconds: float = 0.0) -> Any:
        if not is_first:
            return gather(turn, seconds)
        is_first.clear()
        for thread in threads:
            thread.start()
        found: list[Any] = []

        def have_all_come() -> bool:
            found.extend(gather(turn, seconds))
            return len(found) == len(threads)

        until(have_all_come, "they do not come")
        return found

    monkeypatch.setattr(lock.Turn, "gather", gather_all)
    want(study)
    try:
        return own()
    finally:
        for thread in threads:
            thread.join()


GARBAGE = [
    b"\n", b"null\n", b"[]\n", b"{}\n", b"\xff\xfe\n", b"[" * 9000 + b"\n", b"x" * (LONGEST + 9),
    json.dumps([[[1e999, None, 0]], 1, "me", ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[[1.0, None, 99]], 1, "me", ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[[1.0, None, None]], 1, "me", ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[[1.0, -1, None]], 1, "me", ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[], 10**9, "me", ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[], -1, "me", ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[], 1, "", ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[], 1, 7, ["k", True, True], None, None]).encode() + b"\n",
    json.dumps([[], 1, "me", ["\n", True, True], None, None]).encode() + b"\n",
    json.dumps([[], 1, "me", ["k", True, True], -5, None]).encode() + b"\n",
    json.dumps([[], 1, "me", ["k", True, True], None, ["x"]]).encode() + b"\n",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(GARBAGE)))
def test_what_is_no_request_is_handed_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    study = make(str(folder / "study.db"))
    inbox = study._find_inbox()
    assert inbox is not None
    said: list[bytes] = []

    def send() -> None:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(inbox._place))
            try:
                line.sendall(GARBAGE[number])
                said.append(line.recv(100))
            except ConnectionError:
                said.append(b"")

    gather_now, seen = lock.Turn.gather, [False]

    def gather(turn: lock.Turn, seconds: float = 0.0) -> Any:
        found = gather_now(turn, seconds)
        if seen[0]:
            return found
        seen[0] = True
        thread.start()
        found = until(lambda: gather_now(turn) or not thread.is_alive(), "it does not come")
        return found if isinstance(found, list) else []

    thread = threading.Thread(target=send)
    monkeypatch.setattr(lock.Turn, "gather", gather)
    want(study)
    before = study.status().pulls
    assert study.tell(arm="ash", reward=1.0).counted == 1
    thread.join()
    assert said in ([BACK], [b""])
    assert (study.status().pulls, study.pending()) == (before + 1, [])
    assert study.verify().problems == ()
    study.close()


def test_a_request_without_a_reader(folder: Path) -> None:
    """Nobody listens, or what listened is dead."""
    assert SentRequest.send(folder / "nobody", b"x\n") is None
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "dead"))
    assert SentRequest.send(folder / "dead", b"x\n") is None


def test_requests_stay_the_same_on_their_way(folder: Path) -> None:
    study = make(str(folder / "study.db"))
    progress = study._stored.progress
    items = make_items([("ash", 0.1), (Ticket(3, "fir"), 1e-300), (4, -2.5)], progress)
    request = Request(items, 2, "ö'\u2028", Mark("key", True, False), 2.5, [1, 2])
    line = request.pack()
    assert line is not None
    assert Request.unpack(line, progress) == request
    assert Request(items * 400, 0, "me", Mark.of(None)).pack() is None
    assert Request((), 1, "me", Mark.of(None), None, object()).pack() is None  # type: ignore[arg-type]
    study.close()
