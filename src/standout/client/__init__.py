"""Studies of a server, used as if they were here. Needs nothing but Python itself."""

from __future__ import annotations

from standout.client.client import Client
from standout.client.study import RemoteStudy

__all__ = ["Client", "RemoteStudy"]
