"""The interface of a study: each method with its documentation and examples, once.

`standout.study.Study` implements it with a database, `standout.client.RemoteStudy` over HTTP.
"""

from __future__ import annotations

import binascii
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
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
"""What a reward belongs to: a ticket, the number of a ticket, or an arm by name."""


class Kept(Enum):
    """Marks a setting that keeps its value."""

    KEPT = "kept"


KEPT = Kept.KEPT


class Asking(TypedDict, total=False):
    """The options of `ask`."""

    worker: str | None
    lease: float | None
    items: bool
    known: Collection[int] | None


class TellingAndAsking(Asking, total=False):
    """The options of `tell_and_ask`."""

    key: str | None


class Wanted(NamedTuple):
    """A request: rewards to tell, possibly none, then `n` tickets to ask for, or None."""

    rewards: list[tuple[Key, float]]
    n: int | None = None
    worker: str | None = None
    lease: float | None = None
    items: bool = False
    known: Collection[int] | None = None
    key: str | None = None


class ByHand(NamedTuple):
    """The reason, the worker and the idempotency key of a change made by hand."""

    reason: str
    worker: str | None
    key: str | None


def new_key() -> str:
    """A new idempotency key: the time, then random characters.

    Keys of the same time are neighbours in an index, so an insertion costs the same in a table of
    any size.
    """
    chance = binascii.b2a_base64(os.urandom(12), newline=False).decode()
    return f"{time.time_ns() >> 16:012x}{chance}"


class StudyInterface(DisplayedArms, ABC):
    """A study: ask for pulls, tell rewards, read the state.

    A method that changes the study returns when the change is on disk.

    Example:
        >>> ticket = study.ask()
        >>> study.tell(ticket, 1.0).counted
        1
    """

    name: str

    def summary(self) -> str:
        """The state of the study in a few lines.

        Returns:
            Plain text.

        Example:
            >>> study.summary().splitlines()[0].endswith(": 3 arms, 0 pulls, 0 pending")
            True
        """
        return self.status().summary()

    def columns(self) -> dict[str, Any]:
        """The state of the study as columns, one row per arm.

        Returns:
            A mapping from a column's name to its values: `arm`, `verdict`, `mean`, `lower`,
            `upper`, `pulls`.

        Example:
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
        """The next pull to measure; with `n`, a list of at most `n` pulls.

        Parallel workers get different arms where that is useful.

        Args:
            n: The largest number of tickets; by default, one ticket instead of a list.
            worker: Who measures. By default the machine and the process, over HTTP also the thread.
            lease: Seconds until the ticket is handed out again; by default the study's lease.
            items: Whether each ticket says what to show for its arm.
            known: Numbers of the tickets that `worker` knows about. Tickets that `worker` holds and
                that are not among these come first, so that a lost answer is sent again.

        Returns:
            A ticket, or None if the study has stopped. With `n` a list, which is shorter if fewer
            pulls are useful now, and empty if the study has stopped.

        Raises:
            AllOutError: The study runs, but every useful pull is handed out; the error says when to
                ask again.
            StudyError: `n` or `lease` is out of range.
            StorageError: The database cannot be used.

        Example:
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
        """Ask for tickets, as a list."""

    def tell(
        self,
        ticket: Ticket | int | None = None,
        reward: float | None = None,
        *,
        arm: str | None = None,
        worker: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Tell the reward of a ticket or, without asking first, of an arm.

        Args:
            ticket: The ticket or its number.
            reward: The measured value.
            arm: The arm, in place of a ticket.
            worker: Who measured; by default the worker of the ticket.
            key: An idempotency key, as in `tell_many`.

        Returns:
            What happened to the reward.

        Raises:
            RewardError: The noise cannot produce this number.
            TicketError: The study has no such ticket or arm.
            ToldError: Another value was recorded for this ticket; nothing is changed.

        Example:
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
        """Tell many rewards at once: all of them count or, if one is bad, none.

        Args:
            rewards: Pairs of a ticket (or its number) and a reward. An arm's name in place of a
                ticket tells a reward that was measured without asking.
            worker: Who measured; by default the workers of the tickets.
            key: An idempotency key: your own text for this call, of at most 200 characters. A
                second call with the same key and rewards changes nothing and returns the first
                receipt, marked `again`. By default a new key is made if a reward has no ticket; one
                that has a ticket counts once anyway.

        Returns:
            What happened to the rewards.

        Raises:
            BatchError: One of the rewards is bad; its `__cause__` says what is wrong.
            KeyUsedError: The key was used with other rewards.
            UncertainError: The connection broke, and the retry failed. Tell the rewards again
                later, with the key of the error.

        Example:
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
        """Tell rewards and ask for the next pulls, in one transaction.

        Args:
            rewards: As in `tell_many`.
            n: As in `ask`.
            worker: Who measured the rewards and who measures next.
            lease: As in `ask`.
            items: As in `ask`.
            known: As in `ask`.
            key: As in `tell_many`. A second call with the same key returns those tickets of the
                first call that are still pending.

        Returns:
            The receipt, and the next ticket or list of tickets. If every useful pull is handed out,
            the rewards count and there is no ticket.

        Raises:
            BatchError: One of the rewards is bad; none counts.
            KeyUsedError: The key was used with other rewards.
            UncertainError: The connection broke, and the retry failed.
            StudyError: `n` or `lease` is out of range.

        Example:
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
        """Tell rewards, then ask for tickets."""

    @abstractmethod
    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        """Give a ticket back without a reward; its pull is handed out again.

        Giving a ticket back twice is harmless.

        Args:
            ticket: The ticket or its number.
            reason: Why there is no reward.
            worker: Who gives it back.

        Raises:
            TicketError: The study has no such ticket.
            ToldError: The ticket has a reward.

        Example:
            >>> study.fail(study.ask(), "dropped")
            >>> study.status().failures
            {'ash': 1}
        """

    @abstractmethod
    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        """Start the leases of pending tickets again, from now.

        Args:
            given: Tickets or their numbers; tickets that are not pending are ignored.
            lease: Seconds; by default the study's lease.

        Raises:
            StudyError: The lease is not a positive number.

        Example:
            >>> study.renew([study.ask(lease=1)], 3600)
        """

    @abstractmethod
    def release(self, given: Iterable[Ticket | int]) -> None:
        """End the leases of pending tickets now, so that the next call of `ask` gets their pulls.

        Args:
            given: Tickets or their numbers.

        Example:
            >>> first = study.ask()
            >>> study.release([first])
            >>> study.ask().arm == first.arm
            True
        """

    @abstractmethod
    def pause(self, arm: str, reason: str = "paused by hand", *, worker: str | None = None) -> None:
        """Hand out no more pulls of an arm, until `resume`.

        Args:
            arm: The arm's name.
            reason: Why; it is shown to users and kept in `changes`.
            worker: Who pauses it; kept in `changes`.

        Raises:
            StudyError: There is no such arm.

        Example:
            >>> study.pause("ash", "out of stock")
            >>> study.ask().arm, study.status().paused
            ('elm', {'ash': 'out of stock'})
        """

    @abstractmethod
    def resume(self, arm: str, reason: str = "", *, worker: str | None = None) -> None:
        """Hand out pulls of a paused arm again.

        Args:
            arm: The arm's name.
            reason: Why; kept in `changes`.
            worker: Who resumes it; kept in `changes`.

        Raises:
            StudyError: There is no such arm.

        Example:
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
        """Change settings of a running study.

        No setting can make a verdict wrong: all intervals hold at all times, so a study may stop
        earlier or later, and the tolerance may be chosen after looking at the data. A smaller
        tolerance withdraws the verdicts that rested on the larger one. Delta, k and the noise
        cannot change. A study that had stopped continues if the new settings allow it. A
        setting that is not given keeps its value.

        Args:
            budget: The largest number of pulls; None for no limit.
            tolerance: The distance from the threshold within which either verdict is accepted, in
                the rewards' unit.
            batch: The number of pulls that a round hands out at once.
            until: What the chances must promise to end the study early, as text; None for certainty
                only.
            pause_after: Pause an arm after this many failures in a row; None for never.
            lease: Seconds until a pull is handed out again; None adapts it to the time that answers
                take.
            reason: Why; kept in `changes`.
            worker: Who changes it; kept in `changes`.
            key: An idempotency key: a second call with it changes nothing.

        Returns:
            The state of the study after the change.

        Raises:
            StudyError: A setting is not valid.

        Example:
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
        """End the study by hand; `restart` continues it.

        Verdicts stay certain: a study may stop at any time. Rewards of pending tickets may still be
        told.

        Args:
            reason: Why; kept in `changes`.
            worker: Who stops it; kept in `changes`.
            key: An idempotency key: a second call with it changes nothing.

        Returns:
            The state of the study after the change.

        Example:
            >>> str(study.stop("out of money").reason), study.ask()
            ('stopped', None)
        """
        return self._set({"stopped": True}, ByHand(reason, worker, key))

    def restart(
        self, reason: str = "", *, worker: str | None = None, key: str | None = None
    ) -> Status:
        """Continue a study that was stopped by hand.

        Args:
            reason: Why; kept in `changes`.
            worker: Who restarts it; kept in `changes`.
            key: An idempotency key: a second call with it changes nothing.

        Returns:
            The state of the study after the change.

        Example:
            >>> _ = study.stop()
            >>> str(study.restart().reason)
            'running'
        """
        return self._set({"stopped": False}, ByHand(reason, worker, key))

    def note(self, text: str, *, worker: str | None = None, key: str | None = None) -> Status:
        """Add a remark to the study's history.

        The remark is kept as a change of kind `note`, with its author and time, covered by the
        digests of the log. It appears in the history and in the report.

        Args:
            text: The remark.
            worker: Its author.
            key: An idempotency key: a second call with it changes nothing.

        Returns:
            The state of the study.

        Raises:
            StudyError: The text is empty.

        Example:
            >>> _ = study.note("the second freezer was warm on Monday", worker="ada")
            >>> [(one.kind, one.reason) for one in study.changes()]
            [('note', 'the second freezer was warm on Monday')]
        """
        if not text.strip():
            raise StudyError("a note must not be empty")
        return self._set({}, ByHand(text, worker, key or new_key()))

    @abstractmethod
    def _set(self, values: Mapping[str, Any], hand: ByHand) -> Status:
        """Set `values`, by the names of the arguments of `set` (and `stopped`)."""

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
        """Take back or correct a reward that was recorded by mistake.

        The reward stays in the log, with who voided it and why. The arm's interval and all verdicts
        are computed again. The guarantee holds if the recorded value was not what was measured. It
        does not hold if rewards are removed because they look odd.

        Args:
            place: The reward's place in the log, from 1.
            ticket: The ticket of the reward, in place of `place`.
            value: The value that was really measured; by default the reward is removed.
            reason: Why; kept in `changes`.
            worker: Who voids it; kept in `changes`.
            key: An idempotency key: a second call with it changes nothing.

        Returns:
            The state of the study after the change.

        Raises:
            StudyError: The totals hold no such reward.
            RewardError: The noise cannot produce `value`.

        Example:
            >>> _ = study.tell(arm="ash", reward=1.0)
            >>> now = study.void(1, value=0.0, reason="read the wrong line")
            >>> now.pulls, now.voided
            (1, 1)
        """
        if (place is None) == (ticket is None):
            raise StudyError("name the reward to void: its place in the log, or its ticket")
        return self._void(place, ticket, value, ByHand(reason, worker, key))

    @abstractmethod
    def _void(
        self, place: int | None, ticket: Ticket | int | None, value: float | None, hand: ByHand
    ) -> Status:
        """Void the reward at a place in the log or of a ticket."""

    def add_arms(
        self,
        arms: Iterable[str],
        reason: str = "",
        *,
        worker: str | None = None,
        key: str | None = None,
    ) -> Status:
        """Add arms to a study that was created with `room` for them.

        From now on the question is about all arms: the threshold moves, all verdicts are withdrawn,
        and those that still hold return. The guarantee holds for the question of each moment, even
        if you look at the rewards before you choose the new arms. The reason is that `room` arms
        share delta from the beginning (docs/studies.md has the proof).

        Args:
            arms: The names of the new arms.
            reason: Why; kept in `changes`.
            worker: Who makes the change.
            key: An idempotency key: a second call with it changes nothing.

        Returns:
            The state of the study after the change.

        Raises:
            StudyError: There is no room for this many arms.
            ProblemError: A name is taken or not valid.

        Example:
            >>> study.add_arms(["oak", "yew"], "two more came in").arms
            5
        """
        return self._add_arms([str(arm) for arm in arms], ByHand(reason, worker, key or new_key()))

    @abstractmethod
    def _add_arms(self, arms: Sequence[str], hand: ByHand) -> Status:
        """Let these arms join, by the hand of an owner."""

    @abstractmethod
    def rename(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        """Rename the study; its history records the change, and the tokens for it alone follow.

        Args:
            name: The new name.
            reason: Why; kept in `changes`.
            worker: Who renames it.

        Raises:
            StudyExistsError: Another study has the name.

        Example:
            >>> study.rename("maples", "there are no ashes in it")
            >>> study.name
            'maples'
        """

    @abstractmethod
    def copy(self, name: str, *, rewards: bool = True, worker: str | None = None) -> None:
        """Copy this study within the same place.

        Args:
            name: The name of the copy.
            rewards: Whether to copy the whole history; true by default. Otherwise the copy asks the
                same question with the current settings, and begins without rewards. Pending tickets
                are also pending in a copy of the history, until their leases end.
            worker: Who makes the copy.

        Raises:
            StudyExistsError: Another study has the name.

        Example:
            >>> study.copy("the same again", rewards=False)
        """

    @abstractmethod
    def delete(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        """Remove the study with all its rewards, for good.

        One line stays: the study's name, when, by whom and why it was deleted, and its last digest.
        Tokens for this study alone are revoked.

        Args:
            name: The study's name again, as a confirmation.
            reason: Why.
            worker: Who deletes it.

        Raises:
            StudyError: The name is not this study's.

        Example:
            >>> study.delete(study.name, "was a trial")
        """

    @abstractmethod
    def changes(self) -> list[Change]:
        """All changes made by hand, oldest first: what, by whom, when and why.

        Returns:
            The changes.

        Example:
            >>> _ = study.set(budget=1000, reason="a grant", worker="Ada")
            >>> [(one.words, one.worker, one.reason) for one in study.changes()]
            [('budget from none to 1,000', 'Ada', 'a grant')]
        """

    @abstractmethod
    def pending(self) -> list[Pending]:
        """The tickets that are out, oldest first.

        Returns:
            Each ticket with its worker and the end of its lease (seconds since 1970).

        Example:
            >>> _ = study.ask(worker="lab 3")
            >>> [(one.ticket, one.arm, one.worker) for one in study.pending()]
            [(1, 'ash', 'lab 3')]
        """

    @abstractmethod
    def status(self) -> Status:
        """The state of the study; takes time proportional to the number of arms, not of rewards.

        Returns:
            Verdicts, threshold, pulls and settings at this moment.

        Example:
            >>> now = study.status()
            >>> now.pulls, now.undecided, now.threshold.upper, str(now.reason)
            (0, ('ash', 'elm', 'fir'), inf, 'running')
        """

    @abstractmethod
    def identification(self) -> Identification:
        """The answer so far, as `identify` returns it.

        Returns:
            The answer.

        Example:
            >>> study.identification().outliers
            ()
        """

    @abstractmethod
    def endings(self) -> tuple[Ending, ...]:
        """The tolerance that would end the study now, and what smaller tolerances would take.

        The first is proved from the current intervals: `set` it, and every arm is decided,
        correctly for that tolerance. For smaller ones the method is simulated for half a second,
        with rewards drawn from those recorded so far.

        Returns:
            The endings; none if every arm is decided or too little is known.

        Example:
            >>> study.endings()
            ()
        """

    @abstractmethod
    def chances(self, *, false_share: float = 0.05, seed: int = 0) -> Chances:
        """For each arm the chance that it stands out: an estimate, not a certificate.

        It uses all rewards that count, changes nothing, and takes about 0.05 s for 100 arms and 2 s
        for 10,000.

        Args:
            false_share: The largest share of `flagged` that may be wrong, in expectation; 0.05 by
                default.
            seed: The seed of the random draws.

        Returns:
            The chances.

        Raises:
            ProblemError: `false_share` is not between 0 and 1.

        Example:
            >>> for arm, reward in {"ash": 0, "elm": 0, "fir": 1}.items():
            ...     _ = [study.tell(arm=arm, reward=reward) for _ in range(5)]
            >>> study.chances().leaders(1)[0][0]
            'fir'
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections to the database or the server; the study itself stays.

        A later call opens a connection again. Leaving a `with` block closes them, too.

        Example:
            >>> study.close()
            >>> study.status().arms
            3
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
