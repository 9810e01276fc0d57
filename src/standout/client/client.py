"""A server, by its address and a token."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from standout.client.study import RemoteStudy
from standout.client.transport import PATIENCE, TIMEOUT, Transport
from standout.results import StudyList, StudyRow

log = logging.getLogger("standout.client")


class Client:
    """The studies of a server at `url` (`http://host:port`), with a `token` if it asks for one.

    A server that does not answer, or says that its database does not, is tried
    again for `patience` seconds; each answer may take `timeout` seconds. `say`
    is told in a line what is waited for, and in another when it is back (a
    warning of the logger `standout.client` unless given). Any number of
    threads may use a client. Raises `StudyError` for what is no address.

    >>> with Client(url) as server:
    ...     ticket = server.study("beans").ask()
    ...     server.study("beans").tell(ticket, 1.0).counted
    1
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
        self._transport = Transport(url, token, patience, timeout, say or log.warning)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._transport.shown!r})"

    def studies(self) -> list[StudyRow]:
        """Name, size and state of every study that the token may see, oldest first.

        >>> [(row.name, row.arms, str(row.reason)) for row in client.studies()]
        [('beans', 3, 'running')]
        """
        found: list[StudyRow] = []
        after: str | None = None
        while True:
            page = StudyList.from_dict(self._transport.get("/studies", after=after))
            found += page.studies
            after = page.next
            if after is None:
                return found

    def study(self, name: str) -> RemoteStudy:
        """A study, with the methods of `Study`; whether it is there shows when it is used.

        >>> client.study("beans").status().undecided
        ('ash', 'elm', 'fir')
        """
        return RemoteStudy(self._transport, name)

    def create(self, name: str, arms: Sequence[str], noise: str, **options: Any) -> RemoteStudy:
        """Begin a study; `options` are those of the server: k, delta, side, budget, items, ...

        `noise` is a text (`bernoulli`, `gaussian:SIGMA`, ...). Raises
        `StudyExistsError` if the name is taken, `ProblemError` or `MethodError`
        for what cannot be asked, and `UncertainError` if the connection broke:
        this is not sent twice, and the study may be there.

        >>> peas = client.create("peas", ["a", "b", "c"], "gaussian:0.1", k=2.0, budget=100)
        >>> peas.status().budget
        100
        """
        settings: Mapping[str, Any] = {
            "name": name,
            "arms": list(arms),
            "noise": noise,
            **{key: value for key, value in options.items() if value is not None},
        }
        self._transport.post("/studies", settings, is_repeatable=False)
        return self.study(name)

    def close(self) -> None:
        """Close the connections to the server; the next use opens another."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
