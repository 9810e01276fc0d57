"""The settings of a service."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from standout.study.token_links import is_loopback


@dataclass(frozen=True)
class Settings:
    """All settings except the place of the studies."""

    host: str = "127.0.0.1"
    """The address that the server listens at."""
    require_token: bool = False
    """Refuse requests without a token also on the loopback address."""
    allow_hosts: tuple[str, ...] = ()
    """Host names of the service, in addition to the loopback's."""
    proxies: tuple[str, ...] = ()
    """Addresses of trusted proxies, whose X-Forwarded-For and -Proto headers are used."""
    largest_request: int = 10_000_000
    """Bytes of a request's body."""
    largest_rater_request: int = 20_000
    """The same for raters, and for requests without a token."""
    most_connections: int = 1000
    """Connections at a time; with more, requests are answered 503."""
    body_seconds: float = 20.0
    """Seconds for a body, plus one second per `slowest_body` of its largest size."""
    slowest_body: float = 50_000.0
    """Bytes a second."""
    rater_rate: float = 5.0
    """Requests per second of one rater, in the long run."""
    rater_burst: int = 30
    """Requests of one rater at once."""
    raters_per_token: int = 20
    """The number of raters of one token at a time; they share this many times the rate."""
    new_raters_at_once: int = 30
    """New browsers per address and token at once."""
    new_raters_per_hour: float = 60.0
    """The same in the long run."""
    files: str | None = None
    """A folder of pictures for items, at `/files/`; none if None."""
    rater_lease: float = 120.0
    """Seconds for which a rater may hold a ticket before another gets its pull."""
    rater_tickets: int = 50
    """Tickets of a study that all raters of one token may hold together. They may hold at most half
    of the remaining budget. So the raters of one token cannot keep others from measuring."""
    streams_per_token: int = 50
    """Streams of events of one study that one token may have open, of 200 in all."""
    event_seconds: float = 0.5
    """Least time between two events of a study."""
    heartbeat_seconds: float = 15.0
    """Seconds after which an idle stream of events sends a heartbeat."""

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
