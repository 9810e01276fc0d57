"""What every figure module offers; the modules themselves are the implementations."""

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
    """Number of runs or draws, the seed, and whom to tell about work done."""

    runs: int
    seed: int
    tick: Callable[[float], None]


class FigureModule(Protocol):
    """A figure: its simulated parts, its tables, its pictures, its claims."""

    NAME: str
    TITLE: str
    ABOUT: str
    """What is shown and how it differs from the paper, for the report."""
    OWN_SECONDS: float
    """About the seconds of `compute` per run, for the progress bar."""

    def parts(self) -> Sequence[Part]:
        """The runs that have to be played first."""

    def compute(self, played: Played, job: Job) -> dict[str, Table]:
        """The figure's data; each table becomes a CSV file of its name."""

    def draw(self, tables: Tables) -> Mapping[str, Figure]:
        """The pictures by name, from the data alone."""

    def claims(self, tables: Tables) -> list[Claim]:
        """What the paper says about this figure, judged by the data."""

    def comparisons(self, tables: Tables) -> list[Comparison]:
        """The data beside numbers measured with the authors' code."""
