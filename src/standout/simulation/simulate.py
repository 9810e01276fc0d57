"""Many runs of several methods on an instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any

import numpy as np

from standout.core.method import Method
from standout.core.methods import as_method, default_method
from standout.core.problem import Problem, ProblemLike, as_problem
from standout.core.run import check_budget
from standout.core.typing import Floats
from standout.errors import ProblemError
from standout.estimation.until import Until
from standout.results.display import Displayed
from standout.simulation.instances import InstanceFamily, parse_instance
from standout.simulation.runs import RunRecord, Share, budget_or_none, prepare
from standout.simulation.workers import play_all
from standout.text import plural

Progress = Callable[[str, int, int], None]
"""Called with a method's label, its finished runs and all its runs."""

_SHARES_PER_JOB = 16


@dataclass(frozen=True)
class MethodResult:
    """The results of all runs of one method."""

    method: str
    records: tuple[RunRecord, ...] = field(repr=False)
    checkpoints: tuple[int, ...]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.records)

    @property
    def stopped(self) -> int:
        """Runs that decided every arm."""
        return sum(record.is_stopped for record in self.records)

    @property
    def wrong(self) -> int:
        """Stopped runs with a wrong answer."""
        return sum(record.is_stopped and record.is_wrong for record in self.records)

    @property
    def probable(self) -> int:
        """Runs that ended on their chances, with undecided arms."""
        return sum(record.is_probable for record in self.records)

    @property
    def probable_wrong(self) -> int:
        """Runs that ended on their chances, with a wrong best guess."""
        return sum(record.is_probable and record.is_wrong for record in self.records)

    def wrong_arms(self) -> tuple[float, float]:
        """Wrong arms per run that ended on its chances: the expected and the true number."""
        ended = [record for record in self.records if record.is_probable]
        if not ended:
            return float("nan"), float("nan")
        expected = sum(record.expected_wrong or 0.0 for record in ended)
        return expected / len(ended), sum(record.wrong_arms for record in ended) / len(ended)

    @property
    def pulls(self) -> Floats:
        """Pulls of each run."""
        return np.array([record.pulls for record in self.records], dtype=np.float64)

    @property
    def error_rate(self) -> Floats:
        """Share of runs whose best guess is wrong, at each checkpoint."""
        rates: Floats = np.mean(
            [record.errors for record in self.records], axis=0, dtype=np.float64
        )
        return rates

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        pulls = self.pulls
        spread = float(pulls.std(ddof=1) / np.sqrt(len(pulls))) if len(pulls) > 1 else None
        expected, actual = self.wrong_arms()
        estimates = {
            "probable": self.probable,
            "probable_wrong": self.probable_wrong,
            "expected_wrong_arms": expected if self.probable else None,
            "wrong_arms": actual if self.probable else None,
        }
        return estimates | {
            "method": self.method,
            "runs": self.runs,
            "stopped": self.stopped,
            "wrong": self.wrong,
            "pulls_mean": float(pulls.mean()),
            "pulls_se": spread,
            "pulls_median": float(np.median(pulls)),
            "pulls_p99": float(np.quantile(pulls, 0.99)),
            "rounds_mean": float(np.mean([record.rounds for record in self.records])),
            "seconds": sum(record.seconds for record in self.records),
            "checkpoints": list(self.checkpoints),
            "error_rate": [float(rate) for rate in self.error_rate],
        }


@dataclass(frozen=True)
class Simulation(Displayed):
    """The results of all methods, and the instance that they were played on.

    Attributes:
        instance: The instance in numbers.
        problem: What was asked.
        results: One `MethodResult` per method, in the order given.
        until: The promise that ended runs early, if there was one.

    Example:
        >>> simulation = simulate("fig4", "focus", runs=2, budget=30)
        >>> [result.method for result in simulation.results]
        ['focus']
    """

    instance: dict[str, Any]
    problem: Problem
    results: tuple[MethodResult, ...]
    until: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        Returns:
            A mapping.
        """
        return {
            "instance": self.instance,
            "problem": self.problem.to_dict(),
            "until": self.until,
            "results": [result.to_dict() for result in self.results],
        }

    def __repr__(self) -> str:
        names = ", ".join(result.method for result in self.results)
        runs = max((result.runs for result in self.results), default=0)
        return f"<Simulation of {self.instance.get('name', '?')}: {names}; {runs:,} runs each>"

    def summary(self) -> str:
        """One line per method: how many runs stopped, how many were wrong, and their pulls.

        Returns:
            Plain text.
        """
        return "\n".join(
            f"{result.method}: {result.stopped:,} of {plural(result.runs, 'run')} stopped, "
            f"{result.wrong:,} wrong, {result.pulls.mean():,.0f} pulls on average"
            for result in self.results
        )

    def columns(self) -> dict[str, Any]:
        """The runs as columns, one row per run and method.

        Returns:
            A mapping from column name to values.
        """
        runs = [(result.method, record) for result in self.results for record in result.records]
        names = [one.name for one in fields(runs[0][1])] if runs else []
        columns: dict[str, Any] = {"method": [method for method, _ in runs]}
        for name in names:
            values = [getattr(record, name) for _, record in runs]
            if all(value is None or isinstance(value, int | float | str) for value in values):
                columns[name] = values
        return columns

    def plot(self, ax: Any = None) -> Any:
        """Draw the pulls of each run on matplotlib axes, one row per method.

        Args:
            ax: Axes to draw on; new axes by default.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        return import_module("standout.pictures.simulations").plot(self, ax)

    def _picture(self) -> str:
        drawn: str = import_module("standout.pictures.simulations").drawing(self)
        return drawn


def simulate(
    instance: str | InstanceFamily,
    methods: str | Method | Sequence[str | Method] | None = None,
    problem: ProblemLike | None = None,
    *,
    runs: int = 100,
    seed: int = 0,
    budget: int | None = None,
    until: str | Until | None = None,
    checkpoints: Sequence[int] = (),
    jobs: int = 1,
    progress: Progress | None = None,
    on_slice: Progress | None = None,
    executor: Executor | None = None,
) -> Simulation:
    """Play each method `runs` times on `instance`.

    The instance, rewards and choices of run r depend only on `seed` and r. So the results do not
    depend on `jobs`, nor on which other methods are played.

    Args:
        instance: A built-in (`fig1:gap=0.4`, `fig4`, `wine`, `normal:n=1001,...`), a path to a CSV
            file, or an `Instance` family.
        methods: One or several names of `METHODS`, or `Method` objects. The default is `focus`,
            with the goal `anytime` if there is a budget or `until`.
        problem: What stands out; by default the problem of the instance's experiment in the paper.
        runs: Runs per method; 100 by default.
        seed: Drives all random draws; 0 by default.
        budget: The largest number of pulls per run; by default a run ends when all is decided.
        until: Ends a run as soon as its chances promise it (`errors=0.5`, as for `identify`). Its
            answer is probable and not proved, and counted separately.
        checkpoints: Increasing numbers of pulls at which the best guess is compared with the truth.
        jobs: The number of processes. With more than 1, call this under
            `if __name__ == "__main__":`.
        progress: Called as `progress(method, done, runs)` after every run.
        on_slice: Called as `on_slice(method, pulls, undecided)` from time to time during a long run
            of this process.
        executor: Plays the runs elsewhere (Dask's `client.get_executor()`), about `jobs` at a time.
            A run that is lost with its worker is repeated, with the same result.

    Returns:
        The results of each method.

    Raises:
        InstanceError: There is no such instance, or its table is not valid.
        MethodError: There is no such method, or it does not work for this problem.
        ProblemError: The problem, or a number above, is not valid.

    Example:
        >>> found = simulate("fig1:gap=0.6", ["roai-lucb", "random"], runs=2, seed=1)
        >>> [result.wrong for result in found.results]
        [0, 0]
    """
    family = parse_instance(instance) if isinstance(instance, str) else instance
    problem = default_problem(family) if problem is None else as_problem(problem)
    # A repeated method is played once: records are kept by label.
    named = default_method(budget, until) if methods is None else methods
    chosen = list(dict.fromkeys(as_method(m) for m in _as_list(named)))
    marks = check_checkpoints(checkpoints)
    limit = budget_or_none(check_budget(budget))
    for name, value in (("runs", runs), ("jobs", jobs)):
        if value < 1:
            raise ProblemError(f"{name} must be at least 1, not {value}")
    if seed < 0:
        raise ProblemError(f"seed must not be negative, not {seed}")

    promise = Until.parse(until) if isinstance(until, str) else until
    if promise is not None:
        promise.check_arms(family.draw(np.random.default_rng(seed)).n_arms)

    size = max(1, -(-runs // (_SHARES_PER_JOB * jobs)))
    shares = [
        Share(family, problem, method, seed, first, min(first + size, runs), limit, marks, promise)
        for method in chosen
        for first in range(0, runs, size)
    ]
    records: dict[str, list[RunRecord]] = {method.label(): [] for method in chosen}

    def keep(share: Share, played: list[RunRecord]) -> None:
        label = share.method.label()
        records[label].extend(played)
        if progress is not None:
            progress(label, len(records[label]), runs)

    if executor is None:
        for share in shares[:: -(-runs // size)]:  # the first of each method
            prepare(share)

    def tell(share: Share, pulls: int, undecided: int) -> None:
        if on_slice is not None:
            on_slice(share.method.label(), pulls, undecided)

    play_all(shares, jobs, keep, tell, executor)
    results = []
    for label, played in records.items():
        played.sort(key=lambda record: record.index)
        results.append(MethodResult(label, tuple(played), marks))
    asked = None if promise is None else str(promise)
    about = describe(family, problem, results[0].records)
    return Simulation(about, problem, tuple(results), asked)


def default_problem(family: InstanceFamily, **changes: Any) -> Problem:
    """The problem of the instance's experiment, with `changes`."""
    defaults: dict[str, Any] = {
        "noise": family.noise,
        "k": family.default_k,
        "delta": family.default_delta,
    }
    return Problem(**(defaults | changes))


def describe(
    family: InstanceFamily, problem: Problem, records: Sequence[RunRecord]
) -> dict[str, Any]:
    """The instance in numbers; for a random family, means over the runs' draws."""
    example = family.draw(np.random.default_rng(0))
    truth = np.flatnonzero(example.truth(problem))
    return {
        "name": family.name,
        "n_arms": example.n_arms,
        "threshold": float(np.mean([record.threshold for record in records])),
        "outliers": [example.arms[int(i)] for i in truth],
        "min_gap": float(np.mean([record.min_gap for record in records])),
    }


def check_checkpoints(checkpoints: Sequence[int]) -> tuple[int, ...]:
    """Checkpoints as increasing positive whole numbers."""
    marks = tuple(int(mark) for mark in checkpoints)
    if any(mark < 1 for mark in marks) or list(marks) != sorted(set(marks)):
        raise ProblemError("checkpoints must be increasing whole numbers of pulls, e.g. 1000,2000")
    return marks


def _as_list(methods: str | Method | Sequence[str | Method]) -> Sequence[str | Method]:
    listed = [methods] if isinstance(methods, str | Method) else list(methods)
    if not listed:
        raise ProblemError("name at least one method")
    return listed
