"""How an answer shows itself: as a table, as text, as a picture in a notebook, as a plot.

Data frame libraries and matplotlib are imported by name, and only when they are used.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from standout.errors import MissingExtraError, StudyError
from standout.text import plural

FRAMES = ("pandas", "polars")
_DRAWING = "standout.pictures.answers"


def frame(columns: Mapping[str, Any], library: str | None) -> Any:
    """Columns as a data frame of `library`, or of the first installed one."""
    if library is not None and library not in FRAMES:
        raise StudyError(f"no data frames of {library!r}; choose from {' and '.join(FRAMES)}")
    for name in FRAMES if library is None else (library,):
        if find_spec(name) is not None:
            return import_module(name).DataFrame(dict(columns))
    wanted = "pandas or polars" if library is None else library
    raise MissingExtraError(
        f"a data frame needs {wanted}; install it with: pip install {library or 'pandas'}"
    )


class Displayed:
    """The methods that all answers share: `summary`, `to_frame`, `plot`, `report`."""

    @abstractmethod
    def summary(self) -> str:
        """The answer in a few lines.

        Returns:
            Plain text.
        """

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """The answer as columns.

        Returns:
            A mapping from column name to values, one row per arm or moment.
        """

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Draw the answer on matplotlib axes.

        Args:
            ax: Axes to draw on; new axes by default.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """

    def to_frame(self, library: str | None = None) -> Any:
        """The answer as a data frame.

        Args:
            library: `pandas` or `polars`; by default the first that is installed.

        Returns:
            A frame with the columns of `columns`.

        Raises:
            MissingExtraError: Neither library is installed.

        Example:
            >>> study.to_frame()["verdict"].tolist()
            ['undecided', 'undecided', 'undecided']
        """
        return frame(self.columns(), library)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the answer as one HTML page that opens anywhere, without scripts or network.

        Args:
            path: The file to write; an existing file is replaced.

        Returns:
            The file's path.

        Raises:
            StandoutError: The file cannot be written.

        Example:
            >>> study.report("beans.html").name
            'beans.html'
        """
        written: Path = import_module("standout.report.answer_page").write(self, Path(path))
        return written

    def _picture(self) -> str:
        """The answer as SVG; empty if it has no picture."""
        return ""

    def _repr_html_(self) -> str:
        """The summary and, if there is one, the picture, for notebooks."""
        words = f'<pre style="white-space: pre-wrap">{escape(self.summary())}</pre>'
        return f"{words}{self._picture()}"


class DisplayedArms(Displayed):
    """An answer about arms, drawn as their intervals against the threshold."""

    @abstractmethod
    def _drawn(self) -> Any:
        """The `Identification` to draw."""

    def plot(self, ax: Any = None) -> Any:
        """Draw arms, intervals and threshold on matplotlib axes, as `standout.plot.arms` does.

        Args:
            ax: Axes to draw on; new axes by default.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.

        Example:
            >>> _ = study.tell(arm="fir", reward=1.0)
            >>> study.plot().get_xlabel()
            'mean, with its interval'
        """
        drawn: Any = self._drawn()  # Raises an error where there is nothing to draw.
        named = self if getattr(self, "axis", None) else drawn
        return import_module("standout.plot").arms(named, ax=ax)

    def _picture(self) -> str:
        drawn: str = import_module(_DRAWING).drawing(self._drawn())
        return drawn


def some(names: Sequence[object], most: int = 8) -> str:
    """`a, b, c and 4 more`; a dash for an empty list."""
    texts = [str(name)[:60] for name in names]
    shown = ["".join(c if c.isprintable() else "\ufffd" for c in text) for text in texts]
    if len(shown) > most:
        return f"{', '.join(shown[:most])} and {len(shown) - most:,} more"
    return ", ".join(shown) or "–"


def counted(what: str, names: Sequence[object], most: int = 8) -> str:
    """The number of names, then the names: `2 outliers: a, b`, or `0 outliers`."""
    return plural(len(names), what) + (f": {some(names, most)}" if names else "")
