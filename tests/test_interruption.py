"""Signals that come at a bad moment: put off, never lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from standout.errors import UnavailableError
from standout.interruption import put_off
from standout.retries import Patience
from tests.patience import HANGS


def interrupted(times: int, done: list[str]) -> None:
    with put_off():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
            done.append("inside")
    done.append("after")


@pytest.mark.parametrize("times", [1, 2])
def test_a_signal_takes_effect_afterwards(times: int) -> None:
    """The first; a second one does so at once."""
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(times, done)
    assert done == ["inside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with put_off():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_another_thread_is_left_alone() -> None:
    def inside() -> None:
        with put_off():
            seen.append(signal.getsignal(signal.SIGINT))

    seen: list[object] = []
    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


LOST = """
import signal, sys, time
from standout.cli import exits

class Deaf:
    def __del__(self):
        signal.raise_signal(signal.{name})
        time.sleep(0)

def app(prog_name):
    Deaf()
    while True:
        time.sleep(0.01)

exits.run(app)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", None)])
def test_a_signal_that_was_lost_comes_again(name: str, code: int | None) -> None:
    """An exception in a finaliser goes nowhere: the program went on as if nothing had come."""
    ended = subprocess.run(
        [sys.executable, "-c", LOST.format(name=name)],
        timeout=HANGS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code or "KeyboardInterrupt" in ended.stderr
    assert "ignored" not in ended.stderr


SLOW = """
import threading, time
from standout.cli import exits

begin = threading.Thread.start

def start_slowly(thread):
    begin(thread)
    end = time.monotonic() + 20 * exits.AGAIN
    while time.monotonic() < end:
        pass

threading.Thread.start = start_slowly
"""


def test_it_comes_again_even_where_that_takes_long() -> None:
    """On a busy machine it came while it was still being asked for, and was lost for good."""
    ended = subprocess.run(
        [sys.executable, "-c", SLOW + LOST.format(name="SIGTERM")], timeout=HANGS, check=False
    )
    assert ended.returncode == 143


def test_patience_ends_when_told() -> None:
    def away() -> None:
        raise UnavailableError("away")

    patience = Patience(10 * HANGS)
    threading.Timer(0.05, patience.end).start()
    begin = time.monotonic()
    with pytest.raises(UnavailableError, match="away"):
        patience.call(away)
    assert time.monotonic() - begin < HANGS
