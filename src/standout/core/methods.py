"""The available methods, and the parsing of their names with options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from standout.core import rules
from standout.core.intervals.choice import INTERVALS, RANGES
from standout.core.method import Method
from standout.errors import MethodError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

DEFAULT_METHOD = "focus"
USEFUL_METHOD = "focus:goal=anytime"
"""The default where a budget or a promise may end a run before all is certain."""
GROUP = "standout.methods"
"""Entry points under which other packages offer methods."""
_NUMBERS = ("lambda", "epsilon", "batch", "growth", "scales", "rho")


def _built_in() -> dict[str, Method]:
    modules = [
        import_module(f"{rules.__name__}.{found.name}") for found in iter_modules(rules.__path__)
    ]
    methods = [method for module in modules for method in getattr(module, "METHODS", ())]
    methods.sort(key=lambda method: (method.name != DEFAULT_METHOD, method.name))
    return {method.name: method for method in methods}


METHODS: Mapping[str, Method] = _built_in()
"""The methods of this package, by name."""


def _offered() -> EntryPoints:
    """The methods of other packages; imported here because most commands do not need them."""
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def all_methods() -> dict[str, Method]:
    """The methods of this package and of other installed packages."""
    others = {point.name: point for point in _offered()}
    return {**METHODS, **{name: _load(others[name]) for name in sorted(set(others) - set(METHODS))}}


def find_method(name: str) -> Method:
    """The method of that name, from this package or another installed one."""
    if name in METHODS:
        return METHODS[name]
    for point in _offered().select(name=name):
        return _load(point)
    names = [*METHODS, *sorted(_offered().names - METHODS.keys())]
    raise MethodError(f"no method {name!r}; choose from {', '.join(names)}")


def _load(point: EntryPoint) -> Method:
    try:
        found = point.load()
    except Exception as error:
        raise MethodError(f"the method {point.name!r} of {point.value} fails: {error}") from error
    if not isinstance(found, Method) or found.name != point.name:
        raise MethodError(f"{point.value} is not a Method with the name {point.name!r}")
    return found


def parse_method(text: str) -> Method:
    """Read `roai-lucb` or `roai-lucb:lambda=2,epsilon=0.1,interval=mixture,batch=5`.

    >>> parse_method("random:batch=10").batch
    10
    """
    name, _, rest = text.strip().partition(":")
    method = find_method(name.strip().lower())
    options: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator:
            raise MethodError(f"method option {part!r} must look like batch=5")
        options[key] = value
    return with_options(method, options)


def with_options(method: Method, options: dict[str, str]) -> Method:
    """`method` with options given as texts."""
    known = (*_NUMBERS, "interval", "range", "goal")
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise MethodError(f"no method option {', '.join(unknown)}; choose from {', '.join(known)}")
    numbers = {key: _number(key, options[key]) for key in _NUMBERS if key in options}
    changes: dict[str, Any] = {}
    if ("lambda" in numbers) != ("epsilon" in numbers):
        raise MethodError("lambda and epsilon go together: e.g. roai-lucb:lambda=2,epsilon=0.1")
    if "lambda" in numbers:
        changes["subset"] = (numbers["lambda"], numbers["epsilon"])
    for name in ("batch", "scales"):
        if name in numbers:
            if numbers[name] != int(numbers[name]):
                raise MethodError(
                    f"{name} must be a whole number of at least 1, not {options[name]}"
                )
            changes[name] = int(numbers[name])
    for name in ("growth", "rho"):
        if name in numbers:
            changes[name] = numbers[name]
    for name, choices in (("interval", INTERVALS), ("range", RANGES)):
        if name in options:
            changes[name] = _pick(name, choices, options[name])
    if "goal" in options:
        changes |= _goal(method, options["goal"])
    if not method.is_robust and ("interval" in changes or "range" in changes):
        raise MethodError(f"{method.name} has an interval and a threshold of its own")
    return replace(method, **changes)


def _goal(method: Method, value: str) -> dict[str, Any]:
    if method.anytime is None:
        raise MethodError(f"{method.name} has no goal option; focus, combined and joint have")
    changes = {
        "certify": {"rule": method.plain.rule},
        "anytime": {"rule": method.anytime, "growth": 0.0},
    }
    found: dict[str, Any] = _pick("goal", changes, value)
    return found


def _number(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise MethodError(f"method option {key} must be a number, not {value!r}")
    return number


def _pick(what: str, choices: dict[str, Any], value: str) -> Any:
    if value not in choices:
        raise MethodError(f"no {what} {value!r}; choose from {', '.join(choices)}")
    return choices[value]


def default_method(*ends: object) -> str:
    """The method where none is named; `ends` are the budget and the promise, None if not given.

    Without an end the run goes on until all is certain, and so the earliest certificate counts.
    With one, the most useful answer at that point does.

    >>> default_method(None, None), default_method(200, None)
    ('focus', 'focus:goal=anytime')
    """
    return DEFAULT_METHOD if all(end is None for end in ends) else USEFUL_METHOD


def as_method(method: str | Method) -> Method:
    """A method unchanged, or read from its text."""
    return method if isinstance(method, Method) else parse_method(method)
