"""Compilation of kernels: everything in the project that touches Numba is in this package.

Modules that define kernels import the decorators and `Struct` from here and nothing from
Numba, so that a new version of Numba concerns the files of this folder alone.
"""

from standout.core.compile.cache import bare_code
from standout.core.compile.kernels import (
    IS_COMPILED,
    dispatch,
    hot_part,
    inlined,
    is_kernel,
    kernel,
    part,
)
from standout.core.compile.structs import Struct

__all__ = [
    "IS_COMPILED",
    "Struct",
    "bare_code",
    "dispatch",
    "hot_part",
    "inlined",
    "is_kernel",
    "kernel",
    "part",
]
