"""`standout run` as a worker: the loop measures one pull at a time.

Its loop comes for the next measurement only when the last one is told: that is how this
module knows what was acknowledged.
"""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from tests.torture.children import command
from tests.torture.journal import ACKNOWLEDGED, Journal
from tests.torture.studies import MEANS, MENDED, NOISE, SCALE, STUDIES, K

STEADY = [name for name in STUDIES if name != MENDED]
"""Those that a run finds as it describes them, and that nobody stops."""


@dataclass
class _Now:
    study: str
    journal: Journal
    rng: random.Random
    left: int
    serial: int | None = None


_now: _Now | None = None


def measure(arm: str) -> float:
    """What `standout run` calls; ends the run as Ctrl-C does when it has measured enough."""
    assert _now is not None
    if _now.serial is not None:
        _now.journal.ended(_now.serial, ACKNOWLEDGED)
        _now.serial = None
    _now.left -= 1
    if _now.left < 0 or _now.journal.is_full:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(3600)  # Until the main thread has ended the process.
    if _now.rng.random() < 0.02:
        raise ValueError("a clumsy measurement")
    value = _now.journal.value(MEANS[arm], _now.rng)
    _now.serial = _now.journal.trying(_now.study, [(value, arm, None)])
    return value


def run(
    journal: Journal, rng: random.Random, study: str, place: str, url: str | None, folder: Path
) -> None:
    """Measure for a study of a place or, if there is a `url`, of a server."""
    global _now  # noqa: PLW0603  # The command line finds the function by its name.
    _now = _Now(study, journal, rng, rng.randrange(5, 60))
    words = ["run", "--measure-python", f"{__name__}:measure", "--jobs", "1", "--json"]
    if url is not None:
        command(*words, "--server", url, "--study", study)
        return
    arms = folder / "arms.csv"
    settings = STUDIES[study]
    order = [] if settings["ordered"] else ["--unordered"]
    command(
        *words, place, "--arms", str(arms), "--study", study, "--noise", NOISE, "--k", str(K),
        "--mad-scale", str(SCALE), "--method", settings["method"], *order,
    )  # fmt: skip
