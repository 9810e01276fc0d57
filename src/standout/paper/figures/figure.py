"""The interface of figures, which each figure's module implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from standout.paper.claims import Claim
from standout.paper.reference import Comparison
from standout.paper.runs import Part, Played
from standout.paper.table import Table, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Job:
    """The number of runs or draws, the seed, and a function that is called with the progress."""

    runs: int
    seed: int
    tick: Callable[[float], None]


class FigureModule(Protocol):
    """A figure: its simulated parts, its tables, its pictures, its claims."""

    NAME: str
    TITLE: str
    ABOUT: str
    """What the figure shows and how it differs from the paper, for the report."""
    OWN_SECONDS: float
    """The approximate seconds of `compute` per run, for the progress bar."""

    def parts(self) -> Sequence[Part]:
        """The runs that `compute` needs."""

    def compute(self, played: Played, job: Job) -> dict[str, Table]:
        """The figure's data; each table becomes a CSV file of its name."""

    def draw(self, tables: Tables) -> Mapping[str, Figure]:
        """The pictures by name, from the tables alone."""

    def claims(self, tables: Tables) -> list[Claim]:
        """The paper's claims about this figure, judged by the data."""

    def comparisons(self, tables: Tables) -> list[Comparison]:
        """The data compared with numbers from the authors' code."""
