"""Server-sent events: a study's changes, for all listeners.

One poller per study and process reads the database, for any number of listeners. It also sees the
changes of other processes, and ends with its last listener.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from standout.errors import StandoutError
from standout.results import Pulse
from standout.service.open_studies import OpenStudies
from standout.service.security.auth import FRESH
from standout.service.settings import Settings

if TYPE_CHECKING:
    from standout.service.service import Queues

MOST_LISTENERS = 200
"""Per study and process."""


class Channel:
    """The listeners of one study, and the task that looks for changes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.listeners: dict[asyncio.Queue[Pulse], str] = {}
        self.last: Pulse | None = None
        self.task: asyncio.Task[None] | None = None


class Hub:
    """Starts and ends pollers, and passes their events on."""

    def __init__(self, settings: Settings, studies: OpenStudies, queues: Queues) -> None:
        self.settings, self._studies, self._queues = settings, studies, queues
        self._channels: dict[str, Channel] = {}

    async def _poll(self, channel: Channel) -> None:
        """Poll twice a second; a database that is unavailable is polled again."""
        while channel.listeners:
            try:
                found = await self._queues.look(lambda: self._studies.reader(channel.name).pulse())
            except StandoutError:
                found = None
            if found is not None and found != channel.last:
                channel.last = found
                for queue in channel.listeners:
                    _replace(queue, found)
            await asyncio.sleep(self.settings.event_seconds)

    async def listen(
        self, name: str, who: str, is_welcome: Callable[[], Awaitable[bool]]
    ) -> AsyncIterator[bytes]:
        """The events of a study for `who`, the present state first.

        `is_welcome` is called again every `FRESH` seconds, so that a revoked token ends its stream.
        """
        channel = self._channels.setdefault(name, Channel(name))
        queue: asyncio.Queue[Pulse] = asyncio.Queue(maxsize=1)
        channel.listeners[queue] = who
        try:
            if channel.last is not None:
                _replace(queue, channel.last)
            if channel.task is None or channel.task.done():
                channel.task = asyncio.get_running_loop().create_task(self._poll(channel))
            yield b"retry: 2000\n\n"
            silent = checked = time.monotonic()
            while True:
                pulse = await _within(queue, FRESH)
                now = time.monotonic()
                if now - checked >= FRESH:
                    if not await is_welcome():
                        return
                    checked = now
                if pulse is not None:
                    data = json.dumps(pulse.to_dict())
                    yield f"event: change\nid: {pulse.seq}\ndata: {data}\n\n".encode()
                elif now - silent >= self.settings.heartbeat_seconds:
                    yield b": still here\n\n"
                else:
                    continue
                silent = now
        finally:
            channel.listeners.pop(queue, None)
            if not channel.listeners:
                if channel.task is not None:
                    channel.task.cancel()
                self._channels.pop(name, None)

    def has_room(self, name: str, who: str) -> bool:
        """Whether `who` may open one more stream of a study."""
        channel = self._channels.get(name)
        if channel is None:
            return True
        theirs = sum(one == who for one in channel.listeners.values())
        return len(channel.listeners) < MOST_LISTENERS and theirs < self.settings.streams_per_token


async def _within(queue: asyncio.Queue[Pulse], seconds: float) -> Pulse | None:
    try:
        return await asyncio.wait_for(queue.get(), seconds)
    except TimeoutError:
        return None


def _replace(queue: asyncio.Queue[Pulse], pulse: Pulse) -> None:
    """Replace a waiting event: a slow listener needs only the newest."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(pulse)
