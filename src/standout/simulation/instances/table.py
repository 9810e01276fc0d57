"""Instances from a table `arm,mean[,sigma]`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from standout.core.noise import NOISE_FORMS, Gaussian, Noise
from standout.core.problem import MIN_ARMS
from standout.core.typing import Floats
from standout.errors import InstanceError
from standout.files import csv_records
from standout.simulation.instances.base import FixedFamily, Instance

REQUIRED = ("arm", "mean")
OPTIONAL = ("sigma",)


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file."""

    arms: tuple[str, ...]
    means: Floats
    sigmas: Floats | None


def load_family(path: Path, noise: Noise | None) -> FixedFamily:
    """The instance in the file at `path`, with `noise` or the noise of its sigma column."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InstanceError(f"{path}: not a text file in UTF-8; save it as CSV UTF-8") from None
    except OSError as error:
        raise InstanceError(f"{path}: cannot be read: {error.strerror}") from None
    table = read_table(text, str(path))
    if noise is None:
        if table.sigmas is None:
            raise InstanceError(
                f"{path}: the noise is not known; pass --noise ({NOISE_FORMS}) "
                "or add a column sigma"
            )
        noise = Gaussian(float(table.sigmas.max()))
    return FixedFamily(Instance(str(path), table.arms, table.means, noise, table.sigmas))


def read_table(text: str, label: str) -> Table:
    """Read the text of a table; errors begin with `label` and the line number."""
    records = csv_records(text, label, InstanceError)
    lines = ((line, fields) for line, fields in records if any(map(str.strip, fields)))
    try:
        _, header = next(lines)
    except StopIteration:
        raise InstanceError(
            f"{label}: the file is empty; its first line must be arm,mean"
        ) from None
    place = _columns(header, label)

    columns: dict[str, list[float]] = {name: [] for name in place if name != "arm"}
    first_seen: dict[str, int] = {}
    for line, fields in lines:
        where = f"{label}, line {line}"
        if len(fields) != len(header):
            raise InstanceError(
                f"{where}: {len(fields)} values for {len(header)} columns; "
                "a name with a comma needs quotes"
            )
        arm = fields[place["arm"]].strip()
        if not arm:
            raise InstanceError(f"{where}: the arm has no name")
        if arm in first_seen:
            raise InstanceError(f"{where}: arm {arm!r} is already on line {first_seen[arm]}")
        first_seen[arm] = line
        for name, values in columns.items():
            values.append(_number(fields[place[name]], name, where))
    if len(first_seen) < MIN_ARMS:
        raise InstanceError(
            f"{label}: at least {MIN_ARMS} arms are needed, the file has {len(first_seen)}"
        )
    sigmas = np.array(columns["sigma"]) if "sigma" in columns else None
    return Table(tuple(first_seen), np.array(columns["mean"]), sigmas)


def _columns(header: list[str], label: str) -> dict[str, int]:
    names = [name.strip().lower() for name in header]
    for name in REQUIRED:
        if name not in names:
            found = ", ".join(repr(name) for name in names)
            raise InstanceError(
                f"{label}, line 1: no column {name!r}; the first line must be arm,mean or "
                f"arm,mean,sigma, not {found}"
            )
    for name in names:
        if name not in REQUIRED + OPTIONAL:
            raise InstanceError(
                f"{label}, line 1: unknown column {name!r}; there are arm, mean and sigma"
            )
        if names.count(name) > 1:
            raise InstanceError(f"{label}, line 1: column {name!r} is there twice")
    return {name: index for index, name in enumerate(names)}


def _number(text: str, name: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        said = f"not {text!r}" if text.strip() else "it is empty"
        raise InstanceError(f"{where}: {name} must be a number, {said}") from None
    if not math.isfinite(value):
        raise InstanceError(f"{where}: {name} must be finite, not {text.strip()}")
    if name == "sigma" and value <= 0:
        raise InstanceError(f"{where}: sigma must be above 0, not {value:g}")
    return value
