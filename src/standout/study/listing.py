"""The studies of a place, one row each."""

from __future__ import annotations

import os
from contextlib import closing

import numpy as np

from standout.core.kinds import Verdict
from standout.results import StudyRow
from standout.study.queries import verdicts
from standout.study.storage.store import open_store
from standout.study.study import Study


def list_studies(place: str | os.PathLike[str]) -> tuple[str, list[StudyRow]]:
    """The place without a password, and its studies, oldest first; each is opened for it."""
    with closing(open_store(place)) as store:
        with store.read() as session:
            names = session.names()
        return store.shown, [row_of(Study(store, key, name)) for key, name in names]


def row_of(study: Study) -> StudyRow:
    """Name, size and state of a study."""
    with study._reading():
        state = study._state
        counts = np.bincount(verdicts(state), minlength=len(Verdict))
        return StudyRow(
            name=study.name,
            method=state.method.label(),
            arms=len(state.arms),
            pulls=state.totals.pulls,
            pending=state.out,
            undecided=int(counts[Verdict.UNDECIDED]),
            outliers=int(counts[Verdict.OUTLIER]),
            stopped=state.is_stopped,
            reason=state.reason,
            created=study.created,
        )
