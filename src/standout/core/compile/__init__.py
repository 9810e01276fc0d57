"""Compilation of kernels: all use of Numba in the project is in this package.

Modules with kernels import the decorators and `Struct` from here and nothing from Numba, so a new
version of Numba affects only the files of this folder.
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
    shared_part,
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
    "shared_part",
]
