"""The server process: uvicorn with our settings, on a socket that is open already.

It ends in time even if a request hangs, and writes no secrets to standard error.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
import time
from types import FrameType
from typing import Any

import uvicorn

from standout.errors import StudyError
from standout.service.app import create_app
from standout.service.settings import Settings

GRACE = 3
"""Seconds that open connections get when the server ends (streams of events never end)."""
LAST = GRACE + 2
"""Seconds after which the process ends in any case, even if the database does not answer. No
acknowledged change is lost."""
RELEASE = 3.0
"""Seconds to wait for an address that another process still uses."""
KEEP_ALIVE = 75
"""Seconds to keep an idle connection, because a rater may think about an answer."""
SWITCH = 0.001
"""Seconds until Python switches threads (0.005 by default). A telling waits for about twenty
switches, behind every view that is being computed."""
LEVELS = ("debug", "info", "warning", "error")


def _end(seconds: float, code: int) -> None:
    time.sleep(seconds)
    print("standout: something still hangs; ending without it", file=sys.stderr, flush=True)
    os._exit(code)


class Server(uvicorn.Server):
    """A server that ends at most `LAST` seconds after the signal."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End on a signal."""
        is_first = not self.should_exit
        super().handle_exit(sig, frame)
        if is_first:
            threading.Thread(target=_end, args=(LAST, 128 + sig), daemon=True).start()


def open_socket(host: str, port: int) -> socket.socket:
    """Listen on an address; port 0 is any free one.

    An address in use is retried for `RELEASE` seconds, because the processes of a killed server may
    need a moment. Raises `StudyError`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only if the protocol is named; otherwise every
    # answer would be 40 ms late.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        _bind(listener, (host.strip("[]"), port), time.monotonic() + RELEASE)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise StudyError(
            f"cannot listen at {host}:{port}: {error.strerror}; choose another --host or --port"
        ) from None
    return listener


def _bind(listener: socket.socket, address: tuple[str, int], deadline: float) -> None:
    while True:
        try:
            listener.bind(address)
            return
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def make_server(place: str, settings: Settings, level: str) -> Server:
    """A server for the studies at `place`; `run` serves until a signal."""
    sys.setswitchinterval(SWITCH)
    config = uvicorn.Config(
        create_app(place, settings),
        log_config=log_config(level),
        access_log=False,
        server_header=False,
        # By default any local client could choose the address that limits count by.
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=KEEP_ALIVE,
        ws="none",
        # The parser in C is faster, but accepts endless headers.
        http="auto" if settings.is_loopback or settings.proxies else "h11",
        limit_concurrency=settings.most_connections,
    )
    return Server(config)


def log_config(level: str) -> dict[str, Any]:
    """Everything goes to standard error. uvicorn's access log is off, because it shows queries."""
    ours = {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
            }
        },
        "loggers": {
            "standout": {"handlers": ["stderr"], "level": level.upper()},
            "uvicorn": ours,
            "asyncio": {**ours, "level": "ERROR" if level == "error" else "WARNING"},
            "uvicorn.access": {"handlers": [], "level": "ERROR", "propagate": False},
        },
    }
