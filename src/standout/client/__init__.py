"""Studies on a server, with the methods of a local study. Needs only the standard library."""

from __future__ import annotations

from standout.client.client import Client
from standout.client.study import RemoteStudy

__all__ = ["Client", "RemoteStudy"]
