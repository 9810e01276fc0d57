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
    """The studies of a server. Any number of threads may share a client.

    Args:
        url: The server's address, `http://host:port`.
        token: The access token, if the server asks for one.
        patience: Seconds for which a server that does not answer, or whose database does not, is
            tried again; 180 by default.
        timeout: Seconds to wait for one answer; 30 by default.
        say: Called with one line when waiting begins and another when it ends. By default, a
            warning of the logger `standout.client`.

    Raises:
        StudyError: `url` is not an address.

    Example:
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
        """The studies that the token may see, oldest first.

        Returns:
            Name, size and state of each study.

        Example:
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
        """A study, with the methods of `Study`.

        Args:
            name: The study's name. Whether the study exists is checked at its first use.

        Returns:
            The study.

        Example:
            >>> client.study("beans").status().undecided
            ('ash', 'elm', 'fir')
        """
        return RemoteStudy(self._transport, name)

    def create(self, name: str, arms: Sequence[str], noise: str, **options: Any) -> RemoteStudy:
        """Create a study.

        Args:
            name: Its name, which must be new.
            arms: The names of its arms.
            noise: The noise as text: `bernoulli`, `gaussian:SIGMA`, ...
            **options: Further settings, as in `Study.create`: `k`, `delta`, `side`, `tolerance`,
                `budget`, `items`, ...

        Returns:
            The study.

        Raises:
            StudyExistsError: The name is taken.
            ProblemError: The problem is not valid.
            MethodError: The method does not work for this problem.
            UncertainError: The connection broke. The request is not repeated, and the study may
                exist.

        Example:
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
        """Close the connections to the server; a later call opens them again.

        Example:
            >>> client.close()
            >>> [row.name for row in client.studies()]
            ['beans']
        """
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
