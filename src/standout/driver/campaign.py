"""`standout run` without the command line: create or open a study, then measure it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from standout.core.method import Method
from standout.core.methods import as_method
from standout.core.problem import Problem
from standout.errors import NoStudyError, StudyError
from standout.estimation.until import Until
from standout.extras import require
from standout.study.study import Study

DASK_PATIENCE = 10.0
"""Seconds to wait for a Dask scheduler."""


def make_or_find(
    place: str,
    arms: Sequence[str],
    problem: Problem,
    method: str | Method | None,
    *,
    name: str,
    budget: int | None,
    seed: int,
    until: str | None = None,
    ordered: bool = True,
) -> Study:
    """The study at `place`: opened if it exists and has the same question, otherwise created."""
    try:
        study = Study.open(place, name)
    except NoStudyError:
        options: dict[str, Any] = {"name": name, "budget": budget, "until": until, "seed": seed}
        return Study.create(place, arms, problem, method, ordered=ordered, **options)
    _check_same(study, arms, problem, method, budget)
    if study.until != (None if until is None else Until.parse(until)):
        raise StudyError(f"{study!r} goes on until {study.until or 'all is certain'}, not {until}")
    if study.ordered != ordered:
        raise StudyError(
            f"{study!r} counts rewards in the order of "
            + ("asking; leave out --unordered" if study.ordered else "telling; add --unordered")
        )
    return study


def _check_same(
    study: Study,
    arms: Sequence[str],
    problem: Problem,
    method: str | Method | None,
    budget: int | None,
) -> None:
    if study.arms != tuple(arms):
        raise StudyError(f"{study!r} has other arms; choose another place for these arms")
    if method is not None and study.method != as_method(method):
        label = as_method(method).label()
        raise StudyError(f"{study!r} uses {study.method.label()}, not {label}")
    if study.budget != budget:
        had = "no budget" if study.budget is None else f"a budget of {study.budget:,}"
        asked = "none" if budget is None else f"{budget:,}"
        raise StudyError(
            f"{study!r} has {had}, not {asked}; give the same --budget, or change it with "
            "`standout study set`"
        )
    kept = study.problem.to_dict()
    for key, value in problem.to_dict().items():
        if kept.get(key) != value:
            raise StudyError(f"{study!r} has {key} {kept.get(key)}, not {value}")


@contextmanager
def threads(jobs: int) -> Iterator[Executor]:
    """Threads of this process, which suffice because programs run in their own processes."""
    executor = ThreadPoolExecutor(jobs, thread_name_prefix="measure")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def dask(address: str) -> Iterator[tuple[Executor, int]]:
    """The workers of a Dask cluster, and the total number of their threads."""
    require("dask", "--dask")
    connect: Any = importlib.import_module("distributed").Client
    try:
        client: Any = connect(address, timeout=DASK_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise StudyError(f"no Dask scheduler at {address}: {error}") from None
    with client:
        jobs = sum(client.nthreads().values())
        if jobs == 0:
            raise StudyError(f"the Dask cluster at {address} has no workers")
        yield client.get_executor(pure=False), jobs


def default_place(arms: str) -> str:
    """The default place of `run`'s study: the current folder, with the name of the file of arms."""
    if arms == "-":
        raise StudyError("say where to keep the study: give PATH")
    return os.path.splitext(os.path.basename(arms))[0] + ".db"
