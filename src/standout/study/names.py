"""Names of workers, as stored and as shown."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from standout.study import arguments


def worker_of(given: str | None) -> str:
    """The worker's name: as given, or the machine and the process."""
    if given is None or given == "":
        return _process_name(os.getpid())
    return arguments.clean(arguments.text("worker", given))


@cache
def _process_name(process: int) -> str:
    return arguments.clean(f"{socket.gethostname()}:{process}")


def link_of(worker: str) -> str | None:
    """The rating link (a token's id) behind a worker's name; None for other workers."""
    role, _, rest = worker.partition(":")
    return rest.partition(":")[0] if role == "rater" else None


def readable_names(workers: Sequence[str], labels: Mapping[str, str]) -> dict[str, str]:
    """A readable name for each rater among `workers`, which are in order of first answers.

    `labels` are the owner's labels of rating links. A label that only one rater has used names that
    rater; other raters are numbered through the study.

    >>> readable_names(["rater:a1:x", "bench 3", "rater:b2:y", "rater:b2:z"], {"a1": "Ada"})
    {'rater:a1:x': 'Ada', 'rater:b2:y': 'rater 2', 'rater:b2:z': 'rater 3'}
    """
    raters = {worker: link for worker in workers if (link := link_of(worker)) is not None}
    users = Counter(raters.values())
    found = {}
    for number, (worker, link) in enumerate(raters.items(), 1):
        label = labels.get(link, "")
        numbered = f"rater {number} ({label})" if label else f"rater {number}"
        found[worker] = label if label and users[link] == 1 else numbered
    return found
