"""The `kernel` decorator: Numba compilation with a cache that is never stale.

Numba's own cache looks only at the file of the compiled function, not at the
files of the kernels it calls. The compiled code is therefore kept in a folder
named after the contents of all kernel files; a change to any of them starts a
new folder. With `NUMBA_DISABLE_JIT=1` a kernel is the plain Python function.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parents[1]
_KEPT_FOLDERS = 4


def _kernel_sources() -> list[Path]:
    """All files that may define kernels: the core and the simulator's loop."""
    return sorted([*(_PACKAGE / "core").rglob("*.py"), *(_PACKAGE / "simulation").glob("*.py")])


def _cache_folder() -> Path:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in _kernel_sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "standout" / f"kernels-{digest.hexdigest()[:16]}"


def _forget_old_folders(keep: Path) -> None:
    """Leave the newest few folders; older ones belong to files that have changed since."""
    try:
        others = [path for path in keep.parent.glob("kernels-*") if path != keep]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return
    for path in others[_KEPT_FOLDERS:]:
        shutil.rmtree(path, ignore_errors=True)


def _prepare() -> str:
    """The folder to cache in, or an empty text (Numba's own choice) where none can be made."""
    if numba.config.CACHE_DIR or numba.config.DISABLE_JIT:
        return str(numba.config.CACHE_DIR)
    folder = _cache_folder()
    try:
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    if fresh:
        _forget_old_folders(folder)
    return str(folder)


_FOLDER = _prepare()


def kernel(function: F) -> F:
    """Compile `function` in nopython mode, cached on disk, releasing the GIL.

    Without reference counts: a call that passes a State would otherwise count
    some seventy references up and down, which takes far longer than the work.
    A kernel must therefore not make arrays (views are fine); see `array_kernel`.
    """
    return _compile(function, counts_references=False)


def array_kernel(function: F) -> F:
    """A kernel that may make arrays, if only inside NumPy's own functions (a sort)."""
    return _compile(function, counts_references=True)


def _compile(function: F, counts_references: bool) -> F:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _FOLDER
    try:
        compiled: F = numba.njit(
            cache=True,
            nogil=True,
            error_model="numpy",
            forceinline=True,
            _nrt=counts_references,
        )(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled


def is_compiled_before() -> bool:
    """Whether kernels of this version have been compiled on this machine already."""
    return bool(_FOLDER) and any(Path(_FOLDER).rglob("*.nbi"))
