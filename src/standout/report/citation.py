"""How to cite what a report rests on."""

from __future__ import annotations

from standout import __version__

PAPER = (
    "Yinglun Zhu, Sumeet Katariya and Robert Nowak. Robust Outlier Arm Identification. "
    "Proceedings of the 37th International Conference on Machine Learning (ICML), PMLR 119, 2020."
)


def citations() -> list[str]:
    """The paper, and this program with its version."""
    return [
        PAPER,
        f"standout {__version__}: adaptive measurement that finds the few items that stand out "
        "from the many, with a guarantee.",
    ]
