"""Kernels by way of Numba's public API, for untested versions.

Every kernel and part is a function of `numba.njit`, compiled for the whole type of a struct
and for each constant it is called with. The first start takes longer and calls from
Python are slower; the numbers that come out are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.extending import overload

from standout.core.compile.cache import prepare_folder

_FOLDER = prepare_folder()


@contextmanager
def _caching_in_our_folder() -> Iterator[None]:
    """Numba decides where to cache a function when it is decorated."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(_FOLDER or "")
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def compile_function(
    function: Callable[..., Any],
    sees: tuple[str, ...],
    kind: str = "kernel",
    inline: str = "never",
    **_: bool,
) -> Any:
    """The compiled function, with the arguments of `dispatcher.compile_function`."""
    options = {"nogil": True, "error_model": "numpy", "inline": inline}
    try:
        with _caching_in_our_folder():
            compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # A function without a file, or no folder to write to.
        compiled = numba.njit(**options)(function)
    compiled.sees = sees
    return compiled


def register_choice(call: Callable[..., Any], select: Callable[[Any], Any]) -> None:
    """Let kernels that call `call` run the part that `select` picks by their first argument."""

    @overload(call)
    def choose(spec: Any, *rest: Any) -> Callable[..., Any]:
        chosen = select(spec)

        def run(spec: Any, *rest: Any) -> Any:
            return chosen(spec, *rest)

        return run
