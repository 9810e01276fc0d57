"""Carrying out a request: alone, together with those of others, or by another process."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

from standout.errors import StorageError, UnavailableError, UncertainError
from standout.interruption import put_off
from standout.study.inbox.lock import Inbox, Turn
from standout.study.inbox.request_sockets import BACK, DONE, ReceivedRequest, SentRequest
from standout.study.inbox.requests import Answer, Request
from standout.study.rewards import tickets_of
from standout.study.storage.database import Storage
from standout.study.storage.statements import FEW
from standout.study.storage.stored_study import StoredStudy
from standout.study.transaction import Mark, Transaction, carry_out, insist, writing

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


@dataclass
class SharedTransactions:
    """One study, as this process writes to it."""

    storage: Storage
    stored: StoredStudy

    def carry_out(self, request: Request, inbox: Inbox | None) -> Answer:
        """Do what is asked, whoever does it; raises what is wrong with it, or the database."""
        if inbox is None or request.size > FEW or time.monotonic() < inbox.shunned_until:
            return self._alone(request)
        try:
            return self._share(inbox, request)
        except OSError:  # No file can be opened there, no lock be had.
            inbox.shunned_until = time.monotonic() + SHUN
            # It may have been sent by then, and done.
            return self._alone(request._replace(mark=request.mark._replace(is_new=False)))

    def _alone(self, request: Request, sent: SentRequest | None = None) -> Answer:
        """Take the database's lock; `sent` was sent before, and may have been done."""

        def attempt(mark: Mark) -> Answer:
            mine = request if mark is request.mark else request._replace(mark=mark)
            tickets = tickets_of(request.items)
            with writing(self.storage, self.stored, request.size, tickets) as (connection, now):
                one = Transaction(connection, self.stored, now)
                if sent is None:
                    return mine.carry_out(one)
                sent.look()
                return mine.carry_out_once(one, sent.answer)

        return insist(attempt, request.mark) if request.items else attempt(request.mark)

    # By others -------------------------------------------------------------------

    def _share(self, inbox: Inbox, request: Request) -> Answer:
        until = time.monotonic() + min(GIVE_UP, self.storage.patience)
        step, line = _FIRST_STEP, None
        while time.monotonic() < until:
            turn = inbox.take_turn()
            if turn is not None:
                # Not by a context manager: a signal that strikes as it begins would keep the turn.
                try:
                    return self._serve(turn, request)
                finally:
                    turn.close()
            line = line or request.pack()
            if line is None:
                return self._alone(request)
            sent = inbox.send(line)
            if sent is None:
                time.sleep(random.uniform(0.5, 1.5) * step)
                step = min(step * _GROWTH, _LAST_STEP)
                continue
            with closing(sent):
                with put_off():
                    _wait(inbox, sent, until)
                if sent.is_done and sent.answer is not None:
                    return sent.answer
                if sent.is_back:
                    return self._alone(request)
                if not sent.was_never_begun:
                    return self._settle(inbox, request, sent)
        inbox.shunned_until = time.monotonic() + SHUN
        return self._alone(request)

    def _settle(self, inbox: Inbox, request: Request, sent: SentRequest) -> Answer:
        """Whoever had the turn is dead, frozen or slow: see to it oneself, once."""
        sent.take_back()
        if not sent.is_over:
            inbox.shunned_until = time.monotonic() + SHUN
        try:
            return self._alone(request, sent)
        except StorageError as error:
            # Nobody knows what whoever has the database's lock will do with it.
            key = request.mark.key if request.items else None
            raise UncertainError(f"{error}; another process may have done it", key) from None

    # For others ------------------------------------------------------------------

    def _serve(self, turn: Turn, request: Request) -> Answer:
        """Carry out one's own request with those of others, then what has come in meanwhile."""
        if turn.is_alone:
            return self._alone(request)
        with _closed(turn.gather(GATHER)) as received:
            answer = self._with(received, request) if received else self._alone(request)
        # One's own is done, whatever goes wrong now; and that shows where others try it alone.
        with suppress(Exception):
            self._serve_on(turn)
        return answer

    def _serve_on(self, turn: Turn) -> None:
        end = time.monotonic() + SERVE
        while time.monotonic() < end:
            with _closed(turn.gather(GATHER if turn.most else 0.0)) as received:
                if not received:
                    return
                self._in_one(None, received)

    def _with(self, received: Sequence[ReceivedRequest], request: Request) -> Answer:
        """One's own request, together with others."""
        try:
            answer = self._in_one(request, received)
            if answer is not None:
                return answer
        except UnavailableError as error:
            if error.has_waited:
                raise
        except UncertainError:
            if not request.items:
                raise
        except Exception:
            if not received:
                raise
        # Whatever was wrong, of whomever: without the others it is one's own.
        return self._alone(request._replace(mark=request.mark._replace(is_new=False)))

    def _in_one(self, own: Request | None, received: Sequence[ReceivedRequest]) -> Answer | None:
        """One transaction for all; one's own answer, None if one's own request is bad."""
        understood = self._understood(received)
        everyone = [request for _, request in understood] + ([own] if own is not None else [])
        if not everyone:
            return None
        # Looked up together. A plate has a look of its own.
        tickets = [one.items[0].ticket for one in everyone if len(one.items) == 1]
        numbers = [number for number in tickets if number is not None]
        size = max(one.size for one in everyone)
        with writing(self.storage, self.stored, size, numbers) as (connection, now):
            understood = [(one, request) for one, request in understood if not one.is_taken_back]
            requests = [request.carry_out for _, request in understood]
            found = carry_out(
                connection, self.stored, now,
                requests if own is None else [*requests, own.carry_out],
            )  # fmt: skip
            done = []
            for (one, _), answer in zip(understood, found, strict=False):
                if isinstance(answer, Answer):
                    one.say(answer.pack())
                    done.append(one)
                else:
                    one.say(BACK)
        for one in done:
            with suppress(OSError):
                one.say(DONE)
        if own is None:
            return None
        answer = found[-1]
        return answer if isinstance(answer, Answer) else None

    def _understood(
        self, received: Sequence[ReceivedRequest]
    ) -> list[tuple[ReceivedRequest, Request]]:
        found = []
        for one in received:
            request = Request.unpack(one.line or b"", self.stored.progress)
            if request is None or request.size > FEW:
                one.say(BACK)
            else:
                found.append((one, request))
        return found


def _wait(inbox: Inbox, sent: SentRequest, until: float) -> None:
    """Wait for an answer while somebody has the turn."""
    while (left := until - time.monotonic()) > 0:
        sent.wait(min(_LOOK, left))
        if sent.is_over or inbox.is_free:
            break
    sent.look()


@contextmanager
def _closed(received: list[ReceivedRequest]) -> Iterator[list[ReceivedRequest]]:
    """Close all of them in the end: who has no answer by then takes back its request."""
    try:
        yield received
    finally:
        for one in received:
            one.close()
