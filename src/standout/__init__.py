"""standout: find the few arms that stand out from the many, with few pulls and a guarantee."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from standout import errors
from standout.errors import *  # noqa: F403  what these are is said there

if TYPE_CHECKING:
    from standout import plot as plot
    from standout.analysis.analyse import analyse as analyse
    from standout.analysis.noise_advice import NoiseAdvice as NoiseAdvice
    from standout.analysis.noise_advice import recommend_noise as recommend_noise
    from standout.client import Client as Client
    from standout.core.method import Method as Method
    from standout.core.methods import METHODS as METHODS
    from standout.core.noise import Bernoulli as Bernoulli
    from standout.core.noise import Bounded as Bounded
    from standout.core.noise import Gaussian as Gaussian
    from standout.core.noise import GaussianUnknown as GaussianUnknown
    from standout.core.noise import HeavyTailed as HeavyTailed
    from standout.core.problem import MAD_SCALE as MAD_SCALE
    from standout.core.problem import Problem as Problem
    from standout.core.problem import Side as Side
    from standout.core.run import Run as Run
    from standout.driver.identify import identify as identify
    from standout.estimation.chances import chances as chances
    from standout.estimation.until import Until as Until
    from standout.results import Analysis as Analysis
    from standout.results import Chances as Chances
    from standout.results import Identification as Identification
    from standout.results import Interval as Interval
    from standout.results import Status as Status
    from standout.results import StopReason as StopReason
    from standout.results import Ticket as Ticket
    from standout.simulation import Instance as Instance
    from standout.simulation import Simulation as Simulation
    from standout.simulation import simulate as simulate
    from standout.study import Study as Study

__version__ = "0.1.0"

# Imported at first use, so that `import standout` and `standout --help` stay fast: only some
# functions need the compiler.
_HOMES = {
    "analysis.analyse": "analyse",
    "analysis.noise_advice": "NoiseAdvice recommend_noise",
    "client": "Client",
    "core.method": "Method",
    "core.methods": "METHODS",
    "core.noise": "Bernoulli Bounded Gaussian GaussianUnknown HeavyTailed",
    "core.problem": "MAD_SCALE Problem Side",
    "core.run": "Run",
    "driver.identify": "identify",
    "estimation.chances": "chances",
    "estimation.until": "Until",
    "results": "Analysis Chances Identification Interval Status StopReason Ticket",
    "simulation": "Instance Simulation simulate",
    "study": "Study",
}
_HOME_OF = {name: f"standout.{home}" for home, names in _HOMES.items() for name in names.split()}
_NEEDED = ("StandoutError", "MeasureError", "UndecidableWarning", "errors", "plot")
"""Names that `dir` lists in addition to `_HOME_OF`; all other errors are in `errors`."""
__all__ = errors.__all__ + list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name == "plot":
        return importlib.import_module("standout.plot")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'standout' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*_HOME_OF, *_NEEDED, "__version__"])
