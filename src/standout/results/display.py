"""Answers as people use them: a table, a few words, a picture in a notebook, a plot.

Data frame libraries, and what draws, are loaded by name and only when asked for: nothing here
needs them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from standout.errors import MissingExtraError, StudyError

FRAMES = ("pandas", "polars")
_DRAWING = "standout.pictures.answers"


def frame(columns: Mapping[str, Any], library: str | None) -> Any:
    """Columns as a data frame of `library`, or of the first that is installed."""
    if library is not None and library not in FRAMES:
        raise StudyError(f"no data frames of {library!r}; there are {' and '.join(FRAMES)}")
    for name in FRAMES if library is None else (library,):
        if find_spec(name) is not None:
            return import_module(name).DataFrame(dict(columns))
    wanted = "pandas or polars" if library is None else library
    raise MissingExtraError(
        f"a data frame needs {wanted}; install it with: pip install {library or 'pandas'}"
    )


class Displayed:
    """What can be shown in all these ways; its `summary` is what else is made from."""

    @abstractmethod
    def summary(self) -> str:
        """The answer in a few lines of plain text."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """The answer as columns, one row for each thing that it speaks of."""

    def to_frame(self, library: str | None = None) -> Any:
        """The columns as a data frame of `pandas` or `polars`, whichever is installed.

        Raises `MissingExtraError` if neither is.
        """
        return frame(self.columns(), library)

    def _repr_html_(self) -> str:
        """For notebooks: the picture, where there is one, under the summary."""
        return f"<pre>{escape(self.summary())}</pre>"


class DisplayedArms(Displayed):
    """An answer about arms, which has a picture of their intervals against the threshold."""

    @abstractmethod
    def _drawn(self) -> Any:
        """The `Identification` that is drawn."""

    def plot(self, ax: Any = None) -> Any:
        """Draw arms, intervals and threshold on matplotlib axes, and give these back.

        New axes are made unless `ax` is given. Raises `MissingExtraError` without matplotlib.
        """
        return import_module(_DRAWING).plot(self._drawn(), ax)

    def _repr_html_(self) -> str:
        drawn: str = import_module(_DRAWING).html(self._drawn(), self.summary())
        return drawn


def some(names: Sequence[str], most: int = 8) -> str:
    """`a, b, c and 4 more`; a dash for none."""
    shown = ["".join(c if c.isprintable() else "\ufffd" for c in name)[:60] for name in names]
    if len(shown) > most:
        return f"{', '.join(shown[:most])} and {len(shown) - most:,} more"
    return ", ".join(shown) or "–"
