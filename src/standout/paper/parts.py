"""Parts: the simulated runs of one method on one instance, the unit that is cached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import standout
from standout.core.method import Method
from standout.core.typing import Floats
from standout.simulation.instances import parse_instance
from standout.simulation.runs import RunRecord, Share, budget_or_none
from standout.simulation.simulate import default_problem


@dataclass(frozen=True)
class Part:
    """What is played. `cost` is about the seconds of one run, for planning only."""

    key: str
    instance: str
    method: Method
    cost: float
    budget: int | None = None
    checkpoints: tuple[int, ...] = ()

    def share(self, seed: int, first: int, last: int) -> Share:
        """Runs `first` ... `last - 1` as the simulator's workers take them."""
        family = parse_instance(self.instance)
        return Share(
            family=family,
            problem=default_problem(family),
            method=self.method,
            seed=seed,
            first=first,
            last=last,
            budget=budget_or_none(self.budget),
            checkpoints=self.checkpoints,
        )

    def configuration(self, seed: int) -> dict[str, Any]:
        """All that a run's result depends on, besides its number."""
        problem = default_problem(parse_instance(self.instance))
        # The words about a method do not change what it does.
        method = asdict(replace(self.method, summary="", reference=""))
        return {
            "standout": standout.__version__,
            "code": code_fingerprint(),
            "numpy": np.__version__,
            "instance": self.instance,
            "problem": problem.to_dict(),
            "method": method,
            "budget": self.budget,
            "checkpoints": list(self.checkpoints),
            "seed": seed,
        }


@dataclass(frozen=True)
class Run:
    """What is kept of a run: its pulls, whether its answer was wrong, errors per checkpoint."""

    pulls: int
    stopped: bool
    wrong: bool
    errors: str
    """One digit per checkpoint, 1 where the best guess was wrong."""

    @classmethod
    def of(cls, record: RunRecord) -> Run:
        """From the simulator's record."""
        errors = "".join("1" if error else "0" for error in record.errors)
        return cls(record.pulls, record.is_stopped, record.is_wrong, errors)


@dataclass(frozen=True)
class Runs:
    """All runs of a part, in the order of their numbers."""

    runs: tuple[Run, ...]

    @property
    def pulls(self) -> Floats:
        """Pulls of each run."""
        return np.array([run.pulls for run in self.runs], dtype=np.float64)

    @property
    def wrong(self) -> int:
        """Runs that stopped with a wrong answer."""
        return sum(run.wrong for run in self.runs)

    @property
    def errors(self) -> Floats:
        """1 where a run's best guess was wrong: a row per run, a column per checkpoint."""
        return np.array([[float(digit) for digit in run.errors] for run in self.runs])


Played = Mapping[str, Runs]


def digest(configuration: dict[str, Any]) -> str:
    """A short name that no other configuration has."""
    text = json.dumps(configuration, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def code_fingerprint() -> str:
    """Changes with every change of the code or data behind a run.

    The version alone would let a developer see old results of mended code.
    """
    root = Path(standout.__file__).parent
    state = hashlib.sha256()
    for folder in ("core", "simulation"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".py", ".csv"):
                state.update(str(path.relative_to(root)).encode())
                state.update(path.read_bytes())
    return state.hexdigest()[:20]
