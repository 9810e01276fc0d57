"""A comparison of our numbers with those of the authors' released code.

The reference numbers were measured separately, with other seeds; `error` is their standard error.
Our numbers should agree within both errors. If no error was stored, it is computed from the number
of draws and the spread of our draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from standout.paper.table import Row

REFERENCE_DRAWS = 500

FIG1_PULLS = {
    ("LUCB", 0.6): (13_535, 353),
    ("LUCB", 0.4): (30_951, 1_206),
    ("LUCB", 0.2): (133_771, 3_861),
    ("Elim", 0.6): (32_555, 699),
    ("Elim", 0.4): (57_918, 1_125),
    ("Elim", 0.2): (160_046, 4_364),
    ("Random", 0.6): (36_125, 1_547),
    ("Random", 0.4): (90_264, 1_972),
    ("Random", 0.2): (418_601, 18_116),
}
FIG1_BOUNDS = {0.6: "12925", 0.4: "29288", 0.2: "100886"}
FIG1_NUMBERS = {"threshold": "2.8373", "median": "1.142857", "mad": "0.571429"}

FIG2_NAMES = ("mean-std", "ROAI-2nε", "ROAI-4nε", "ROAI-n")
FIG2_DEVIATION = {
    0: (0.0134, 0.0583, 0.0611, 0.0215),
    5: (0.2177, 0.0607, 0.0489, 0.0260),
    11: (0.3864, 0.0671, 0.0509, 0.0458),
    21: (0.5831, 0.1132, 0.1063, 0.1062),
}
FIG3_NAMES = ("RR", "WRR", "ROAI-2nε", "ROAI-4nε", "ROAI-n")
FIG3_BOUNDS = {
    0.60: (3.85e8, 3.24e8, 3.24e6, 3.61e6, 5.41e6),
    0.75: (1.05e9, 8.74e8, 7.94e5, 8.30e5, 1.79e6),
    0.90: (6.37e9, 5.15e9, 5.60e5, 8.75e5, 2.00e6),
}
FIG4_PULLS = (1000, 2000, 3000, 5000, 10000)
FIG4_ERRORS = {
    "LUCB": (40, (0.85, 0.275, 0.025, 0.0, 0.0)),
    "Random": (40, (0.925, 0.35, 0.10, 0.10, 0.075)),
    "Elim": (40, (0.925, 0.575, 0.175, 0.15, 0.05)),
    "RR": (100, (0.97, 0.83, 0.63, 0.47, 0.18)),
}
FIG4_PASS_RATE = 0.93
FIG5_NUMBERS = {
    "arms": "123",
    "outliers": "5",
    "median": "0.242187",
    "mad": "0.096650",
    "threshold": "0.672065",
    "min_gap": "0.108205",
    "mean_std_threshold": "0.805249",
}


@dataclass(frozen=True)
class Comparison:
    """Our number beside the reference, with the standard error of their difference."""

    figure: str
    what: str
    reference: float
    ours: float
    error: float
    """0 for a number without noise, which must agree in every printed digit"""
    last_digit: float = 0.0
    """For such a number, one unit in the last place that the reference has"""

    @property
    def errors_away(self) -> float:
        """The difference in standard errors; infinite for an exact number that differs."""
        difference = self.ours - self.reference
        if self.error > 0:
            return difference / self.error
        return 0.0 if self.is_same else math.copysign(math.inf, difference)

    @property
    def is_same(self) -> bool:
        """Whether our number, printed like the reference, is the reference."""
        return abs(self.ours - self.reference) <= 0.5001 * self.last_digit


def exact(figure: str, what: str, reference: str, ours: float) -> Comparison:
    """A number without noise, the reference as printed."""
    last_digit = 10.0 ** -len(reference.partition(".")[2])
    return Comparison(figure, what, float(reference), ours, 0.0, last_digit)


def measured(
    figure: str, what: str, reference: tuple[float, float], ours: tuple[float, float]
) -> Comparison:
    """Two independent measurements, each with its standard error."""
    return Comparison(figure, what, reference[0], ours[0], math.hypot(reference[1], ours[1]))


def drawn(figure: str, what: str, reference: float, row: Row, ours: str) -> Comparison:
    """A reference from 500 draws, with the spread of our row's `runs` draws."""
    error = float(row["error"])
    theirs = error * math.sqrt(float(row["runs"]) / REFERENCE_DRAWS)
    return measured(figure, what, (reference, theirs), (float(row[ours]), error))


def rate(
    figure: str, what: str, reference: float, of_them: int, ours: float, of_us: int
) -> Comparison:
    """Two shares of runs; the error is that of equal shares."""
    common = (reference * of_them + ours * of_us) / (of_them + of_us)
    error = math.sqrt(common * (1 - common) * (1 / of_them + 1 / of_us))
    return Comparison(figure, what, reference, ours, error)


def summary(comparisons: list[Comparison]) -> Iterator[str]:
    """The numbers of comparisons by their distance, in words."""
    noisy = [abs(c.errors_away) for c in comparisons if c.error > 0]
    exact = [c for c in comparisons if c.error == 0]
    if exact:
        same = sum(c.is_same for c in exact)
        yield f"{same} of {len(exact)} numbers without noise agree in every printed digit"
    if noisy:
        within = sum(away <= 2 for away in noisy)
        yield (
            f"{within} of {len(noisy)} noisy numbers lie within 2 standard errors "
            f"({0.954 * len(noisy):.0f} are expected by chance), the farthest {max(noisy):.1f} away"
        )
