"""What can be done with a study, wherever it is: each verb with its words and examples, once.

`standout.study.Study` does it in a database, `standout.client.RemoteStudy` over HTTP.
"""

from __future__ import annotations

import binascii
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple, Self, TypedDict, Unpack, overload

from standout.errors import BatchError, RewardError, StudyError, TicketError
from standout.results import (
    Chances,
    Change,
    Ending,
    Identification,
    Pending,
    Receipt,
    Status,
    Ticket,
)
from standout.results.display import DisplayedArms

Key = Ticket | int | str
"""What a reward is of: a ticket, its number, or an arm by name."""


class Kept(Enum):
    """Stands for the value of a setting that is to stay as it is."""

    KEPT = "kept"


KEPT = Kept.KEPT


class Asking(TypedDict, total=False):
    """What may be said with `ask`."""

    worker: str | None
    lease: float | None
    items: bool
    known: Collection[int] | None


class TellingAndAsking(Asking, total=False):
    """What may be said with `tell_and_ask`."""

    key: str | None


class Wanted(NamedTuple):
    """Rewards to tell, which may be none, then `n` tickets to ask for, unless that is None."""

    rewards: list[tuple[Key, float]]
    n: int | None = None
    worker: str | None = None
    lease: float | None = None
    items: bool = False
    known: Collection[int] | None = None
    key: str | None = None


class ByHand(NamedTuple):
    """Why something is changed by hand, by whom, and with which key, if any was given."""

    reason: str
    worker: str | None
    key: str | None


def new_key() -> str:
    """A key that nobody has used: the time, then chance.

    Keys of the same time are neighbours in an index, so that to keep one more costs the same
    however many there are.
    """
    chance = binascii.b2a_base64(os.urandom(12), newline=False).decode()
    return f"{time.time_ns() >> 16:012x}{chance}"


class StudyInterface(DisplayedArms, ABC):
    """A study to ask, tell and look at; a method returns when what it did is on disk."""

    name: str

    def summary(self) -> str:
        """How the study stands, in a few lines of plain text.

        >>> study.summary().splitlines()[0].endswith(": 3 arms, 0 pulls, 0 pending")
        True
        """
        return self.status().summary()

    def columns(self) -> dict[str, Any]:
        """Per arm: its verdict, mean, interval and pulls.

        >>> study.columns()["arm"]
        ['ash', 'elm', 'fir']
        """
        return self.identification().columns()

    def _drawn(self) -> Identification:
        return self.identification()

    @overload
    def ask(self, n: None = None, **how: Unpack[Asking]) -> Ticket | None: ...

    @overload
    def ask(self, n: int, **how: Unpack[Asking]) -> list[Ticket]: ...

    def ask(
        self,
        n: int | None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
        known: Collection[int] | None = None,
    ) -> Ticket | list[Ticket] | None:
        """The pull to measure next; with `n` a list of up to so many.

        None (an empty list) means that the study has stopped, and nothing else; fewer
        than `n` that no more are useful now. If none is, although the study runs,
        `AllOutError` says when to ask again.
        Parallel workers get different arms as far as that is useful. `worker`
        says who measures (machine and process unless given, over HTTP the thread, too),
        `lease` in how many seconds the ticket is handed out again (the study's
        unless given); with `items` each ticket says what to show for its arm.
        With `known`, the tickets that `worker` holds and that are not among
        these numbers come first: an answer that got lost is given again.

        Raises `AllOutError` if all that is useful is out, `StudyError` for a number or a
        lease that is out of range, and `StorageError` if the database cannot be used.

        >>> ticket = study.ask()
        >>> ticket.id, ticket.arm
        (1, 'ash')
        >>> [ticket.arm for ticket in study.ask(3, lease=600)]
        ['elm', 'fir', 'fir']
        """
        wanted = Wanted([], 1 if n is None else n, worker, lease, items, known)
        found = self._ask(wanted)
        return found if n is not None else next(iter(found), None)

    @abstractmethod
    def _ask(self, wanted: Wanted) -> list[Ticket]:
        """Ask for tickets."""

    def tell(
        self,
        ticket: Ticket | int | None = None,
        reward: float | None = None,
        *,
        arm: str | None = None,
        worker: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Tell the reward of a ticket or, without asking, of an arm (`arm=`).

        `worker` says who measured, `key` is that of `tell_many`. Raises
        `RewardError` for a number that the noise cannot produce, `TicketError`
        for what is no ticket or arm of this study, `ToldError` if the ticket
        was told another value before; then nothing is changed.

        >>> study.tell(study.ask(), 1.0).counted, study.tell(arm="fir", reward=0.0).counted
        (1, 1)
        """
        if (ticket is None) == (arm is None):
            raise TicketError("tell the reward of a ticket or of an arm")
        if reward is None:
            raise RewardError("no reward given")
        pair: Any = (arm if ticket is None else ticket, reward)
        try:
            return self.tell_many([pair], worker=worker, key=key)
        except BatchError as error:
            raise (error.__cause__ or TicketError(str(error))) from None

    def tell_many(
        self,
        rewards: Iterable[tuple[Key, float]],
        *,
        worker: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Tell many rewards at once: all are counted or, if one is bad, none.

        Each is a pair of a ticket (or its number) and a reward; an arm's name
        in place of the ticket tells a reward that was measured without asking.

        `key` is a text of your own that stands for this call (up to 200
        characters). The same rewards told again with the same key give the
        first receipt again, marked `again`, and change nothing; other rewards
        are refused with a `KeyUsedError`. Without one a key is made, so that
        a connection that breaks at the end can be mended here: the rewards are
        sent once more and count once. If that fails too, the `UncertainError`
        has the key to tell them with later. What is wrong with one of them is
        the `__cause__` of a `BatchError`.

        >>> study.tell_many([("ash", 1.0), ("elm", 0.0)], key="monday").counted
        2
        >>> study.tell_many([("ash", 1.0), ("elm", 0.0)], key="monday").again
        True
        """
        return self._tell_and_ask(Wanted(list(rewards), worker=worker, key=key))[0]

    @overload
    def tell_and_ask(
        self, rewards: Iterable[tuple[Key, float]], n: None = None, **how: Unpack[TellingAndAsking]
    ) -> tuple[Receipt, Ticket | None]: ...

    @overload
    def tell_and_ask(
        self, rewards: Iterable[tuple[Key, float]], n: int, **how: Unpack[TellingAndAsking]
    ) -> tuple[Receipt, list[Ticket]]: ...

    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Key, float]],
        n: int | None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
        known: Collection[int] | None = None,
        key: str | None = None,
    ) -> tuple[Receipt, Ticket | list[Ticket] | None]:
        """Tell rewards and ask for the next pulls: one transaction, one wait for the disk.

        `rewards` and `key` are those of `tell_many`, the rest those of `ask`;
        what is raised, too, but for `AllOutError`: the rewards count, and no ticket
        comes with them. Told a second time, it gives the tickets of the
        first time again, as far as they are still pending.

        >>> receipt, ticket = study.tell_and_ask([(study.ask(), 1.0)])
        >>> receipt.counted, ticket.arm
        (1, 'ash')
        """
        count = 1 if n is None else n
        wanted = Wanted(list(rewards), count, worker, lease, items, known, key)
        receipt, found = self._tell_and_ask(wanted)
        return receipt, found if n is not None else next(iter(found), None)

    @abstractmethod
    def _tell_and_ask(self, wanted: Wanted) -> tuple[Receipt, list[Ticket]]:
        """Tell, then ask."""

    @abstractmethod
    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        """Give a ticket back without a reward, and say why; its pull is handed out again.

        Giving it back twice is harmless. Raises `TicketError` if there is no
        such ticket, `ToldError` if it was told.

        >>> study.fail(study.ask(), "dropped")
        >>> study.status().failures
        {'ash': 1}
        """

    @abstractmethod
    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        """Begin the leases of pending tickets anew: `lease` seconds, the study's unless given.

        Tickets that are not pending are passed over. Raises `StudyError` for a
        lease that is no positive number.

        >>> study.renew([study.ask(lease=1)], 3600)
        """

    @abstractmethod
    def release(self, given: Iterable[Ticket | int]) -> None:
        """End the leases of pending tickets now: the next to ask gets their pulls.

        >>> first = study.ask()
        >>> study.release([first])
        >>> study.ask().arm == first.arm
        True
        """

    @abstractmethod
    def pause(self, arm: str, reason: str = "paused by hand", *, worker: str | None = None) -> None:
        """Hand out no more pulls of `arm`, until `resume`; `reason` is shown to people.

        Who paused it, when and why is kept (`changes`). Raises `StudyError` if there is no
        such arm.

        >>> study.pause("ash", "out of stock")
        >>> study.ask().arm, study.status().paused
        ('elm', {'ash': 'out of stock'})
        """

    @abstractmethod
    def resume(self, arm: str, reason: str = "", *, worker: str | None = None) -> None:
        """Hand out pulls of a paused arm again; raises `StudyError` if there is no such arm.

        `reason` and `worker` are kept with it (`changes`).

        >>> study.pause("ash")
        >>> study.resume("ash")
        >>> study.ask().arm
        'ash'
        """

    def set(
        self,
        *,
        budget: int | Kept | None = KEPT,
        tolerance: float | Kept = KEPT,
        batch: int | Kept = KEPT,
        until: str | Kept | None = KEPT,
        pause_after: int | Kept | None = KEPT,
        lease: float | Kept | None = KEPT,
        reason: str = "",
        worker: str | None = None,
        key: str | None = None,
    ) -> Status:
        """Change what may change while a study runs; gives how it stands then.

        None for `budget`, `until`, `pause_after` or `lease` takes it away (a lease then adapts to
        how long answers take); what is not given stays.
        None of these can make a verdict wrong: every interval holds at all times, so that
        one may stop sooner or later, and choose a tolerance after looking. A smaller
        tolerance withdraws the verdicts that rested on the larger one. Delta, k, the noise
        and the arms cannot change. A study that had stopped goes on if by the new settings
        it is not at its end. `reason` and `worker` are kept with the change (`changes`); the
        same again with the same `key` changes nothing.

        Raises `StudyError` for what cannot be set.

        >>> now = study.set(tolerance=0.1, budget=1000, reason="near enough")
        >>> now.problem.tolerance, now.budget
        (0.1, 1000)
        """
        given: dict[str, object] = {
            "budget": budget,
            "tolerance": tolerance,
            "batch": batch,
            "until": until,
            "pause_after": pause_after,
            "lease": lease,
        }
        values = {name: value for name, value in given.items() if value is not KEPT}
        return self._set(values, ByHand(reason, worker, key))

    def stop(
        self, reason: str = "", *, worker: str | None = None, key: str | None = None
    ) -> Status:
        """End the study by hand; what is out may still be told. `restart` takes it back.

        What is certain stays certain: one may stop at any time.

        >>> str(study.stop("out of money").reason), study.ask()
        ('stopped', None)
        """
        return self._set({"stopped": True}, ByHand(reason, worker, key))

    def restart(
        self, reason: str = "", *, worker: str | None = None, key: str | None = None
    ) -> Status:
        """Go on with a study that was stopped by hand.

        >>> _ = study.stop()
        >>> str(study.restart().reason)
        'running'
        """
        return self._set({"stopped": False}, ByHand(reason, worker, key))

    def note(self, text: str, *, worker: str | None = None, key: str | None = None) -> Status:
        """Write something down about the study, for whoever reads its history or its report.

        It is kept as a change that changes nothing: with who wrote it and when, covered by the
        digests of the log. Raises `StudyError` for an empty text.

        >>> _ = study.note("the second freezer was warm on Monday", worker="ada")
        >>> [(one.kind, one.reason) for one in study.changes()]
        [('note', 'the second freezer was warm on Monday')]
        """
        if not text.strip():
            raise StudyError("a note must have some text")
        return self._set({}, ByHand(text, worker, key or new_key()))

    @abstractmethod
    def _set(self, values: Mapping[str, Any], hand: ByHand) -> Status:
        """Set `values`, by the names of `set` (and `stopped`)."""

    def void(
        self,
        place: int | None = None,
        *,
        ticket: Ticket | int | None = None,
        value: float | None = None,
        reason: str = "",
        worker: str | None = None,
        key: str | None = None,
    ) -> Status:
        """Take back a reward that was told by mistake: its place in the log, or its ticket.

        With `value`, what was really measured stands in its place. The reward stays in the
        log, with who made it void and why; the arm's interval and all verdicts are worked out
        anew. The guarantee holds if what was told was not what was measured. It does not if
        rewards are taken out because they look odd.

        Raises `StudyError` if there is no such reward in the totals, `RewardError` for a
        `value` that the noise cannot produce.

        >>> _ = study.tell(arm="ash", reward=1.0)
        >>> now = study.void(1, value=0.0, reason="read the wrong line")
        >>> now.pulls, now.voided
        (1, 1)
        """
        if (place is None) == (ticket is None):
            raise StudyError("say which reward is void: its place in the log, or its ticket")
        return self._void(place, ticket, value, ByHand(reason, worker, key))

    @abstractmethod
    def _void(
        self, place: int | None, ticket: Ticket | int | None, value: float | None, hand: ByHand
    ) -> Status:
        """Make the reward at a place, or of a ticket, void."""

    @abstractmethod
    def delete(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        """Remove the study with all its rewards, for good; `name` says once more which one.

        A line stays: its name, when and by whom it was deleted, why, and its last digest.
        Tokens that are for this study alone are revoked. Raises `StudyError` for
        another name.

        >>> study.delete(study.name, "was a trial")
        """

    @abstractmethod
    def changes(self) -> list[Change]:
        """All that was changed by hand, oldest first: what, by whom, when and why.

        >>> _ = study.set(budget=1000, reason="a grant", worker="Ada")
        >>> [(one.words, one.worker, one.reason) for one in study.changes()]
        [('budget from none to 1,000', 'Ada', 'a grant')]
        """

    @abstractmethod
    def pending(self) -> list[Pending]:
        """The tickets that are out, oldest first, with whom and until when (seconds since 1970).

        >>> _ = study.ask(worker="lab 3")
        >>> [(one.ticket, one.arm, one.worker) for one in study.pending()]
        [(1, 'ash', 'lab 3')]
        """

    @abstractmethod
    def status(self) -> Status:
        """How the study stands; costs O(arms), whatever the number of rewards.

        >>> now = study.status()
        >>> now.pulls, now.undecided, now.threshold.upper, str(now.reason)
        (0, ('ash', 'elm', 'fir'), inf, 'running')
        """

    @abstractmethod
    def identification(self) -> Identification:
        """The answer so far, as `identify` gives it.

        >>> study.identification().outliers
        ()
        """

    @abstractmethod
    def endings(self) -> tuple[Ending, ...]:
        """Which tolerance would end the study now, and about what smaller ones would take.

        The first is proved from the intervals at hand: `set` it, and every arm is decided,
        each right for that tolerance. Of smaller ones the method is played on with rewards
        like those told so far, which takes half a second. Empty where nothing is undecided,
        and while too little is known.

        >>> study.endings()
        ()
        """

    @abstractmethod
    def chances(self, *, false_share: float = 0.05, seed: int = 0) -> Chances:
        """For each arm the chance that it stands out: an estimate, not a certificate.

        From all rewards counted so far; `false_share` is the largest share of
        wrong arms to expect among `flagged`, `seed` drives the random draws.
        Nothing in the study changes. Takes some .05 s for 100 arms and 2 s for 10,000.
        Raises `ProblemError` for a share that is not between 0 and 1.

        >>> for arm, reward in {"ash": 0, "elm": 0, "fir": 1}.items():
        ...     _ = [study.tell(arm=arm, reward=reward) for _ in range(5)]
        >>> study.chances().leaders(1)[0][0]
        'fir'
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections to the database or the server; the study itself stays.

        Every method opens another if it is used afterwards. Leaving a `with`
        closes, too.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
