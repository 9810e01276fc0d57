"""The network between the workers and what they use: it cuts, delays, lies and repeats.

It runs in a process of its own. HTTP is carried request by request, so that an answer can be
withheld or a request sent twice; a database's protocol is carried as bytes and cut anywhere.
"""

from __future__ import annotations

import asyncio
import random
import re
import socket
from collections.abc import Callable
from contextlib import suppress

from tests.torture.journal import Journal

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_LENGTH = re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)
_KEY = re.compile(rb'"key": "([^"]*)"')
_BROKEN = (OSError, EOFError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)

PASS = ("pass",) * 10
FAULTS = (
    "cut request", "cut answer", "cut unanswered", "false 50x", "early 503", "delay", "trickle",
    "double", "double at once", "double later",
)  # fmt: skip
CUTS = ("cut request", "cut answer", "cut unanswered", "cut database")
DOUBLES = ("double", "double at once", "double later")
_LOOSE = (*CUTS, *DOUBLES, "false 50x")
"""With these a server may have a copy of the request of which the sender has no answer."""


async def message(reader: asyncio.StreamReader) -> bytes:
    """One whole request or answer, all of which have a length here or no body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


class Line:
    """One stretch of network to a port of this machine."""

    def __init__(self, target: Callable[[], int], journal: Journal, rng: random.Random) -> None:
        self.target, self.journal, self.rng = target, journal, rng
        self.tasks: set[asyncio.Task[None]] = set()

    def note(self, what: str) -> None:
        self.journal.happened(what)

    def loosen(self, request: bytes) -> None:
        """Write down that copies of this request may be carried out whatever its sender hears."""
        if key := _KEY.search(request):
            self.journal.loose(key[1].decode())

    async def connect(self) -> Ends:
        return await asyncio.open_connection("127.0.0.1", self.target())

    def later(self, request: bytes, seconds: float) -> None:
        """Send a copy in a while, when nobody waits for it any more."""

        async def send() -> None:
            await asyncio.sleep(seconds)
            await self.copy(request)

        task = asyncio.create_task(send())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def copy(self, request: bytes) -> bytes | None:
        """Send a request on a connection of its own; the answer, if one comes."""
        with suppress(*_BROKEN):
            reader, writer = await self.connect()
            try:
                writer.write(request)
                return await message(reader)
            finally:
                writer.close()
        return None

    # HTTP -------------------------------------------------------------------------

    async def carry_http(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far: Ends | None = None
        try:
            while True:
                request = await message(near)
                far = far or await self.connect()
                try:
                    answer, is_last = await self.pass_on(request, far)
                except BaseException:
                    self.loosen(request)
                    raise
                back.write(answer)
                await back.drain()
                if is_last:
                    return
        except _BROKEN:
            pass
        finally:
            back.close()
            if far is not None:
                far[1].close()

    async def pass_on(self, request: bytes, far: Ends) -> tuple[bytes, bool]:
        """What to answer, and whether to hang up then."""
        what = self.rng.choice(PASS + FAULTS)
        if what != "pass":
            self.note(what)
        if what in _LOOSE:
            self.loosen(request)
        reader, writer = far
        if what == "early 503":
            return self.answer_50x(), False
        if what == "cut request":
            writer.write(request[: self.rng.randrange(len(request) + 1)])
            await writer.drain()
            return b"", True
        if what == "trickle":
            await self.trickle(request, writer)
        else:
            if what == "delay":
                await asyncio.sleep(self.rng.uniform(0.0, 0.3))
            writer.write(request)
        if what == "double":
            writer.write(request)
        copy = asyncio.create_task(self.copy(request)) if what == "double at once" else None
        if what == "double later":
            self.later(request, self.rng.uniform(0.0, 1.5))
        if what == "cut unanswered":
            await writer.drain()
            return b"", True
        answer = await message(reader)
        if what == "cut answer":
            return answer[: self.rng.randrange(len(answer))], True
        return await self.bend(what, answer, reader, copy), False

    async def bend(
        self,
        what: str,
        answer: bytes,
        reader: asyncio.StreamReader,
        copy: asyncio.Task[bytes | None] | None,
    ) -> bytes:
        """The answer as it arrives."""
        if what == "false 50x":
            return self.answer_50x()
        if what == "double":
            answer = self.rng.choice((answer, await message(reader)))
        if copy is not None:
            answer = self.rng.choice((answer, await copy or answer))
        return answer

    def answer_50x(self) -> bytes:
        status = self.rng.choice((b"502 Bad Gateway", b"503 Away", b"504 Gateway Timeout"))
        wait = self.rng.choice((b"", b"Retry-After: 0\r\n"))
        body = self.rng.choice((b"", b"<h1>Sorry</h1>", b'{"error": "sorry"}'))
        head = b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n" % (status, wait, len(body))
        return head + body

    async def trickle(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        for place in range(len(request)):
            writer.write(request[place : place + 1])
            if place % 16 == 0:
                await writer.drain()
                await asyncio.sleep(0.002)

    # Bytes ------------------------------------------------------------------------

    async def carry_bytes(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        """Up to some byte, in one direction or the other; every third connection is whole."""
        room = [float("inf"), float("inf")]
        if self.rng.random() < 2 / 3:
            room[self.rng.randrange(2)] = int(self.rng.choice((3e3, 3e4, 3e5)) * self.rng.random())
        try:
            reader, writer = await self.connect()
        except _BROKEN:
            back.close()
            return
        pumps = [self.pump(near, writer, room[0]), self.pump(reader, back, room[1])]
        tasks = [asyncio.create_task(pump) for pump in pumps]
        done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        if any(task.result() for task in done):
            self.note("cut database")
        for end in (writer, back):
            end.transport.abort()

    async def pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, room: float
    ) -> bool:
        """Whether it was cut."""
        with suppress(*_BROKEN):
            while data := await reader.read(1 << 16):
                part = data if len(data) <= room else data[: int(room)]
                room -= len(data)
                writer.write(part)
                await writer.drain()
                if room < 0:
                    return True
        return False


def serve(lines: list[tuple[socket.socket, int, str]], journal: Journal, seed: str) -> None:
    """Carry for ever: from each socket to its port, as `http` or as `bytes`."""

    async def main() -> None:
        servers = []
        for number, (listener, target, kind) in enumerate(lines):
            line = Line(lambda target=target: target, journal, random.Random(f"{seed} {number}"))
            carry = line.carry_http if kind == "http" else line.carry_bytes
            servers.append(await asyncio.start_server(carry, sock=listener, limit=1 << 24))
        await asyncio.gather(*(server.serve_forever() for server in servers))

    asyncio.run(main())
