"""The base of rules. A rule is a kernel that chooses the arms to pull next."""

from __future__ import annotations

import inspect
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from standout.core.compile import bare_code, is_kernel, part
from standout.core.state import Spec, State
from standout.errors import MethodError

Choose = Callable[[Spec, State, Any], int]
_OURS = "standout."
_choices: dict[int, Choose] = {}


@dataclass(frozen=True)
class Rule:
    """A rule and the number for which kernels are compiled; made by `rule`.

    It is pickled as the name of its module, so other processes must be able to import that module.
    """

    choose: Choose
    number: int
    module: str
    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rule by its module and name."""
        return _find, (self.module, self.name)


def rule(*sees: str) -> Callable[[Choose], Rule]:
    """Make `choose(spec, state, rng)` a rule.

    `choose` writes the indexes of the arms to pull into `state.chosen`, each once, and returns
    their number. `standout.core.state` describes `spec` and `state`; `rng` is a
    `numpy.random.Generator`. The function is compiled, so it may use numbers and arrays only. All
    functions that it calls must be kernels of the same file or package.

    Args:
        sees: The detailed static fields that it reads (`standout.core.compile.part`).

    Raises:
        MethodError: If `choose` is not in a file, or uses kernels of another package.
    """

    def make(choose: Choose) -> Rule:
        number = _number(choose)
        made = part(*sees)(choose)
        known = _choices.setdefault(number, made)
        if (known.__module__, known.__name__) != (choose.__module__, choose.__name__):
            raise MethodError(f"{_full_name(choose)} has the number of another rule; rename it")
        _choices[number] = made
        return Rule(made, number, choose.__module__, choose.__name__)

    return make


def rule_of(number: int) -> Choose:
    """The kernel of the rule with this number."""
    return _choices[number]


def _full_name(choose: Choose) -> str:
    return f"{choose.__module__}.{choose.__name__}"


def _find(module: str, name: str) -> Rule:
    found = getattr(import_module(module), name)
    assert isinstance(found, Rule)
    return found


def _number(choose: Choose) -> int:
    """A number that identifies the rule; for rules of other packages it also depends on their code.

    The cache folder depends on the code of our own kernels only, and compiled code in it on this
    number.
    """
    text = _full_name(choose)
    if not choose.__module__.startswith(_OURS):
        text += "".join(bare_code(path.read_text("utf-8")) for path in _files_of(choose))
        _check_neighbours(choose)
    return zlib.crc32(text.encode())


def _files_of(choose: Choose) -> list[Path]:
    """The file of a rule, or all files of its package."""
    file = Path(inspect.getfile(choose))
    if not file.is_file():
        raise MethodError(
            f"the rule {_full_name(choose)} must be written in a file that can be imported: "
            "what is compiled of it is kept, and must be known to be of the same code"
        )
    package = choose.__module__.partition(".")[0]
    if package == choose.__module__ and file.name != "__init__.py":
        return [file]
    folder = Path(inspect.getfile(sys.modules[package])).parent
    return sorted(folder.rglob("*.py"))


def _check_neighbours(choose: Choose) -> None:
    package = choose.__module__.partition(".")[0]
    for value in choose.__globals__.values():
        home = getattr(value, "__module__", "")
        if is_kernel(value) and not home.startswith((f"{package}.", _OURS)) and home != package:
            raise MethodError(
                f"the rule {_full_name(choose)} uses a kernel of {home}: put both into one file "
                "or package, so that a change to either is seen"
            )
