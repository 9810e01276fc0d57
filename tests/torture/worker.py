"""A worker: asks and tells in every way there is, and writes down what it is told.

A `Study` and a `Client`'s study have the same methods, and so have the same worker.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from standout.errors import (
    AllOutError,
    KeyUsedError,
    StorageError,
    StudyError,
    TicketError,
    ToldError,
    UncertainError,
)
from tests.torture.journal import (
    ACKNOWLEDGED,
    LIE,
    REFUSED,
    UNSURE,
    Change,
    Journal,
    Row,
    Seen,
    request_of,
)
from tests.torture.machine import Disk
from tests.torture.studies import MEANS, MENDED

Pair = tuple[Any, float]
TRIES = 60
"""How often a telling is repeated before the worker leaves it at that."""


class Worker:
    """Works on an open study until it has made so many moves."""

    def __init__(
        self, study: Any, journal: Journal, rng: random.Random, *, remote: bool, disk: Disk | None
    ) -> None:
        self.study, self.journal, self.rng = study, journal, rng
        self.is_remote, self.disk = remote, disk
        self.name = f"worker {journal.number}"
        self.pocket: list[Any] = []
        self.first_asked: float | None = None
        self.asked: dict[tuple[int, str], float] = {}
        """When each ticket was asked for; after a backup was restored numbers come again."""

    def work(self, moves: int) -> None:
        choices = (
            self.one, self.one, self.plate, self.chain, self.unasked, self.mixed, self.clumsy,
            self.keep, self.late, self.lie,
        )  # fmt: skip
        if self.study.name == MENDED:
            choices += (self.void, self.void, self.set, self.halt)
        for _ in range(moves):
            if self.journal.is_full:
                return
            self.rng.choice(choices)()

    # Asking -----------------------------------------------------------------------

    def calmly(self, call: Callable[[], Any]) -> Any:
        """The result, or None if the database or the server could not do it now."""
        try:
            with self.full():
                return call()
        except StorageError:
            time.sleep(self.rng.uniform(0.0, 0.1))
            return None

    def surely(self, call: Callable[[], Any], since: float, kind: type[Exception]) -> Any:
        """The same for what has to be possible or to raise an error of a `kind`.

        Unless what it is about has gone with a restored backup `since` it was asked for.
        """
        try:
            return self.calmly(call)
        except StudyError as error:
            if isinstance(error, kind):
                raise
            self.journal.fault(f"{type(error).__name__}: {error}", since)
            return None

    @contextmanager
    def full(self) -> Iterator[None]:
        if self.disk is None:
            yield
            return
        with self.disk.maybe_full():
            yield

    def ask(self, n: int) -> list[Any]:
        lease, begin = self.rng.choice((0.05, 0.3, 1.0, 3.0)), self.begins_to_ask()
        try:
            found = self.calmly(lambda: self.study.ask(n, worker=self.name, lease=lease))
        except AllOutError:
            self.journal.happened("all was out")
            time.sleep(self.rng.uniform(0.0, 0.3))
            return []
        if found is not None:
            self.saw(begin, found, is_over=not found)
        return found or []

    def begins_to_ask(self) -> float:
        """The time. Over HTTP, lost tickets of any call from the first on may come with a later."""
        now = time.monotonic()
        if self.is_remote and self.first_asked is None:
            self.first_asked = now
        return now

    def saw(self, begin: float, tickets: Sequence[Any], *, is_over: bool = False) -> None:
        """Write down an answer with tickets, or that there are none any more."""
        given = [(ticket.id, ticket.arm) for ticket in tickets]
        for each in given:
            self.asked.setdefault(each, begin)
        end = time.monotonic()
        seen = Seen(self.study.name, begin, end, given, is_over=is_over, since=self.first_asked)
        self.journal.saw(seen)

    def since(self, pairs: Sequence[Pair]) -> float:
        """When the first of these tickets was asked for."""
        now = time.monotonic()
        tickets = [(what.id, what.arm) for what, _ in pairs if not isinstance(what, str)]
        return min((self.asked.get(each, now) for each in tickets), default=now)

    def pairs(self, keys: Sequence[Any]) -> list[Pair]:
        """A value for every ticket or arm."""
        names = [key if isinstance(key, str) else key.arm for key in keys]
        return [
            (key, self.journal.value(MEANS[name], self.rng))
            for key, name in zip(keys, names, strict=True)
        ]

    def arms(self, n: int) -> list[str]:
        return [self.rng.choice(list(MEANS)) for _ in range(n)]

    # Telling ----------------------------------------------------------------------

    def send(
        self,
        pairs: list[Pair],
        call: Callable[[str | None], Any],
        key: str | None,
        change: Change | None = None,
    ) -> Any:
        """Tell, again and again with the same key; what was answered, None if nothing was.

        Or `change` something, which may be refused for good.
        """
        since = self.since(pairs)
        serial = self.journal.trying(self.study.name, rows_of(pairs), change, key, since)
        how, has_tickets = REFUSED, not any(isinstance(what, str) for what, _ in pairs)
        for number in range(TRIES):
            try:
                with self.full():
                    found = call(key)
            except UncertainError as error:
                if error.key != key if key or has_tickets else error.key is None:
                    self.journal.fault(f"an UncertainError has the key {error.key!r}, not {key!r}")
                how, key = UNSURE, error.key or key
            except StorageError:
                pass
            except StudyError as error:
                if change is None:  # Of a ticket that went with a restored backup.
                    self.journal.fault(f"{type(error).__name__}: {error}", since)
                else:
                    self.journal.happened("changes refused")
                break
            else:
                self.journal.ended(serial, ACKNOWLEDGED)
                return found
            if self.rng.random() < 0.1:
                break
            time.sleep(self.rng.uniform(0.0, min(1.0, 0.02 * 2**number)))
        self.journal.ended(serial, how)
        return None

    def tell(self, pairs: list[Pair]) -> tuple[Any, str | None]:
        """One by one or all at once; the receipt of all and its key."""
        # Without a key of ours the study makes one. Over HTTP a copy would then be another call.
        is_ours = self.is_remote or self.rng.random() < 0.7
        key = self.new_key() if is_ours else None
        if len(pairs) == 1 and self.rng.random() < 0.7:
            what, reward = pairs[0]
            given = {"arm": what} if isinstance(what, str) else {"ticket": what}

            def call(key: str | None) -> Any:
                return self.study.tell(**given, reward=reward, worker=self.name, key=key)
        else:

            def call(key: str | None) -> Any:
                return self.study.tell_many(pairs, worker=self.name, key=key)

        found = self.send(pairs, call, key)
        if found is not None and found.counted + found.surplus + found.repeated != len(pairs):
            self.journal.fault(f"{len(pairs)} rewards were told, the receipt is {found}")
        return found, key

    def new_key(self) -> str:
        return f"{self.name}: {self.rng.getrandbits(64):x}"

    # Moves ------------------------------------------------------------------------

    def one(self) -> None:
        for ticket in self.ask(1):
            self.tell(self.pairs([ticket]))

    def plate(self) -> None:
        tickets = self.ask(self.rng.choice((3, 8, 24)))
        if tickets:
            self.tell(self.pairs(tickets))

    def chain(self) -> None:
        """The next tickets with the answer to the last."""
        tickets = self.ask(2)
        for _ in range(self.rng.randrange(1, 5)):
            pairs, key = self.pairs(tickets or self.arms(1)), self.new_key()

            def call(key: str | None, pairs: list[Pair] = pairs) -> Any:
                return self.study.tell_and_ask(pairs, 2, worker=self.name, lease=0.5, key=key)

            begin, found = self.begins_to_ask(), self.send(pairs, call, key)
            if found is None:
                return
            tickets = found[1]
            self.saw(begin, tickets)

    def unasked(self) -> None:
        self.tell(self.pairs(self.arms(self.rng.choice((1, 1, 4)))))

    def mixed(self) -> None:
        self.tell(self.pairs([*self.ask(3), *self.arms(2)]))

    def clumsy(self) -> None:
        """Give a ticket back, end or extend its lease; somebody may have been quicker."""
        for ticket in self.ask(1):
            calls = (
                lambda ticket=ticket: self.study.fail(ticket, "clumsy", worker=self.name),
                lambda ticket=ticket: self.study.release([ticket]),
                lambda ticket=ticket: self.study.renew([ticket], 0.5),
            )
            with suppress(TicketError):
                self.calmly(self.rng.choice(calls))

    def keep(self) -> None:
        self.pocket += self.ask(1)

    def late(self) -> None:
        """Tell what was asked for long ago: its lease is over, others may have measured it."""
        if self.pocket:
            self.tell(self.pairs([self.pocket.pop(0)]))

    def lie(self) -> None:
        """Tell again what was told, and then something else instead."""
        tickets = self.ask(1)
        if not tickets:
            return
        pairs = self.pairs(tickets)
        since = self.since(pairs)
        found, key = self.tell(pairs)
        if found is None:
            return
        self.journal.loose(key or request_of(self.study.name, tickets[0].id))
        again = self.surely(
            lambda: self.study.tell_many(pairs, worker=self.name, key=key), since, KeyError
        )
        if again is not None and not (again.again or again.repeated == 1):
            self.journal.fault(f"what was told twice counted again: {again}", since)
        self.contradict(self.pairs(tickets), self.new_key(), ToldError, since)
        if key is not None:
            self.contradict(self.pairs(self.arms(1)), key, KeyUsedError, since)

    # Changes by hand --------------------------------------------------------------

    def change(
        self,
        kind: str,
        call: Callable[..., Any],
        void: float | None = None,
        pairs: Sequence[Pair] = (),
    ) -> None:
        """Let `call` change something: it is given a reason that no other has, and a key.

        It makes the reward `void`, if that is given, and tells `pairs`.
        """
        change = self.journal.new_change(kind, void)

        def attempt(key: str | None) -> Any:
            return call(reason=change.reason, worker=self.name, key=key)

        if self.send(list(pairs), attempt, self.new_key(), change) is not None:
            self.journal.happened(f"{kind} acknowledged")

    def void(self) -> None:
        """Tell something by mistake and take it back, or put what was meant in its place."""
        for ticket in self.ask(1):
            wrong, right = self.pairs([ticket]), self.pairs([ticket.arm])
            if self.tell(wrong)[0] is None:
                return
            void = partial(self.study.void, ticket=ticket)
            if self.rng.random() < 0.5:
                self.change("void", void, wrong[0][1])
            else:
                self.change("void", partial(void, value=right[0][1]), wrong[0][1], right)

    def set(self) -> None:
        """Other settings; a small budget ends the study until somebody sets another."""
        status = self.calmly(self.study.status)
        if status is None:
            return
        values = self.rng.choice(
            (
                {"budget": None},
                {"budget": None},
                {"budget": status.pulls + self.rng.randrange(1, 60)},
                {"tolerance": self.rng.choice((0.0, 0.05, 0.5))},
                {"batch": self.rng.choice((1, 2, 5)), "lease": self.rng.choice((0.5, 2.0))},
                {"pause_after": self.rng.choice((None, 50))},
            )
        )
        self.change("set", partial(self.study.set, **values))

    def halt(self) -> None:
        """Stop the study, and let it go on: also if somebody else has stopped it, and died."""
        if self.rng.random() < 0.5:
            self.change("stop", self.study.stop)
        self.change("restart", self.study.restart)

    def contradict(self, pairs: list[Pair], key: str, kind: type[Exception], since: float) -> None:
        serial = self.journal.trying(self.study.name, rows_of(pairs), since=since)
        self.journal.ended(serial, LIE)
        self.journal.happened("contradictions")
        [(what, reward)] = pairs
        given = {"arm": what} if isinstance(what, str) else {"ticket": what}
        with suppress(kind):
            call = self.surely(
                lambda: self.study.tell(**given, reward=reward, key=key), since, kind
            )
            if call is not None:
                self.journal.fault(f"no {kind.__name__} for {pairs}, but {call}", since)


def rows_of(pairs: Sequence[Pair]) -> list[Row]:
    return [
        (value, key, None) if isinstance(key, str) else (value, key.arm, key.id)
        for key, value in pairs
    ]
