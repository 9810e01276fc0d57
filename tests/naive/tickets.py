"""The rules of tickets, of order and of the budget in the plainest form: lists that are searched.

What is handed out is not decided here: the arms of new pulls are given.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Pull:
    """A pull of an arm; it is out until it is told or given up."""

    arm: int
    tickets: list[int]
    is_out: bool = True


@dataclass
class Told:
    """A reward in the log: where it stands, and whether it is in the totals."""

    arm: int
    value: float
    order: tuple[float, int]
    status: str


@dataclass
class NaiveTickets:
    """`status` and `expires` by ticket; pulls in the order of handing out; the log."""

    budget: int | None
    is_ordered: bool
    is_one_line: bool
    pulls: list[Pull] = field(default_factory=list)
    status: dict[int, str] = field(default_factory=dict)
    expires: dict[int, float] = field(default_factory=dict)
    log: list[Told] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    paused: set[int] = field(default_factory=set)

    # The tickets ------------------------------------------------------------------------------

    def out(self) -> int:
        return sum(pull.is_out for pull in self.pulls)

    def in_totals(self) -> int:
        return sum(told.status in ("counted", "waiting") for told in self.log)

    def room(self) -> float:
        if self.budget is None:
            return float("inf")
        return self.budget - self.in_totals() - self.out()

    def pull_of(self, ticket: int) -> Pull:
        return next(pull for pull in self.pulls if ticket in pull.tickets)

    def overdue(self, now: float) -> list[int]:
        due = [t for t, status in self.status.items() if status == "pending"]
        return sorted(
            (t for t in due if self.expires[t] <= now), key=lambda t: (self.expires[t], t)
        )

    def ask(self, n: int, now: float, expires: float, fresh: list[int]) -> None:
        """Overdue pulls come again, and then new ones of the arms `fresh`."""
        again = [t for t in self.overdue(now)[:n] if self.pull_of(t).arm not in self.paused]
        over = [t for t in self.overdue(now)[:n] if self.pull_of(t).arm in self.paused]
        for old in again:
            self.status[old] = "expired"
            self._give(self.pull_of(old), expires)
        for old in over:
            self.status[old] = "expired"
            self.pull_of(old).is_out = False
        self._count()
        for arm in fresh:
            self.pulls.append(Pull(arm, []))
            self._give(self.pulls[-1], expires)

    def _give(self, pull: Pull, expires: float) -> None:
        number = len(self.status) + 1
        pull.tickets.append(number)
        self.status[number], self.expires[number] = "pending", expires

    def fail(self, ticket: int) -> None:
        pull = self.pull_of(ticket)
        if self.status[ticket] == "pending":
            pull.is_out = False
        self.status[ticket] = "failed"
        self._count()

    # The rewards ------------------------------------------------------------------------------

    def tell(self, rewards: list[tuple[int, int, float]], only_logs_late: bool = False) -> None:
        """Each a ticket (0: none), an arm and a value."""
        for ticket, arm, value in rewards:
            if ticket and self.status[ticket] == "told":
                continue
            pull = self.pull_of(ticket) if ticket else None
            is_late = ticket and self.status[ticket] != "pending"
            if ticket:
                arm = self.pull_of(ticket).arm
            behind = (len(self.pulls) + 0.5, len(self.log))
            if is_late and only_logs_late:
                self.log.append(Told(arm, value, behind, "surplus"))
            elif pull is not None and pull.is_out:
                for other in pull.tickets:
                    if self.status[other] == "pending":
                        self.status[other] = "cancelled"
                pull.is_out = False
                place = (float(self.pulls.index(pull) + 1), len(self.log))
                self.log.append(Told(arm, value, place, "waiting"))
            elif self.room() > 0:
                self.log.append(Told(arm, value, behind, "waiting"))
            else:
                self.log.append(Told(arm, value, behind, "surplus"))
            if ticket:
                self.status[ticket] = "told"
        self._count()

    def _count(self) -> None:
        """What stands before the first pull of its line that is out; all if there is no order."""
        ready = [place for place, told in enumerate(self.log) if self._is_ready(told)]
        if self.is_ordered:
            ready.sort(key=lambda place: self.log[place].order)
        for place in ready:
            self.log[place].status = "counted"
        self.counted += ready

    def _is_ready(self, told: Told) -> bool:
        if told.status != "waiting":
            return False
        before = [
            pull
            for number, pull in enumerate(self.pulls, start=1)
            if pull.is_out and number < told.order[0] and (self.is_one_line or pull.arm == told.arm)
        ]
        return not (self.is_ordered and before)

    def void(self, place: int, value: float | None) -> None:
        """`place` from 1 on."""
        old = self.log[place - 1]
        turn = self.counted.index(place - 1)
        old.status = "void"
        if value is None:
            del self.counted[turn]
        else:
            self.log.append(Told(old.arm, value, old.order, "counted"))
            self.counted[turn] = len(self.log) - 1

    def sequence(self, arm: int) -> list[float]:
        """The arm's counted rewards, in the order of counting."""
        return [self.log[place].value for place in self.counted if self.log[place].arm == arm]
