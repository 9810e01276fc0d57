"""A program that is forked amid its work: parent and child go on, each with a study of its own."""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Callable

from standout import Study
from standout.errors import StudyError
from tests.torture.journal import Journal
from tests.torture.worker import Worker


def work(
    open_study: Callable[[], Study],
    journal: Journal,
    twin: Callable[[], Journal],
    rng: random.Random,
    moves: int,
) -> None:
    """Work, fork, and work on in both; the child has a journal of its own, the `twin`."""
    study = open_study()
    worker = Worker(study, journal, rng, remote=False, disk=None)
    worker.work(moves // 3)
    child = os.fork()
    if child == 0:
        try:
            _work_in_child(study, open_study, twin(), random.Random(rng.random()), moves)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    worker.work(moves // 3)
    if os.waitpid(child, 0)[1] != 0:
        journal.fault("a forked child ended with an error")
    journal.happened("forks")
    worker.work(moves // 3)
    study.close()


def _work_in_child(
    study: Study, open_study: Callable[[], Study], journal: Journal, rng: random.Random, moves: int
) -> None:
    try:
        study.status()
        journal.fault("a study was used after a fork")
    except StudyError as error:
        if "fork" not in str(error):
            journal.fault(f"a study that was used after a fork said: {error}")
    with open_study() as own:
        Worker(own, journal, rng, remote=False, disk=None).work(moves // 3)
