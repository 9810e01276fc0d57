"""Instance families from text: a built-in with its options, or a path to a table."""

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
"""The parser of each built-in family's options, by name."""


def parse_instance(text: str, noise: Noise | None = None) -> InstanceFamily:
    """Read `fig1:gap=0.4`, `fig4`, `wine`, `normal:n=1001,...` or a path to a CSV file.

    A table is `arm,mean` or `arm,mean,sigma`. It needs `noise` unless it has a column sigma; the
    built-in families have their own noise.

    >>> parse_instance("fig1:gap=0.2").noise
    Gaussian(sigma=0.5)
    """
    name, _, options = text.strip().partition(":")
    reader = BUILTINS.get(name.strip().lower())
    if reader is not None:
        return _with_own_noise(reader(options.strip()), noise)
    path = Path(text.strip())
    # Not is_file: a pipe, such as a shell's <(...), works too.
    if text.strip() and os.path.exists(path):
        return load_family(path, noise)
    looks_like_file = path.suffix.lower() == ".csv" or len(path.parts) > 1
    trouble = f"there is no file {text!r}" if looks_like_file else f"no instance {text!r}"
    raise InstanceError(
        f"{trouble}; choose from {', '.join(BUILTINS)}, "
        "or give the path of a CSV file with the columns arm and mean"
    )


def _with_own_noise(family: InstanceFamily, noise: Noise | None) -> InstanceFamily:
    if noise is not None and noise != family.noise:
        raise InstanceError(
            f"{family.name} has {family.noise.spec()} noise, not {noise.spec()}; give no noise"
        )
    return family
