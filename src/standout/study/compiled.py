"""Kernels that Python calls often, without a look at the types of their arguments each time.

Numba finds the version of a kernel that fits its arguments in a fraction of a microsecond where
the kernel sees all details of a `Spec`, and in a fifth of a millisecond where it does not: as long
as all the rest of a small tell. What a version depends on is the spec alone, so that it is looked
up once per spec.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from standout.core import engine, threshold
from standout.core.jit import IS_COMPILED
from standout.study import kernels

F = TypeVar("F", bound=Callable[..., Any])


def direct(kernel: F) -> F:
    """The same kernel, for calls in which the types of all arguments follow from the first.

    Arrays must be C-contiguous and have the same dtype in every call.
    """
    if not IS_COMPILED:
        return kernel
    found: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def call(spec: Any, *rest: Any) -> Any:
        static = spec._numba_type_.static
        version = found.get(static)
        if version is None:
            version = found[static] = kernel._compile_for_args(spec, *rest)  # type: ignore[attr-defined]
        return version(spec, *rest)

    made: Any = call
    return made  # type: ignore[no-any-return]


observe_many = direct(kernels.observe_many)
begin_round = direct(engine.begin_round)
end_round = direct(engine.end_round)
update_threshold = direct(threshold.update_threshold)
