"""standout: find the few arms that stand out from the many, with few pulls and a guarantee."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from standout import errors
from standout.errors import *  # noqa: F403  what these are is said there

if TYPE_CHECKING:
    from standout.analysis.analyse import analyse
    from standout.client import Client
    from standout.core.method import Method
    from standout.core.methods import METHODS
    from standout.core.noise import (
        Bernoulli,
        Bounded,
        Gaussian,
        GaussianUnknown,
        HeavyTailed,
    )
    from standout.core.problem import MAD_SCALE, Problem, Side
    from standout.core.run import Run
    from standout.driver import identify
    from standout.posterior.chances import chances
    from standout.posterior.until import Until
    from standout.results import (
        Analysis,
        Chances,
        Identification,
        Interval,
        Status,
        StopReason,
        Ticket,
    )
    from standout.simulation import Instance, Simulation, simulate
    from standout.study import Study

__version__ = "0.1.0"

# Other names are fetched when first used, so that `import standout` and the command
# line's help stay quick: compiling machinery is loaded only by what needs it.
_HOMES = {
    "standout.analysis.analyse": ("analyse",),
    "standout.client": ("Client",),
    "standout.core.method": ("Method",),
    "standout.core.methods": ("METHODS",),
    "standout.core.noise": (
        "Bernoulli",
        "Bounded",
        "Gaussian",
        "GaussianUnknown",
        "HeavyTailed",
    ),
    "standout.core.problem": ("MAD_SCALE", "Problem", "Side"),
    "standout.core.run": ("Run",),
    "standout.driver": ("identify",),
    "standout.simulation": ("Instance", "Simulation", "simulate"),
    "standout.posterior.chances": ("chances",),
    "standout.posterior.until": ("Until",),
    "standout.results": (
        "Analysis",
        "Chances",
        "Identification",
        "Interval",
        "Status",
        "StopReason",
        "Ticket",
    ),
    "standout.study": ("Study",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "MAD_SCALE",
    "METHODS",
    "Analysis",
    "Bernoulli",
    "Bounded",
    "Chances",
    "Client",
    "Gaussian",
    "GaussianUnknown",
    "HeavyTailed",
    "Identification",
    "Instance",
    "Interval",
    "Method",
    "Problem",
    "Run",
    "Side",
    "Simulation",
    "Status",
    "StopReason",
    "Study",
    "Ticket",
    "Until",
    "analyse",
    "chances",
    "identify",
    "simulate",
]
__all__ += errors.__all__


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'standout' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
