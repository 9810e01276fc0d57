"""Simulated runs, and their cache on disk.

The unit of the cache is a part: the runs of one method on one instance. A run depends on the
configuration, the seed and its own number, and not on the number of runs. So 100 cached runs are
the first 100 of 500.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import standout
from standout.core.method import Method
from standout.core.rules.base import Rule
from standout.core.typing import Floats
from standout.files import write_file
from standout.simulation.instances import parse_instance
from standout.simulation.runs import RunRecord, Share, budget_or_none
from standout.simulation.simulate import default_problem
from standout.simulation.workers import play_all


@dataclass(frozen=True)
class Part:
    """A method on an instance. `cost` is the approximate seconds of one run, for planning only."""

    key: str
    instance: str
    method: Method
    cost: float
    budget: int | None = None
    checkpoints: tuple[int, ...] = ()

    def share(self, seed: int, first: int, last: int) -> Share:
        """Runs `first` ... `last - 1` as a share for the simulator's workers."""
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
        """All values on which a run's result depends, except its number."""
        problem = default_problem(parse_instance(self.instance))
        method = _settings_of(self.method)
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


def _settings_of(method: Method) -> dict[str, Any]:
    """The settings of a method as plain values: rules by name, without descriptions."""
    left_out = ("summary", "reference", "_plain")
    found = {
        field.name: getattr(method, field.name)
        for field in fields(method)
        if field.name not in left_out
    }
    return {
        name: f"{value.module}.{value.name}" if isinstance(value, Rule) else value
        for name, value in found.items()
    }


class Run(NamedTuple):
    """The record of a run: its pulls, whether its answer was wrong, errors per checkpoint."""

    pulls: int
    stopped: bool
    wrong: bool
    errors: str
    """One digit per checkpoint, 1 where the best guess was wrong."""

    @classmethod
    def of(cls, record: RunRecord) -> Run:
        """The record made from the simulator's."""
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
    """A short unique name of a configuration."""
    text = json.dumps(configuration, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def code_fingerprint() -> str:
    """A digest of the code and data that determine a run.

    With the version alone, a developer would get cached results of old code.
    """
    root = Path(standout.__file__).parent
    state = hashlib.sha256()
    for folder in ("core", "simulation"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".py", ".csv"):
                state.update(str(path.relative_to(root)).encode())
                state.update(path.read_bytes())
    return state.hexdigest()[:20]


@dataclass(frozen=True)
class Store:
    """The cache in one folder, for one seed."""

    folder: Path
    seed: int

    def path(self, part: Part) -> Path:
        """The file of the runs of `part`."""
        name = part.key.replace("/", "_").replace("=", "")
        return self.folder / f"{name}-{digest(part.configuration(self.seed))}.json"

    def load(self, part: Part) -> dict[int, Run]:
        """The cached runs by number; none if the file is missing, damaged or of another part."""
        try:
            content = json.loads(self.path(part).read_text(encoding="utf-8"))
            if content["configuration"] != _plain(part.configuration(self.seed)):
                return {}
            runs = {int(number): Run(*values) for number, values in content["runs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
        marks = len(part.checkpoints)
        fits = all(run.pulls > 0 and len(run.errors) == marks for run in runs.values())
        return runs if fits else {}

    def save(self, part: Part, runs: dict[int, Run]) -> None:
        """Replace the cached runs of `part`."""
        content = {
            "configuration": part.configuration(self.seed),
            "runs": {str(number): run for number, run in sorted(runs.items())},
        }
        write_file(self.path(part), json.dumps(content))


def _plain(configuration: dict[str, Any]) -> Any:
    """The configuration after a round trip through JSON."""
    return json.loads(json.dumps(configuration))


Tick = Callable[[float], None]
"""Called with the planned seconds of the work just done."""

_BLOCK_SECONDS = 4.0
"""Seconds of work between two saves, which an interrupt may lose per process."""


@dataclass(frozen=True)
class Block:
    """Neighbouring runs of a part that are played and saved together."""

    part: Part
    share: Share

    @property
    def cost(self) -> float:
        """The approximate number of seconds."""
        return self.part.cost * (self.share.last - self.share.first)


@dataclass(frozen=True)
class Plan:
    """Runs 0 ... `runs` - 1 of every part: the cached ones and those to play."""

    runs: int
    store: Store
    known: dict[str, dict[int, Run]]
    blocks: tuple[Block, ...]

    @property
    def cost(self) -> float:
        """The approximate seconds of work."""
        return sum(block.cost for block in self.blocks)

    def play(self, jobs: int, tick: Tick, executor: Executor | None = None) -> Played:
        """Play the blocks, save each when it is done, and return all runs."""
        block_of = {id(block.share): block for block in self.blocks}

        def keep(share: Share, records: list[RunRecord]) -> None:
            block = block_of[id(share)]
            runs = self.known[block.part.key]
            runs.update({record.index: Run.of(record) for record in records})
            self.store.save(block.part, runs)
            tick(block.cost)

        play_all([block.share for block in self.blocks], jobs, keep, executor=executor)
        return {
            key: Runs(tuple(runs[number] for number in range(self.runs)))
            for key, runs in self.known.items()
        }


def make_plan(parts: Sequence[Part], runs: int, store: Store) -> Plan:
    """Divide the runs that are not cached into blocks of a few seconds."""
    known = {part.key: store.load(part) for part in parts}
    blocks = [
        Block(part, part.share(store.seed, first, last))
        for part in parts
        for first, last in ranges(
            sorted(set(range(runs)) - set(known[part.key])),
            max(1, int(_BLOCK_SECONDS / part.cost)),
        )
    ]
    # Longest first: the processes then finish at about the same time.
    blocks.sort(key=lambda block: -block.cost)
    return Plan(runs, store, known, tuple(blocks))


def ranges(numbers: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Neighbouring numbers as ranges [first, last) of at most `size`.

    >>> ranges([0, 1, 2, 5], 2)
    [(0, 2), (2, 3), (5, 6)]
    """
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number and number - found[-1][0] < size:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found
