"""The torture itself: keeps workers at work, breaks what they work with, and checks."""

from __future__ import annotations

import random
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from standout.errors import UnavailableError
from standout.study import backup, restore
from tests.torture import line, tasks
from tests.torture.audit import Audit, Memory, audit
from tests.torture.children import Child, command, start
from tests.torture.database import Database
from tests.torture.journal import Journal, Journals, Slots, read_journals
from tests.torture.machine import Clock
from tests.torture.studies import MEANS, STUDIES, create

CROWD = 6
PACE = 24
"""Fewer rewards than this are acknowledged between two events."""
STALLED = 600.0
"""Seconds without one acknowledged reward after which something is taken to hang."""
FULL = ("disk is full", "disk I/O error", "File too large", "No space left")
"""What databases say of a full disk."""
RESTORED = "restored under load"
_LINE, _RESTORER, _FIRST = 0, 1, 2
SERVERS = 2
"""Servers of the same studies, each at a port of its own; the network is bad before the first."""
LONG = 25.0
"""Seconds of a long sleep: more than a PostgreSQL server grants a transaction that stands still."""


@dataclass
class Report:
    """What was done and found."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    journals: Journals = field(default_factory=Journals)
    last: Audit = field(default_factory=Audit)
    checkpoints: int = 0
    longest: tuple[float, str] = (0.0, "")
    """Seconds without an acknowledged reward, and who was at work then."""


def free_port() -> int:
    """One that the system gives to nobody who connects: it would be taken while no server runs.

    Another one each time: two runs with one seed must not talk to each other's servers.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Torturer:
    """One run; everything that is chosen at random comes from `seed`; whether
    sleeps may last long, and whether there are servers."""

    def __init__(
        self, database: Database, folder: Path, seed: int, *, sleeps: bool, serves: bool
    ) -> None:
        self.database, self.folder, self.seed = database, folder, seed
        self.sleeps, self.serves = sleeps, serves
        self.rng = random.Random(f"torture {seed}")
        self.report, self.memory, self.slots = Report(), Memory(), Slots(CROWD)
        self.names: list[str] = []
        self.crowd: list[Child] = []
        self.queue: list[str] = []
        self.number = _FIRST
        self.running: list[Child | None] = [None] * SERVERS
        self.asleep: dict[Child, float] = {}
        """Who is frozen for long, and until when."""
        self.line: Child | None = None
        self.servers = 0
        self.is_interrupted = False

    # From beginning to end ---------------------------------------------------------

    def run(self, is_over: Callable[[int], bool], is_time_to_check: Callable[[int], bool]) -> None:
        """Event after event, until `is_over` by their number."""
        (self.folder / "arms.csv").write_text("\n".join(["arm", *MEANS]) + "\n")
        for name in STUDIES:
            self.begin(name)
        self.begin("budget 0")
        tasks.warm_up(self.database.place, serves=self.serves)
        events = 0
        try:
            self.start_line()
            while not is_over(events):
                self.wait_for_work(self.rng.randrange(PACE))
                self.strike()
                events += 1
                if is_time_to_check(events):
                    self.check()
            self.check()
        finally:
            self.end()

    def begin(self, name: str) -> None:
        create(self.database.place, name)
        self.names.append(name)

    def start_line(self) -> None:
        """The network: from ports of its own to the server's port and to the database's."""
        self.ports = [free_port() for _ in range(SERVERS)]
        listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        near, raw = (one.getsockname()[1] for one in listeners)
        lines: list[tuple[socket.socket, int, str]] = [(listeners[0], self.ports[0], "http")]
        self.far = self.database.place
        if self.database.port is not None:
            lines.append((listeners[1], self.database.port, "bytes"))
            self.far = self.far.replace(f":{self.database.port}/", f":{raw}/")
        self.urls = [f"http://127.0.0.1:{port}" for port in (near, *self.ports[1:])]
        journal = Journal(self.folder, _LINE)
        self.line = start(
            "line", lambda: line.serve(lines, journal, str(self.seed)), self.said("line")
        )
        for one in listeners:
            one.close()

    def said(self, name: object) -> Path:
        return self.folder / f"{name}.said"

    # Who works ----------------------------------------------------------------------

    def serve(self, which: int) -> None:
        """A server; every third has a clock that is set again and again."""
        self.servers += 1
        rng, number = random.Random(f"server {self.seed} {self.servers}"), self.next_number()

        def work() -> None:
            if self.servers % 3 == 0:
                clock: Any = Clock(rng, Journal(self.folder, number))
                time.time = clock
            command("serve", self.database.place, "--new", "--port", str(self.ports[which]))

        self.running[which] = start("server", work, self.said("server"))

    def next_number(self) -> int:
        self.number += 1
        return self.number

    def spawn(self, slot: int) -> Child:
        """The next worker; every kind has its turn, in an order that is drawn anew each time."""
        if not self.queue:
            self.queue = list(tasks.KINDS if self.serves else tasks.DIRECT)
            self.rng.shuffle(self.queue)
        kind, number = self.queue.pop(), self.next_number()
        near = tasks.Near(
            self.folder, self.database.place, self.far, self.rng.choice(self.urls),
            self.rng.choice(self.ports), self.database.file, self.names[-1], self.next_number(),
        )  # fmt: skip
        rng = random.Random(f"worker {self.seed} {number}")

        def work() -> None:
            tasks.do(kind, near, Journal(self.folder, number, self.slots, slot), rng)

        return start(kind, work, self.said(number), number, slot)

    def tend(self) -> None:
        """See who has ended, and start others in their place."""
        if self.is_interrupted:
            raise KeyboardInterrupt
        self.wake()
        for which, server in enumerate(self.running if self.serves else []):
            if server is None or not server.is_alive:
                if server is not None:
                    self.look_at(server)
                self.serve(which)
        assert self.line is not None
        if not self.line.is_alive:
            raise RuntimeError(f"the line ended: {self.said('line').read_text()}")
        for child in [one for one in self.crowd if not one.is_alive]:
            self.crowd.remove(child)
            self.report.counts["workers"] += 1
            self.look_at(child)
        taken = {child.slot for child in self.crowd}
        self.crowd += [self.spawn(slot) for slot in range(CROWD) if slot not in taken]

    def look_at(self, child: Child) -> None:
        """Nobody ends by an error or by a signal that we did not send; only a full disk may."""
        path = self.said("server" if child.kind == "server" else child.number)
        text = path.read_text(errors="replace") if path.exists() else ""
        expected = {"server": (0, 143), "run": (130,), "run over http": (130,)}
        if child.code in (-signal.SIGKILL, *expected.get(child.kind, (0,))):
            return
        if child.code == -signal.SIGTERM and len(text.encode()) <= child.heard:
            return  # Told to end before it had begun.
        if "Traceback" not in text and any(word in text for word in FULL):
            self.report.counts["gave up on a full disk"] += 1
            return
        if child.kind.startswith("run") and self.report.counts[RESTORED] and "ticket" in text:
            self.report.counts["ended by a restored backup"] += 1
            return
        # To begin while the database is away is refused at once; a service manager tries again.
        # Another server may have written to the same file behind it.
        mine = text.encode()[child.heard :].decode(errors="replace")
        errors = [line for line in mine.splitlines() if line.startswith("standout: error")]
        is_away = errors[-1:] != [] and errors[-1].endswith("nothing was changed")
        is_away &= "Traceback" not in mine
        if is_away and (child.kind == "server" or not self.has_begun(child)):
            self.report.counts["began without a database"] += 1
            return
        self.report.faults.append(f"{child.kind} ended with {child.code}: {text[-4000:]}")

    def has_begun(self, child: Child) -> bool:
        return b'["try"' in (self.folder / f"{child.number}.journal").read_bytes()

    # What is done to them -------------------------------------------------------------

    def wait_for_work(self, rewards: int) -> None:
        """Until so many more rewards are acknowledged."""
        seen, begin = self.slots.total(), time.monotonic()
        enough = seen + rewards
        while seen < enough:
            self.tend()
            now, pause = self.slots.total(), time.monotonic() - begin
            if now > seen:
                kinds = ", ".join(sorted(child.kind for child in self.crowd))
                self.report.longest = max(self.report.longest, (pause, kinds))
                seen, begin = now, time.monotonic()
            elif pause > STALLED:
                raise RuntimeError(f"no reward was acknowledged for {STALLED:g} s")
            else:
                time.sleep(0.005)
        self.tend()

    def strike(self) -> None:
        choices: list[Callable[[], str | None]] = [self.kill_worker] * 8
        choices += [self.kill_server, self.kill_server, self.freeze_worker, self.restore]
        if self.sleeps:
            choices += [self.sleep_long]
        for event in self.database.events():
            choices += [lambda event=event: event(self.rng)]  # type: ignore[misc]
        what = self.rng.choice(choices)()
        if what is not None:
            self.report.counts[what] += 1

    def kill_worker(self) -> str:
        self.rng.choice(self.crowd).kill()
        return "workers killed"

    def kill_server(self) -> str | None:
        server = self.rng.choice(self.running)
        if server is None or not server.is_alive:
            return None
        if self.rng.random() < 0.2 and server not in self.asleep:
            server.send(signal.SIGTERM)
            return "servers ended"
        server.kill()
        return "servers killed"

    def freeze_worker(self) -> str:
        """As a machine that sleeps, maybe with a lock in its hand."""
        child = self.rng.choice(self.crowd)
        child.send(signal.SIGSTOP)
        time.sleep(self.rng.uniform(0.05, 0.4))
        child.send(signal.SIGCONT)
        return "workers frozen"

    def sleep_long(self) -> str | None:
        """The same for longer than any timeout, while everything else goes on."""
        child = self.rng.choice([*self.crowd, *self.running])
        if child is None or child in self.asleep or not child.is_alive:
            return None
        child.send(signal.SIGSTOP)
        self.asleep[child] = time.monotonic() + LONG
        return "long sleeps"

    def wake(self, *, all_of_them: bool = False) -> None:
        for child, until in list(self.asleep.items()):
            if all_of_them or time.monotonic() > until or not child.is_alive:
                child.send(signal.SIGCONT)
                del self.asleep[child]

    def restore(self) -> str | None:
        """Make a backup and put it back at once, under those who go on working."""
        child = start("restorer", self._restore, self.said("restorer"))
        if child.wait() != 0:
            self.report.faults.append(f"restore: {self.said('restorer').read_text()[-4000:]}")
        return RESTORED if child.code == 0 else None

    def _restore(self) -> None:
        journal, file = Journal(self.folder, _RESTORER), self.folder / "restored.db"
        file.unlink(missing_ok=True)
        begin = time.monotonic()
        try:
            backup(self.database.place, file)
            restore(file, self.database.place, force=True)
        except UnavailableError:
            journal.happened("restores refused")
        finally:
            journal.restored(begin)

    # What came of it ------------------------------------------------------------------

    def check(self) -> None:
        """Kill everybody, compare, and begin another study with a budget."""
        self.stop_work()
        self.database.settle()
        self.report.journals = read_journals(self.folder)
        self.report.last = audit(self.database.place, self.names, self.report.journals, self.memory)
        self.report.faults += self.report.last.faults + self.crashes()
        self.report.checkpoints += 1
        if self.report.faults:
            raise RuntimeError("faults were found")
        self.begin(f"budget {self.report.checkpoints}")

    def crashes(self) -> list[str]:
        """Errors that are no errors of ours, in what anybody printed."""
        found = []
        for path in self.folder.glob("*.said"):
            for text in path.read_text(errors="replace").split("Traceback")[1:]:
                error = next((line for line in text.split("\n")[1:] if line[:1].strip()), "")
                # A server that ends cancels those who have not sent their request yet.
                if "CancelledError" not in error:
                    found.append(f"{path.name}: {text[:6000]}")
            path.unlink()
        return found

    def stop_work(self) -> None:
        self.wake(all_of_them=True)
        for child in self.crowd:
            child.kill()
        self.crowd = []
        for which, server in enumerate(self.running):
            if server is not None:
                server.send(signal.SIGTERM)
                server.wait()
                self.look_at(server)
                self.running[which] = None

    def end(self) -> None:
        """Leave no process behind."""
        for child in (*self.crowd, *self.running, self.line):
            if child is not None:
                child.kill()
