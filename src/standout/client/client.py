"""A server, by its address and a token."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from standout.client.remote import RemoteStudy
from standout.client.wire import PATIENCE, TIMEOUT, Wire
from standout.results import StudyList, StudyRow

log = logging.getLogger("standout.client")


class Client:
    """The studies of a server: `Client("http://127.0.0.1:8000").study("beans").ask()`.

    A server that does not answer, or says that its database does not, is tried
    again for `patience` seconds; each answer may take `timeout` seconds. `say`
    is told in a line what is waited for, and in another when it is back (a
    warning of the logger `standout.client` unless given). Any number of
    threads may use a client.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        patience: float = PATIENCE,
        timeout: float = TIMEOUT,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._wire = Wire(url, token, patience, timeout, say or log.warning)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._wire.shown!r})"

    def studies(self) -> list[StudyRow]:
        """Name, size and state of every study that the token may see."""
        found: list[StudyRow] = []
        after: str | None = None
        while True:
            page = StudyList.from_dict(self._wire.get("/studies", after=after))
            found += page.studies
            after = page.next
            if after is None:
                return found

    def study(self, name: str) -> RemoteStudy:
        """A study, with the methods of `Study`."""
        return RemoteStudy(self._wire, name)

    def create(self, name: str, arms: Sequence[str], noise: str, **options: Any) -> RemoteStudy:
        """Begin a study; `options` are those of the server: k, delta, side, budget, items, ..."""
        settings: Mapping[str, Any] = {
            "name": name,
            "arms": list(arms),
            "noise": noise,
            **{key: value for key, value in options.items() if value is not None},
        }
        self._wire.post("/studies", settings, is_repeatable=False)
        return self.study(name)

    def close(self) -> None:
        """Let go of the connections; the next use opens another."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
