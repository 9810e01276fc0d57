"""Studies of a server, used as if they were here. Needs nothing but Python itself."""

from __future__ import annotations

from standout.client.answers import Answer, Receipt, Status, Ticket
from standout.client.client import Client
from standout.client.remote import RemoteStudy

__all__ = ["Answer", "Client", "Receipt", "RemoteStudy", "Status", "Ticket"]
