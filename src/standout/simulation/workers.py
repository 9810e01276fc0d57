"""Playing shares in this process or in several, with the same results."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from multiprocessing.synchronize import Event

from standout.interruption import put_off
from standout.simulation.runs import RunRecord, Share, Stopped, play_share

_WORTH_A_POOL = 4.0
"""Seconds of remaining work below which starting processes does not pay."""

_called_off: Event | None = None


def play_all(
    shares: Sequence[Share],
    jobs: int,
    on_done: Callable[[Share, list[RunRecord]], None],
    on_slice: Callable[[Share, int, int], None] | None = None,
    executor: Executor | None = None,
) -> None:
    """Play every share and pass its records to `on_done`, in any order.

    Work begins in this process; worker processes start once the rest is known to take long. Ctrl-C
    ends the workers and is then raised again. With an `executor`, all shares are played there, up
    to `jobs` at a time and some ahead. A share depends on nothing else, so one that is lost with
    its worker is played again with the same result. `on_slice(share, pulls, undecided)` is called
    from time to time during a run of this process.
    """
    if executor is not None:
        _play_ahead(lambda share: executor.submit(play_alone, share), shares, 2 * jobs, on_done)
        return
    rest = list(shares)
    begin = time.perf_counter()
    done = 0
    while rest:
        elapsed = time.perf_counter() - begin
        remaining = elapsed / done * len(rest) if done else 0.0
        if jobs > 1 and len(rest) > 1 and remaining > _WORTH_A_POOL:
            _play_in_pool(rest, jobs, on_done)
            return
        share = rest.pop(0)
        told = None if on_slice is None else partial(on_slice, share)
        on_done(share, play_share(share, _never, told))
        done += 1


def _play_ahead(
    submit: Callable[[Share], Future[list[RunRecord]]],
    shares: Sequence[Share],
    ahead: int,
    on_done: Callable[[Share, list[RunRecord]], None],
) -> None:
    """Keep at most `ahead` shares under way, so that a cancellation has little to drop."""
    waiting = iter(shares)
    running: dict[Future[list[RunRecord]], Share] = {}
    try:
        while True:
            while len(running) < ahead and (share := next(waiting, None)) is not None:
                running[submit(share)] = share
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                on_done(running.pop(future), future.result())
    finally:
        for future in running:
            future.cancel()


def play_alone(share: Share) -> list[RunRecord]:
    """All runs of a share, in a process that is never cancelled."""
    return play_share(share, _never)


def _play_in_pool(
    shares: list[Share], jobs: int, on_done: Callable[[Share, list[RunRecord]], None]
) -> None:
    # Spawn, not fork: a forked child may inherit locks that Numba's threads hold.
    context = multiprocessing.get_context("spawn")
    called_off = context.Event()
    workers = min(jobs, len(shares))
    with ProcessPoolExecutor(workers, context, _prepare_worker, (called_off,)) as pool:

        def submit(share: Share) -> Future[list[RunRecord]]:
            with _deaf_to_interrupts():  # a share may start a process
                return pool.submit(_play_in_worker, share)

        try:
            _play_ahead(submit, shares, 2 * workers, on_done)
        except BaseException:
            called_off.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started within never receive Ctrl-C; here it takes effect after the block.

    `_prepare_worker` would be too late: until it runs, a worker is busy importing, and Ctrl-C would
    print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    with put_off():
        # A new process inherits blocked signals, but no handlers.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _prepare_worker(called_off: Event) -> None:
    global _called_off  # noqa: PLW0603  a process has no other place for it
    _called_off = called_off
    # The parent handles Ctrl-C; a worker that dies of it would break the pool.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _play_in_worker(share: Share) -> list[RunRecord]:
    try:
        return play_share(share, _called_off.is_set if _called_off is not None else _never)
    except Stopped:
        return []


def _never() -> bool:
    return False
