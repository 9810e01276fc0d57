"""The cache folder of compiled kernels.

Numba's own cache checks only the file of the compiled function, not the files of the kernels that
it calls. Our folder is named after the code and the constants of all files that define kernels. A
change to any of them starts a new folder; a change to a comment does not; another installation of
the same version shares it.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

import numba

from standout.core.compile.versions import IS_PRIVATE_API_USED

_PACKAGE = Path(__file__).resolve().parents[2]
_KEPT_FOLDERS = 8
DEFINES = re.compile(r"^@(kernel|part|shared_part|hot_part|inlined|rule)\(", re.MULTILINE)
SHARED = tuple(
    f"core/{name}.py"
    for name in (
        "compile/dispatcher",
        "compile/linking",
        "compile/plain",
        "compile/structs",
        "crossing/record",
        "kinds",
        "population/population",
        "state",
        "typing",
    )
)
"""Further files that affect compiled kernels: the compiler and the constants."""


def kernel_code() -> dict[str, str]:
    """The files of the core and the simulator that define kernels."""
    found: dict[str, str] = {}
    for path in [*(_PACKAGE / "core").rglob("*.py"), *(_PACKAGE / "simulation").glob("*.py")]:
        name, text = path.relative_to(_PACKAGE).as_posix(), path.read_text("utf-8")
        if name in SHARED or DEFINES.search(text):
            found[name] = text
    return found


def _digest(code: dict[str, str]) -> str:
    digest = hashlib.sha256(
        f"{numba.__version__} {IS_PRIVATE_API_USED} {numba.config.BOUNDSCHECK}".encode()
    )
    for name, text in sorted(code.items()):
        digest.update(f"{name}\n{text}\n".encode())
    return digest.hexdigest()[:16]


def bare_code(text: str) -> str:
    """A file's code without comments, docstrings and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
    return ast.dump(tree)


def _cache_folder() -> Path:
    """The folder for this version's compiled code.

    Parsing the code at every start would be slow, so a small file caches the answer for the current
    contents of the files.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "standout"
    code = kernel_code()
    known = base / "names" / _digest(code)
    with suppress(OSError):
        if name := known.read_text("ascii"):
            return base / name
    name = "kernels-" + _digest({file: bare_code(text) for file, text in code.items()})
    with suppress(OSError):
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(name, "ascii")
    return base / name


def _forget_old_folders(keep: Path) -> None:
    """Remove all but the newest few folders."""
    try:
        others = [path for path in keep.parent.glob("kernels-*") if path != keep]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return
    for path in others[_KEPT_FOLDERS:]:
        shutil.rmtree(path, ignore_errors=True)


def prepare_folder() -> Path | None:
    """Create the cache folder; None if this is impossible, or not needed."""
    if numba.config.DISABLE_JIT:
        return None
    folder = _cache_folder()
    try:
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if fresh:
        _forget_old_folders(folder)
    return folder
