"""Measuring a round's pulls side by side, on any `concurrent.futures.Executor`.

Rewards are counted in the order of the plan, whatever order they come in: the
answer is that of measuring one by one, on any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial

CHUNKS = 256
"""Tasks that a large round is cut into: a scheduler's overhead is per task."""

Measure = Callable[[str], float]


def measure_chunk(
    measure: Measure, arms: Sequence[str], _first: int
) -> tuple[list[float], Exception | None]:
    """Measure arms one after the other, on a worker; stop at the first that fails.

    `_first`, the number of the first pull, makes each call different: Dask
    would give a call that it knows already the result of the former one.
    """
    rewards: list[float] = []
    for arm in arms:
        try:
            rewards.append(measure(arm))
        except Exception as error:
            return rewards, error
    return rewards, None


def measure_round(
    executor: Executor, measure: Measure, chosen: Sequence[tuple[str, int]], first: int
) -> Iterator[tuple[str, Callable[[], float]]]:
    """Each pull's arm, in the order of the plan, with a function that gives its reward or raises.

    `first` is the number of pulls so far.
    """
    pulls = [arm for arm, amount in chosen for _ in range(amount)]
    size = max(1, len(pulls) // CHUNKS)
    chunks = [pulls[start : start + size] for start in range(0, len(pulls), size)]
    futures: list[Future[tuple[list[float], Exception | None]]] = []
    try:
        for number, chunk in enumerate(chunks):
            futures.append(executor.submit(measure_chunk, measure, chunk, first + number * size))
        for chunk, future in zip(chunks, futures, strict=True):
            try:
                rewards, error = future.result()
            except Exception as broken:
                # The worker itself failed: no reward of this chunk has come back.
                rewards, error = [], broken
            for arm, reward in zip(chunk, rewards, strict=False):
                yield arm, partial(_give, reward)
            if error is not None:
                yield chunk[len(rewards)], partial(_raise, error)
                return
    finally:
        for future in futures:
            future.cancel()


def _give(reward: float) -> float:
    return reward


def _raise(error: Exception) -> float:
    raise error
