"""How a service is to be run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from standout.study.token_links import is_loopback


@dataclass(frozen=True)
class Settings:
    """Everything but the place of the studies."""

    host: str = "127.0.0.1"
    """The address that the server listens at."""
    require_token: bool = False
    """Refuse requests without a token also on the loopback address."""
    allow_hosts: tuple[str, ...] = ()
    """Names under which the service may be called, beside the loopback's own."""
    proxies: tuple[str, ...] = ()
    """Addresses of proxies: what these say in X-Forwarded-For and -Proto is believed."""
    largest_request: int = 10_000_000
    """Bytes of a request's body."""
    largest_rater_request: int = 20_000
    """The same for raters, and for requests without a token."""
    most_connections: int = 1000
    """Connections at a time; with more, requests are answered 503."""
    body_seconds: float = 20.0
    """So long a body may take, and a second more for each `slowest_body` that it may have."""
    slowest_body: float = 50_000.0
    """Bytes a second."""
    rater_rate: float = 5.0
    """Requests per second of one rater, in the long run."""
    rater_burst: int = 30
    """Requests of one rater at once."""
    raters_per_token: int = 20
    """How many raters at once one token is meant for: they share so many times the rate."""
    new_raters_at_once: int = 30
    """Browsers that one address may bring to one token at once."""
    new_raters_per_hour: float = 60.0
    """The same in the long run."""
    files: str | None = None
    """A folder of pictures for items, at `/files/`; none if None."""
    rater_lease: float = 120.0
    """Seconds for which a rater may hold a ticket before another gets its pull."""
    rater_tickets: int = 50
    """Tickets of a study that all raters of one token may hold together, and of the pulls
    that a budget leaves at most half: one token's raters cannot keep others from measuring."""
    streams_per_token: int = 50
    """Streams of events of one study that one token may have open, of 200 in all."""
    event_seconds: float = 0.5
    """Least time between two events of a study."""
    heartbeat_seconds: float = 15.0
    """How long a stream of events may be silent."""

    @cached_property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server.

        >>> [Settings(host).is_loopback for host in ("127.0.0.1", "::1", "0.0.0.0")]
        [True, True, False]
        """
        return is_loopback(self.host)

    @property
    def may_be_open(self) -> bool:
        """Whether requests without a token may be the owner's."""
        return self.is_loopback and not self.require_token
