"""From a text to an instance family: a built-in with its options, or a path to a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from standout.core.noise import Noise
from standout.errors import InstanceError
from standout.simulation.instances.base import InstanceFamily
from standout.simulation.instances.figures import parse_fig1, parse_fig4, parse_wine
from standout.simulation.instances.normal import parse_normal
from standout.simulation.instances.table import load_family

BUILTINS: Mapping[str, Callable[[str], InstanceFamily]] = MappingProxyType(
    {"fig1": parse_fig1, "fig4": parse_fig4, "wine": parse_wine, "normal": parse_normal}
)
"""Reader of the options of each built-in family, by name."""


def parse_instance(text: str, noise: Noise | None = None) -> InstanceFamily:
    """Read `fig1:gap=0.4`, `fig4`, `wine`, `normal:n=1001,...` or a path to a CSV file.

    `noise` is for a table, which is `arm,mean` or `arm,mean,sigma`; with a column
    sigma it may be left out. The built-in families know theirs.

    >>> parse_instance("fig1:gap=0.2").noise
    Gaussian(sigma=0.5)
    """
    name, _, options = text.strip().partition(":")
    reader = BUILTINS.get(name.strip().lower())
    if reader is not None:
        return _with_own_noise(reader(options.strip()), noise)
    path = Path(text.strip())
    # Not is_file: a pipe, as a shell makes of <(...), is welcome too.
    if text.strip() and os.path.exists(path):
        return load_family(path, noise)
    looks_like_file = path.suffix.lower() == ".csv" or len(path.parts) > 1
    trouble = f"there is no file {text!r}" if looks_like_file else f"no instance {text!r}"
    raise InstanceError(
        f"{trouble}; built-in are {', '.join(BUILTINS)}, "
        "and a path to a CSV file arm,mean works too"
    )


def _with_own_noise(family: InstanceFamily, noise: Noise | None) -> InstanceFamily:
    if noise is not None and noise != family.noise:
        raise InstanceError(
            f"{family.name} has {family.noise.spec()} noise of its own, not {noise.spec()}; "
            "leave the noise out"
        )
    return family
