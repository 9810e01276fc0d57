"""The decorators of kernels: `kernel`, `part`, `shared_part`, `hot_part`, `inlined`, `dispatch`.

With `NUMBA_DISABLE_JIT=1` a kernel is the plain Python function. Otherwise it is compiled
by `dispatcher.py` where the version of Numba is one that was tested, and else by
`plain.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numba

from standout.core.compile.versions import IS_PRIVATE_API_USED, WARNING

F = TypeVar("F", bound=Callable[..., Any])

IS_COMPILED = not numba.config.DISABLE_JIT
"""Whether kernels are compiled in this process."""

if IS_PRIVATE_API_USED:
    from standout.core.compile import dispatcher as _compiler
else:
    from standout.core.compile import plain as _compiler  # type: ignore[no-redef]

    if IS_COMPILED:
        logging.getLogger("standout").warning(WARNING)


def _compile(function: F, sees: tuple[str, ...], kind: str = "kernel", **options: Any) -> F:
    if not IS_COMPILED:
        return function
    made: F = _compiler.compile_function(function, sees, kind, **options)
    return made


def kernel(*sees: str) -> Callable[[F], F]:
    """Compile a function in nopython mode, cached on disk, releasing the GIL.

    A kernel must not make arrays (views are fine): reference counts are not kept.

    Args:
        sees: The detailed static fields of a `Struct` that the function, or what it calls,
            dispatches on.
    """
    return lambda function: _compile(function, sees)


def part(*sees: str) -> Callable[[F], F]:
    """A kernel that is called by kernels: cheaper to compile, slow to call from Python."""
    return lambda function: _compile(function, sees, kind="part")


def shared_part(*sees: str) -> Callable[[F], F]:
    """A part that is compiled once for all kernels that call it: for large ones with many callers.

    It must be known in its module by its own name. A call costs a little more than that of a part,
    because nothing of it is copied into the caller.
    """
    return lambda function: _compile(function, sees, kind="shared")


def hot_part(*sees: str) -> Callable[[F], F]:
    """A part that is called so often that the call itself counts: copied into its callers."""
    return lambda function: _compile(function, sees, kind="part", forceinline=True)


def inlined(*sees: str) -> Callable[[F], F]:
    """A kernel whose code becomes part of its callers before types are inferred.

    For functions that are short themselves but call much: the compiler would go
    through everything they call once more.
    """
    return lambda function: _compile(function, sees, inline="always")


def dispatch(select: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A function for kernels that calls the part `select(spec)`, `spec` being its first argument.

    `select` looks only at static fields of a `Struct`. It is asked when a caller is
    compiled, so only the part that it returns gets compiled.
    """

    def call(spec: Any, *rest: Any) -> Any:
        return select(spec)(spec, *rest)

    if IS_COMPILED:
        _compiler.register_choice(call, select)
    return call


def is_kernel(value: object) -> bool:
    """Whether one of these decorators compiled it."""
    return hasattr(value, "sees") and hasattr(value, "py_func")
