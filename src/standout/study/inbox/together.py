"""Carrying out a request: alone, together with those of others, or by another process."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, replace

from standout.errors import StorageError, UnavailableError, UncertainError
from standout.interruption import put_off
from standout.study.inbox.letters import BACK, DONE, Letter, Received
from standout.study.inbox.lock import Inbox, Turn
from standout.study.inbox.requests import Answer, Request
from standout.study.rewards import tickets_of
from standout.study.storage.database import Connection
from standout.study.storage.mirror import Mirror
from standout.study.storage.statements import FEW
from standout.study.transaction import Mark, Transaction, carry_out, insist

SERVE = 0.1
"""Seconds for which whoever has the turn goes on for others when its own request is done."""
GATHER = 0.001
"""Seconds to wait for those who came last time: the more go together the less each costs."""
GIVE_UP = 2.0
"""Seconds without an answer after which one takes the database's lock oneself."""
SHUN = 10.0
"""Seconds for which one then goes on doing so: whoever has the turn may be frozen."""
_LOOK = 0.25
"""Seconds after which one looks whether somebody still has the turn."""
_FIRST_STEP, _LAST_STEP, _GROWTH = 0.0002, 0.003, 1.5
"""Seconds between two looks where whoever has the turn does not listen."""

Writing = Callable[[int, Sequence[int]], AbstractContextManager[tuple[Connection, float]]]
"""Begins a transaction on the study, with about so many rows, on these tickets; its moment."""


@dataclass
class Together:
    """One study, as this process writes to it."""

    writing: Writing
    mirror: Mirror
    lease: float
    inbox: Inbox | None
    patience: float

    def carry_out(self, request: Request) -> Answer:
        """Do what is asked, whoever does it; raises what is wrong with it, or the database."""
        inbox = self.inbox
        if inbox is None or request.size > FEW or time.monotonic() < inbox.shunned_until:
            return self._alone(request)
        try:
            return self._share(inbox, request)
        except OSError:  # No file can be opened there, no lock be had.
            inbox.shunned_until = time.monotonic() + SHUN
            # It may have been sent by then, and done.
            return self._alone(replace(request, mark=request.mark._replace(is_new=False)))

    def _alone(self, request: Request, letter: Letter | None = None) -> Answer:
        """Take the database's lock; `letter` was sent before, and may have been done."""

        def attempt(mark: Mark) -> Answer:
            mine = request if mark is request.mark else replace(request, mark=mark)
            with self.writing(request.size, tickets_of(request.items)) as (connection, now):
                one = Transaction(connection, self.mirror, self.lease, now)
                if letter is None:
                    return mine.carry_out(one)
                letter.look()
                return mine.carry_out_once(one, letter.answer)

        return insist(attempt, request.mark) if request.items else attempt(request.mark)

    # By others -------------------------------------------------------------------

    def _share(self, inbox: Inbox, request: Request) -> Answer:
        until = time.monotonic() + min(GIVE_UP, self.patience)
        step, line = _FIRST_STEP, None
        while time.monotonic() < until:
            with inbox.turn() as turn:
                if turn is not None:
                    return self._serve(turn, request)
            line = line or request.pack()
            if line is None:
                return self._alone(request)
            letter = inbox.send(line)
            if letter is None:
                time.sleep(random.uniform(0.5, 1.5) * step)
                step = min(step * _GROWTH, _LAST_STEP)
                continue
            with closing(letter):
                with put_off():
                    _wait(inbox, letter, until)
                if letter.is_done and letter.answer is not None:
                    return letter.answer
                if letter.is_back:
                    return self._alone(request)
                if not letter.was_never_begun:
                    return self._settle(inbox, request, letter)
        inbox.shunned_until = time.monotonic() + SHUN
        return self._alone(request)

    def _settle(self, inbox: Inbox, request: Request, letter: Letter) -> Answer:
        """Whoever had the turn is dead, frozen or slow: see to it oneself, once."""
        letter.take_back()
        if not letter.is_over:
            inbox.shunned_until = time.monotonic() + SHUN
        try:
            return self._alone(request, letter)
        except StorageError as error:
            # Nobody knows what whoever has the database's lock will do with it.
            key = request.mark.key if request.items else None
            raise UncertainError(f"{error}; another process may have done it", key) from None

    # For others ------------------------------------------------------------------

    def _serve(self, turn: Turn, request: Request) -> Answer:
        """Carry out one's own request with those of others, then what has come in meanwhile."""
        with _closed(turn.gather(GATHER)) as letters:
            answer = self._with(letters, request) if letters else self._alone(request)
        # One's own is done, whatever goes wrong now; and that shows where others try it alone.
        with suppress(Exception):
            self._serve_on(turn)
        return answer

    def _serve_on(self, turn: Turn) -> None:
        end = time.monotonic() + SERVE
        while time.monotonic() < end:
            with _closed(turn.gather(GATHER if turn.most else 0.0)) as letters:
                if not letters:
                    return
                self._in_one(None, letters)

    def _with(self, letters: Sequence[Received], request: Request) -> Answer:
        """One's own request, together with others."""
        try:
            answer = self._in_one(request, letters)
            if answer is not None:
                return answer
        except UnavailableError as error:
            if error.has_waited:
                raise
        except UncertainError:
            if not request.items:
                raise
        except Exception:
            if not letters:
                raise
        # Whatever was wrong, of whomever: without the others it is one's own.
        return self._alone(replace(request, mark=request.mark._replace(is_new=False)))

    def _in_one(self, own: Request | None, letters: Sequence[Received]) -> Answer | None:
        """One transaction for all; one's own answer, None if one's own request is bad."""
        sent = self._understood(letters)
        everyone = [request for _, request in sent] + ([own] if own is not None else [])
        if not everyone:
            return None
        # Looked up together. A plate has a look of its own.
        tickets = [one.items[0].ticket for one in everyone if len(one.items) == 1]
        numbers = [number for number in tickets if number is not None]
        with self.writing(max(one.size for one in everyone), numbers) as (connection, now):
            sent = [(letter, request) for letter, request in sent if not letter.is_taken_back]
            requests = [request.carry_out for _, request in sent]
            found = carry_out(
                connection, self.mirror, self.lease, now,
                requests if own is None else [*requests, own.carry_out],
            )  # fmt: skip
            done = []
            for (letter, _), answer in zip(sent, found, strict=False):
                if isinstance(answer, Answer):
                    letter.say(answer.pack())
                    done.append(letter)
                else:
                    letter.say(BACK)
        for letter in done:
            with suppress(OSError):
                letter.say(DONE)
        if own is None:
            return None
        answer = found[-1]
        return answer if isinstance(answer, Answer) else None

    def _understood(self, letters: Sequence[Received]) -> list[tuple[Received, Request]]:
        found = []
        for letter in letters:
            request = Request.unpack(letter.line or b"", self.mirror.progress)
            if request is None or request.size > FEW:
                letter.say(BACK)
            else:
                found.append((letter, request))
        return found


def _wait(inbox: Inbox, letter: Letter, until: float) -> None:
    """Wait for an answer while somebody has the turn."""
    while (left := until - time.monotonic()) > 0:
        letter.wait(min(_LOOK, left))
        if letter.is_over or inbox.is_free:
            break
    letter.look()


@contextmanager
def _closed(letters: list[Received]) -> Iterator[list[Received]]:
    """Close all of them in the end: who has no answer by then takes back its request."""
    try:
        yield letters
    finally:
        for letter in letters:
            letter.close()
