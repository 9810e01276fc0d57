"""A worker process of a service, started by `worker_processes`: `python -m` with this module.

What it needs comes in one line on its standard input, where no list of
processes shows it. The same pipe tells it when its parent is gone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from typing import Any

from standout.service.server import make_server
from standout.service.settings import Settings
from standout.study.warm import warm_up


def main() -> None:
    """Serve until told to end, or until the parent is gone."""
    told = json.loads(sys.stdin.readline())
    # JSON knows lists only.
    plain: dict[str, Any] = told["settings"]
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
    }
    settings = Settings(**given)
    # Ctrl-C goes to the whole group of processes; the parent then says when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    # Before anything slow: a parent may go while its child is still coming up.
    threading.Thread(target=watch, daemon=True).start()
    warm_up()
    server = make_server(told["place"], settings, told["level"])
    server.run(sockets=[socket.socket(fileno=told["socket"])])


if __name__ == "__main__":
    main()
