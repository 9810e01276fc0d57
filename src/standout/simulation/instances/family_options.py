"""Options of a built-in instance, written `name=value,name=value`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from standout.errors import InstanceError


def read_options(name: str, text: str, known: tuple[str, ...]) -> dict[str, str]:
    """Split `text` into options of the instance `name`; only those in `known` are accepted."""
    options: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in known:
            choices = f"choose from {', '.join(known)}" if known else "it has none"
            raise InstanceError(f"{name} has no option {key!r}; {choices}")
        if not equals or not value:
            raise InstanceError(f"option {key!r} of {name} needs a value: {key}=...")
        if key in options:
            raise InstanceError(f"option {key!r} of {name} is given twice")
        options[key] = value
    return options


def number(name: str, options: Mapping[str, str], key: str, default: float) -> float:
    """Option `key` as a finite number."""
    text = options.get(key)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InstanceError(f"option {key!r} of {name} must be a number, not {text!r}")
    return value


def whole(name: str, options: Mapping[str, str], key: str, default: int, least: int) -> int:
    """Option `key` as a whole number of at least `least`."""
    text = options.get(key)
    if text is None:
        return default
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise InstanceError(
            f"option {key!r} of {name} must be a whole number of at least {least}, not {text!r}"
        )
    return value
