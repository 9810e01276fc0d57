"""`standout.Client`: the same as a `Study`, over a network that loses things."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from doctest import DocTestFinder, DocTestRunner
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from standout import Client
from standout.client import RemoteStudy
from standout.errors import (
    BatchError,
    KeyUsedError,
    NoStudyError,
    ProblemError,
    RewardError,
    StorageError,
    StudyError,
    StudyExistsError,
    TicketError,
    ToldError,
    UncertainError,
)
from standout.study import Study
from standout.study_interface import StudyInterface
from tests.patience import HANGS
from tests.service.conftest import ARMS, new_token
from tests.service.live import serving
from tests.study.cli import standout
from tests.study.test_conformance import MEANS, PROBLEM, SIGMA, make


@pytest.fixture
def client(file: str) -> Iterator[Client]:
    with serving(file) as url, Client(url, patience=HANGS) as client:
        yield client


def begin(client: Client, name: str = "main") -> RemoteStudy:
    return client.create(name, ARMS, "gaussian:0.03", k=2.0, method="roai-lucb")


def test_the_same_decisions_as_a_study_here(client: Client, folder: Path) -> None:
    here = make(str(folder / "here.db"))
    there = begin(client)
    rng = np.random.default_rng(0)
    for _ in range(500):
        mine, yours = here.ask(3), there.ask(3)
        assert [(t.id, t.arm) for t in mine] == [(t.id, t.arm) for t in yours]
        if not mine:
            break
        rewards = [rng.normal(MEANS[t.arm], SIGMA) for t in mine]
        receipt = here.tell_many(zip(mine, rewards, strict=True))
        told = there.tell_many(zip(yours, rewards, strict=True))
        assert vars(receipt) == vars(told)
    mine_now, yours_now = here.status(), there.status()
    assert yours_now.stopped
    # All of it is the same, but for when it was: the very types.
    assert type(yours_now) is type(mine_now)
    assert yours_now == replace(mine_now, created=yours_now.created, head=yours_now.head)
    found, answer = here.identification(), there.identification()
    assert answer.outliers == ("yew",)
    assert type(answer) is type(found)
    np.testing.assert_equal(vars(answer), vars(found))
    assert [row.name for row in client.studies()] == ["main"]
    assert repr(there) == f"RemoteStudy('main' at {client._transport.shown!r})"


def test_errors_are_those_of_a_study(client: Client) -> None:
    study = begin(client)
    with pytest.raises(NoStudyError):
        client.study("none").ask(1)
    with pytest.raises(StudyExistsError):
        begin(client)
    with pytest.raises(ProblemError):
        client.create("x", ARMS, "loud")
    (ticket,) = study.ask(1)
    study.tell(ticket, 0.5)
    assert study.tell(ticket.id, 0.5).repeated == 1
    with pytest.raises(ToldError, match=r"recorded reward 0.5"):
        study.tell(ticket, 0.75)
    with pytest.raises(TicketError, match="no ticket 99"):
        study.tell(99, 0.5)
    with pytest.raises(TicketError, match="no arm 'palm'"):
        study.tell(arm="palm", reward=0.5)
    with pytest.raises(TicketError, match="ticket or of an arm"):
        study.tell(reward=1.0)
    with pytest.raises(BatchError) as caught:
        study.tell_many([("ash", 0.5), (99, 0.5)])
    assert caught.value.index == 1
    for bad in (float("nan"), "1.0", None, b"1", 1j, float("inf")):
        with pytest.raises(RewardError):
            study.tell(ticket, bad)  # type: ignore[arg-type]
    with pytest.raises(TicketError, match="is not a ticket"):
        study.tell(True, 0.5)
    with pytest.raises(StudyError, match="at least 1"):
        study.ask(0)
    with pytest.raises(TicketError):
        study.fail(99)
    assert study.tell_many([]) == study.tell_and_ask([], 1)[0]
    study.pause("ash", "why not")
    assert study.status().paused == {"ash": "why not"}
    study.resume("ash")
    held = study.pending()
    study.renew([one.ticket for one in held], 100.0)
    study.release([one.ticket for one in held])
    study.fail(study.ask(1)[0], "dropped")
    assert sum(study.status().failures.values()) == 1


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://x", "http://", "http://me:pw@host"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(StudyError) as caught:
        Client(url)
    assert "pw" not in str(caught.value)


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}", patience=0.2) as client:
        with pytest.raises(StorageError, match="does not answer"):
            client.studies()
        with pytest.raises(StorageError, match="does not answer"):
            client.study("x").tell(arm="ash", reward=1.0)


def test_tokens(file: str) -> None:
    make(file).close()
    token = new_token(file, "worker")
    with serving(file, require_token=True) as url:
        with Client(url, token) as client:
            assert client.study("main").ask(1)
            assert token not in repr(client)
            with pytest.raises(StudyError, match="worker's token does not allow"):
                client.studies()
        with Client(url) as stranger, pytest.raises(StudyError, match="a token is needed"):
            stranger.study("main").ask(1)


@contextmanager
def losing(url: str, drops: str) -> Iterator[str]:
    """A proxy that carries a request there for every `.`, and loses the answer for every `x`.

    It loses the request itself for `r`, answers 504 after the server is done for `4`, hangs up
    amid the answer's head for `h`, or just before its end for `b`, and carries the request
    there twice for `d`. When all letters are used up, it carries on.
    """
    target = urlsplit(url)
    listener = socket.create_server(("127.0.0.1", 0))
    plan = iter(drops)

    def carry() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                serve_one(connection)

    def serve_one(connection: socket.socket) -> None:
        request = read_message(connection)
        kind = next(plan, ".")
        if not request or kind == "r":
            return
        for _ in range(2 if kind == "d" else 1):
            answer = carried(request)
        if kind == "4":
            # Without the last header, sending again would fail on a closed connection.
            head = b"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
            answer = head + b"slow"
        end = {"x": 0, "h": answer.lower().index(b"\r\ncontent-length"), "b": -1}.get(kind)
        connection.sendall(answer[:end])

    def carried(request: bytes) -> bytes:
        with socket.create_connection((target.hostname, target.port), timeout=HANGS) as server:
            # One request per connection, so that each letter is one request.
            server.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            answer = b""
            while part := server.recv(65536):
                answer += part
        return answer

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(HANGS)


def read_message(connection: socket.socket) -> bytes:
    """A whole request: head and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.mark.parametrize("drops", ["x.", "xx.", "r.", "rxrx.", "h.", "b."])
def test_lost_answers_are_given_again(file: str, drops: str) -> None:
    """Nothing is counted twice, and no ticket is left lying about."""
    make(file).close()
    with (
        serving(file) as url,
        losing(url, drops + drops + drops) as proxy,
        Client(proxy, patience=HANGS) as client,
    ):
        study = client.study("main")
        tickets = study.ask(2)
        assert len(tickets) == 2
        receipt, following = study.tell_and_ask([(t, MEANS[t.arm]) for t in tickets], 2)
        assert receipt.counted + receipt.repeated == 2
        assert len(following) == 2
        study.tell_many([(t, MEANS[t.arm]) for t in following])
        status = study.status()
        assert (status.pulls, status.pending) == (4, 0)
        study.close()
    with Study.open(file) as here:
        assert here.verify().problems == ()
        assert len(set(here.history()["ticket"].tolist())) == 4


@pytest.mark.parametrize("drops", ["x", "4", "d", "h", "b", "rx4", "xd4"])
def test_a_reward_without_a_ticket_counts_once(file: str, drops: str) -> None:
    """Whatever the way does: an answer lost, a 504 after the server is done, a request doubled."""
    make(file).close()
    with (
        serving(file) as url,
        losing(url, drops) as proxy,
        Client(proxy, patience=HANGS) as client,
    ):
        study = client.study("main")
        receipt = study.tell(arm="ash", reward=0.5)
        assert (receipt.counted, receipt.again) == (1, drops != "r")
        client.close()
    with (
        serving(file) as url,
        losing(url, drops) as proxy,
        Client(proxy, patience=HANGS) as client,
    ):
        pairs = [("elm", 0.25), ("elm", 0.25)]
        told, tickets = client.study("main").tell_and_ask(pairs, 2)
        assert (told.counted, len(tickets)) == (2, 2)
        client.close()
    with Study.open(file) as here:
        assert (here.status().pulls, here.status().pending) == (3, 2)
        assert here.verify().problems == ()


def test_who_gives_up_is_told_the_key(file: str) -> None:
    make(file).close()
    with (
        serving(file) as url,
        losing(url, "x" * 1000) as proxy,
        Client(proxy, patience=0.3) as client,
        pytest.raises(UncertainError, match="may have been carried out") as caught,
    ):
        client.study("main").tell(arm="ash", reward=0.5)
    with serving(file) as url, Client(url) as client:
        study = client.study("main")
        receipt = study.tell(arm="ash", reward=0.5, key=caught.value.key)
        assert (receipt.counted, receipt.again) == (1, True)
        with pytest.raises(KeyUsedError, match="nothing was changed"):
            study.tell(arm="ash", reward=0.75, key=caught.value.key)
        assert study.status().pulls == 1


def test_who_gives_up_a_change_is_told_its_key(file: str) -> None:
    make(file).close()
    with (
        serving(file) as url,
        losing(url, "x" * 1000) as proxy,
        Client(proxy, patience=0.3) as client,
        pytest.raises(UncertainError, match="may have been carried out") as caught,
    ):
        client.study("main").stop("enough")
    with serving(file) as url, Client(url) as client:
        study = client.study("main")
        study.stop("enough", key=caught.value.key)
        assert [change.reason for change in study.changes()] == ["enough"]


@pytest.mark.parametrize("drop", ["x", "4"])
def test_what_is_not_repeatable_is_sent_once(file: str, drop: str) -> None:
    """A study that may have been made is not made again: that it is there would seem an error."""
    make(file).close()
    with (
        serving(file) as url,
        losing(url, drop) as proxy,
        Client(proxy, patience=HANGS) as client,
        pytest.raises(UncertainError, match="may have been carried out"),
    ):
        begin(client, "new")
    with Study.open(file, "new") as here:
        assert here.status().pulls == 0


def test_the_client_needs_nothing_but_python() -> None:
    code = (
        "import sys, standout.client\n"
        "from standout import Client\n"
        "Client('http://127.0.0.1:1').study('x')\n"
        "names = ('numpy', 'numba', 'fastapi', 'typer', 'rich')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_measuring_for_a_server(file: str, folder: Path) -> None:
    Study.create(file, ARMS, PROBLEM, ordered=True).close()
    script = folder / "assay"
    means = " ".join(f"{arm}) echo {mean};;" for arm, mean in MEANS.items())
    script.write_text(f'#!/bin/sh\ncase "$1" in {means} esac\n')
    script.chmod(0o755)
    token = folder / "token"
    token.write_text(new_token(file, "worker") + "\n")
    measure = ("--measure", f"{script} {{arm}}", "--jobs", "3", "--token-file", token)
    with serving(file) as url:
        words = ("run", "--server", url, "--study", "main", *measure)
        done = standout(*words, "--json")
        assert done.code == 0, done.err
        assert done.json["outliers"] == ["yew"]
        again = standout(*words)
        assert "stopped: decided" in again.out
        assert standout("run", "--server", url, *measure, "--arms", "x.csv").code == 2
        missing = standout("run", "--server", url, "--study", "none", *measure)
        assert (missing.code, "no such study" in missing.err) == (2, True)
        empty = folder / "empty"
        empty.write_text("")
        words = ("run", "--server", url, "--study", "main", "--measure", "true {arm}")
        assert "no token in it" in standout(*words, "--token-file", empty).err
        assert "cannot be read" in standout(*words, "--token-file", folder / "no").err
        assert "a token is needed" in standout(*words).err
    assert "name the arms with --arms" in standout("run", "--measure", "true {arm}").err
    with Study.open(file) as study:
        assert study.verify().problems == ()
        assert json.dumps(study.status().to_dict())


def test_long_lists_go_in_parts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part counts as a whole or not at all, and an error says what was counted before."""
    from standout.client import batches

    monkeypatch.setattr(batches, "MOST_REWARDS", 40)
    monkeypatch.setattr(batches, "MOST_BYTES", 1500)
    rows = [{"arm": "ash", "reward": 0.5}] * 100
    cuts = list(batches.parts(rows))
    assert [(cut.start, cut.stop) for cut in cuts] == [(0, 40), (40, 80), (80, 100)]
    assert len(list(batches.parts([{"arm": "x" * 2000}] * 3))) == 3
    study = begin(client)
    assert study.tell_many([("ash", 0.5)] * 100).counted == 100
    tickets = study.ask(60)
    receipt, following = study.tell_and_ask([(ticket, 0.5) for ticket in tickets], 7)
    assert (receipt.counted, len(following)) == (60, 7)
    assert study.tell_many([(ticket, 0.5) for ticket in tickets]).repeated == 60
    pairs = [("ash", 0.5)] * 90
    pairs[85] = ("palm", 0.5)
    with pytest.raises(BatchError, match=r"no arm 'palm'.*first 80 rewards .* count") as bad:
        study.tell_many(pairs)
    assert (bad.value.index, study.status().pulls) == (85, 240)
    assert isinstance(bad.value.__cause__, TicketError)
    pairs[3] = ("palm", 0.5)
    with pytest.raises(BatchError) as bad:
        study.tell_many(pairs)
    assert (bad.value.index, study.status().pulls) == (3, 240)


def test_a_tell_beyond_the_server_s_limit(client: Client) -> None:
    """12 MB of rewards: one request would be refused."""
    name = "a very long name of an arm that is told again and again " * 4
    study = client.create("long", [name, "b", "c"], "gaussian:3", k=2.0)
    assert study.tell_many([(name, 0.5)] * 50_000).counted == 50_000


def test_what_is_too_large_is_said(client: Client) -> None:
    """Though the server refuses before it has read all of it."""
    arms = [f"{number} " + "x" * 150 for number in range(150_000)]
    with pytest.raises(StudyError, match="larger than 10,000,000 bytes"):
        client.create("large", arms, "bernoulli")
    begin(client)


def test_what_is_refused_by_who_hangs_up_is_said() -> None:
    """A proxy, say, that reads no more of a body that it does not want."""
    body = json.dumps({"error": {"code": "too_large", "message": "larger than I like"}}).encode()
    head = b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"

    def refuse(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(head % len(body) + body)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=refuse, args=(listener,))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Client(url, patience=1.0) as client, pytest.raises(StudyError, match="than I like"):
            client.create("large", ["x" * 50_000_000, "b", "c"], "bernoulli")
        thread.join(HANGS)


def test_the_examples_of_every_verb_hold_over_http(client: Client) -> None:
    """They run with a study of this process, too."""
    examples = [each for each in DocTestFinder().find(StudyInterface, "verb") if each.examples]
    assert len(examples) >= 12
    for example in examples:
        study = client.create(example.name, ["ash", "elm", "fir"], "bernoulli", k=2.0, room=5)
        example.globs = {"study": study}
        assert DocTestRunner().run(example).failed == 0, example.name


def test_a_ticket_says_what_to_show_here_and_there(client: Client, file: str) -> None:
    client.create("main", ["ash", "elm", "fir"], "bernoulli", items={"ash": {"text": "A tree"}})
    here, there = Study.open(file, "main"), client.study("main")
    for number, study in enumerate((here, there)):
        who = f"worker {number}"
        first, second, *_ = study.ask(5 * 3, worker=who, items=True)
        assert [one.item for one in (first, second)] == [{"text": "A tree"}, None]
        again = study.ask(1, worker=who, items=True, known=[second.id])
        assert again == [first]
    here.close()
