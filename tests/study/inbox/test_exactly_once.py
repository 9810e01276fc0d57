"""Whoever has the turn dies or freezes at any point: what others had sent is done exactly once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from standout.errors import UncertainError
from standout.study import Study
from standout.study.inbox import shared_transactions
from standout.study.inbox.lock import Inbox
from standout.study.inbox.request_sockets import ReceivedRequest, SentRequest
from standout.study.inbox.requests import Request
from standout.study.inbox.shared_transactions import SharedTransactions
from standout.study.transaction import Mark
from tests.patience import HANGS, until
from tests.study.inbox.leader import POINTS, Leader, make, want

REQUESTS: dict[str, Callable[[Study], Any]] = {
    "ask": lambda study: study.ask(2, worker="me"),
    "tell": lambda study: study.tell(arm="fir", reward=7.0, worker="me"),
    "both": lambda study: study.tell_and_ask([("fir", 7.0)], 2, worker="me"),
}
BEFORE = ("taken", "begun", "worked")
"""Points at which nothing is committed yet."""


def check(study: Study, what: str, answer: Any, leaders: set[int]) -> None:
    """What was asked for is there exactly once, and nothing else is wrong."""
    history = study.history()
    told = [worker for worker in history["worker"].tolist() if worker == "me"]
    out = [one.ticket for one in study.pending() if one.worker == "me"]
    tickets = {"ask": answer, "tell": [], "both": answer[1] if what == "both" else []}[what]
    assert len(told) == (what != "ask")
    assert [ticket.id for ticket in tickets] == out
    assert len(out) == 2 * (what != "tell")
    assert history["worker"].tolist().count("leader") in leaders
    assert study.verify().problems == ()


@pytest.mark.parametrize("what", list(REQUESTS))
@pytest.mark.parametrize("point", POINTS)
def test_killed(place: str, what: str, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_transactions, "GIVE_UP", HANGS)
    study = make(place)
    leader = Leader(place, point)
    answer = REQUESTS[what](study)
    assert leader.end() == -signal.SIGKILL
    check(study, what, answer, {0} if point in BEFORE else {1})
    study.close()


def wait_until_frozen(leader: Leader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever waits for an answer give up then, and not after some seconds."""

    def wait(_inbox: Inbox, sent: SentRequest, _until: float) -> None:
        leader.wait_until_stopped()
        sent.look()

    monkeypatch.setattr(shared_transactions, "GIVE_UP", HANGS)
    monkeypatch.setattr(shared_transactions, "_wait", wait)


@pytest.mark.parametrize("what", list(REQUESTS))
@pytest.mark.parametrize("point", POINTS)
def test_frozen(place: str, what: str, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One takes one's request back; when the other goes on, it does not do it again."""
    study = make(place)
    leader = Leader(place, point, signal.SIGSTOP)
    take_back = SentRequest.take_back
    goes_on = threading.Thread(target=leader.go_on)

    def take_back_and_thaw(sent: SentRequest) -> None:
        take_back(sent)
        if point in ("begun", "worked"):
            goes_on.start()  # It has the database's lock: only then can anybody go on.

    monkeypatch.setattr(SentRequest, "take_back", take_back_and_thaw)
    wait_until_frozen(leader, monkeypatch)
    answer = REQUESTS[what](study)
    if goes_on.ident is None:
        leader.go_on()
    else:
        goes_on.join()
    assert leader.end() == 0
    check(study, what, answer, {1})
    study.close()


def test_who_cannot_know_says_so(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frozen with the database's lock, for longer than anybody waits."""
    make(place).close()
    leader = Leader(place, "worked", signal.SIGSTOP)
    wait_until_frozen(leader, monkeypatch)
    with Study.open(place, patience=1.0) as study:
        with pytest.raises(UncertainError) as caught:
            study.tell(arm="fir", reward=7.0, worker="me")
        leader.go_on()
        assert leader.end() == 0
        assert study.tell(arm="fir", reward=7.0, worker="me", key=caught.value.key).again
        check(study, "tell", None, {1})


def test_who_sent_it_dies(place: str) -> None:
    """Before the transaction begins: then it is not done."""
    study = make(place)
    want(study)
    inbox = study._find_inbox()
    assert inbox is not None
    line = Request((), 1, "dead", Mark.of(None)).pack()
    assert line is not None
    turn = inbox.take_turn()
    assert turn is not None
    with closing(turn):
        pid = os.fork()
        if pid == 0:
            SentRequest.send(inbox._place, line)
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(pid, 0)
        received: list[ReceivedRequest] = until(turn.gather, "nothing comes")
        alone = SharedTransactions(study._storage, study._stored)
        assert alone._in_one(None, received) is None
        for one in received:
            one.close()
    assert study.pending() == []
    assert study.verify().problems == ()
    study.close()


def test_many_at_once(place: str) -> None:
    """Threads with a handle each share turns as processes do."""
    study = make(place)
    before = study.status().pulls

    def work(number: int) -> None:
        with Study.open(place) as mine:
            done, tickets = 0, mine.ask(1, worker=str(number))
            while done < 20:
                told = [(ticket, float(number)) for ticket in tickets]
                receipt, tickets = mine.tell_and_ask(told, 1, worker=str(number))
                assert receipt.counted == len(told)
                done += receipt.counted
            mine.release(tickets)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = study.history()
    workers = history["worker"].tolist()[before:]
    assert [workers.count(str(number)) for number in range(6)] == [20] * 6
    assert workers == [f"{reward:g}" for reward in history["reward"].tolist()[before:]]
    assert study.verify().problems == ()
    study.close()
