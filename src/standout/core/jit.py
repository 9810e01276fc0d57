"""The `kernel` decorator: Numba compilation with a cache that is never stale.

Numba's own cache looks only at the file of the compiled function, not at the
files of the kernels it calls. The compiled code is therefore kept in a folder
named after the contents of all files that define kernels and of what these
import; a change to any of them starts a new folder. With `NUMBA_DISABLE_JIT=1` a
kernel is the plain Python function.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parents[1]
_KEPT_FOLDERS = 4
_DEFINES = re.compile(r"^@(array_)?kernel$", re.MULTILINE)
_IMPORTS = re.compile(r"^\s*from standout\.([\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NAME = re.compile(r"\w+")


def _kernel_code() -> dict[str, str]:
    """The files of the core and the simulator that define kernels, and what they import."""
    found: dict[str, str] = {}
    files = [*(_PACKAGE / "core").rglob("*.py"), *(_PACKAGE / "simulation").glob("*.py")]
    waiting = [path for path in files if _DEFINES.search(path.read_text("utf-8"))]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(_PACKAGE).as_posix()
        if name in found or not path.is_file():
            continue
        found[name] = path.read_text("utf-8")
        for module, names in _IMPORTS.findall(found[name]):
            here = _PACKAGE.joinpath(*module.split("."))
            waiting += [here.with_suffix(".py"), here / "__init__.py"]
            waiting += [here / f"{part}.py" for part in _NAME.findall(names)]
    return found


def _cache_folder() -> Path:
    digest = hashlib.sha256(f"{numba.__version__} {numba.config.BOUNDSCHECK}".encode())
    for name, code in sorted(_kernel_code().items()):
        digest.update(f"{name}\n{code}\n".encode())
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
