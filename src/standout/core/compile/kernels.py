"""The `kernel` decorator: Numba compilation with a cache that is never stale.

Numba's own cache looks only at the file of the compiled function, not at the
files of the kernels it calls, and belongs to one place of installation. Ours is
a folder named after the code of all files that define kernels and their
constants: a change to any of them starts a new folder, a change to their comments
does not, and another installation of the same version finds it. With
`NUMBA_DISABLE_JIT=1` a kernel is the plain Python function.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.typing.templates import AbstractTemplate, infer_global

from standout.core.compile.linking import PartCompiler, PartFiles
from standout.core.compile.loading import put_off_linear_algebra, tell_of_waiting
from standout.core.compile.structs import StructType
from standout.interruption import put_off

F = TypeVar("F", bound=Callable[..., Any])

IS_COMPILED = not numba.config.DISABLE_JIT
"""Whether kernels are compiled in this process."""

_PACKAGE = Path(__file__).resolve().parents[2]
_KEPT_FOLDERS = 8
_DEFINES = re.compile(r"^@(kernel|part|hot_part|inlined|rule)\(", re.MULTILINE)
_SHARED = tuple(
    f"core/{name}.py"
    for name in (
        "compile/kernels",
        "compile/linking",
        "compile/structs",
        "kinds",
        "state",
        "typing",
    )
)
"""What kernels are made with, and where their constants are, besides their own files."""
_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}


def _kernel_code() -> dict[str, str]:
    """The files of the core and the simulator that say what kernels are."""
    found: dict[str, str] = {}
    for path in [*(_PACKAGE / "core").rglob("*.py"), *(_PACKAGE / "simulation").glob("*.py")]:
        name, text = path.relative_to(_PACKAGE).as_posix(), path.read_text("utf-8")
        if name in _SHARED or _DEFINES.search(text):
            found[name] = text
    return found


def _digest(code: dict[str, str]) -> str:
    digest = hashlib.sha256(f"{numba.__version__} {numba.config.BOUNDSCHECK}".encode())
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
    """Where this version's compiled code belongs.

    To take the code apart at every start would take too long, so that a small file
    remembers the answer for the files as they are.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "standout"
    code = _kernel_code()
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
    """Leave the newest few folders; older ones belong to files that have changed since."""
    try:
        others = [path for path in keep.parent.glob("kernels-*") if path != keep]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return
    for path in others[_KEPT_FOLDERS:]:
        shutil.rmtree(path, ignore_errors=True)


def _prepare() -> Path | None:
    """The folder to cache in; None where none can be made, or none is needed."""
    if not IS_COMPILED:
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


_FOLDER = _prepare()


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Tells Numba where the compiled code of a kernel is kept, and that it is never stale."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._module, self._py_file = function.__module__, file

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(_FOLDER)

    def get_source_stamp(self) -> str:
        # The folder's name speaks for the core and the simulator.
        if self._module.startswith(("standout.core.", "standout.simulation.")):
            return ""
        return hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()

    def get_disambiguator(self) -> str:
        return self._module


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _Implementation

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled code of a signature; None if it has to be compiled now.

        Numba would first import and register all that it can compile, a quarter of the time
        of a short command. Code that is there already needs none of it but the runtime, by
        which it takes arrays and generators from Python.
        """
        rtsys.initialize(context)
        found = self._load_overload(signature, context)
        if found is None:
            tell_of_waiting()
        return found

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep compiled code; a full disk keeps none, and stops nothing."""
        with suppress(OSError):
            super().save_overload(signature, code)


class _PartLocator(_Locator):
    """The code of a part is kept apart from that of its entrance for Python."""

    def get_disambiguator(self) -> str:
        return f"{self._module}.part"


class _PartImplementation(PartFiles):
    _locator_classes = (_PartLocator,)


class _PartCache(_Cache):
    _impl_class = _PartImplementation


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """Numba's dispatcher, but one that compiles less.

    A number that is known beforehand is a number like any other (Numba would compile
    a function anew for each constant that it is called with), and of a struct's details
    a kernel is compiled only for those that it sees.
    """

    sees: tuple[str, ...] = ()
    cache_class: type[_Cache] = _Cache
    compiler_class: type[Compiler] = Compiler

    def _compilation_chain_init_hook(self) -> None:
        # In place of Numba's search for extensions by others: kernels use none.
        put_off_linear_algebra()

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """The compiled code for these arguments, found at once the next time.

        A call from Python knows a struct by its whole type, whatever the kernel sees
        of it: without its own entry every call would come here, ten times as slow.
        """
        with put_off():
            found = super()._compile_for_args(*args, **kws)
        whole = tuple(CPUDispatcher.typeof_pyval(self, value) for value in args)
        mine = object()
        # Twice the same entry would be none: the one that is there may be Numba's own, or
        # another thread's.
        if whole not in self.overloads and self._known.setdefault(whole, mine) is mine:
            self._insert([kind._code for kind in whole], found, False)
        return found

    def add_overload(self, cres: Any) -> None:
        """Note compiled code; its parts get the objects they print now that they have a place."""
        super().add_overload(cres)
        for environment in cres._find_referenced_environments():
            cres.library.codegen.set_env(environment.env_name, environment)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a call with arguments of these types is."""
        plain = {name: self._plain(kind) for name, kind in kws.items()}
        return super().get_call_template([self._plain(kind) for kind in args], plain)

    def typeof_pyval(self, value: Any) -> Any:
        """The type of an argument that comes from Python."""
        return self._plain(super().typeof_pyval(value))

    def _plain(self, kind: Any) -> Any:
        return kind.seen(self.sees) if isinstance(kind, StructType) else types.unliteral(kind)


class _Part(_Kernel):
    """A kernel that runs within others; whoever calls it from Python gets an entrance made."""

    cache_class = _PartCache
    compiler_class = PartCompiler

    def __call__(self, *args: Any) -> Any:
        if not hasattr(self, "entrance"):
            self.entrance = _compile(_Kernel, self.py_func, self.sees)
        return self.entrance(*args)

    def seeing(self, names: set[str]) -> _Part:
        """The same part, but compiled for each value of these detailed fields apart."""
        sees = tuple(sorted({*self.sees, *names}))
        if len(sees) == len(self.sees):
            return self
        if sees not in self._seeing:
            self._seeing[sees] = _compile(_Part, self.py_func, sees, **self._options)
        found: _Part = self._seeing[sees]
        return found


def kernel(*sees: str) -> Callable[[F], F]:
    """Compile a function in nopython mode, cached on disk, releasing the GIL.

    `sees`: the detailed static fields of a `Struct` that it, or what it calls,
    dispatches on. Without reference counts: a kernel must not make arrays (views are
    fine).
    """
    return lambda function: _compile(_Kernel, function, sees)


def part(*sees: str) -> Callable[[F], F]:
    """A kernel that is called by kernels: cheaper to compile, slow to call from Python."""
    return lambda function: _compile(_Part, function, sees, no_cpython_wrapper=True)


def hot_part(*sees: str) -> Callable[[F], F]:
    """A part that is called so often that the call itself counts: copied into its callers."""
    return lambda function: _compile(
        _Part, function, sees, no_cpython_wrapper=True, forceinline=True
    )


def inlined(*sees: str) -> Callable[[F], F]:
    """A kernel that becomes part of the code of those that call it.

    For what is short itself but stands for much: the compiler would go through all
    that it calls once more.
    """
    return lambda function: _compile(_Kernel, function, sees, inline="always")


def _compile(
    kind: type[_Kernel],
    function: F,
    sees: tuple[str, ...],
    inline: str = "never",
    **options: bool,
) -> F:
    if not IS_COMPILED:
        return function
    compiled = kind(
        function,
        targetoptions={**_OPTIONS, **options, "inline": inline},
        pipeline_class=kind.compiler_class,
    )
    compiled.sees, compiled._known = sees, {}
    compiled._seeing, compiled._options = {}, options
    if _FOLDER is not None:
        compiled._cache = kind.cache_class(function)
    made: F = compiled
    return made


def is_kernel(value: object) -> bool:
    """Whether it was made by one of these decorators, compiled or not."""
    return isinstance(value, _Kernel)


class _Noting:
    """The type of a struct that notes which of its fields are looked at."""

    def __init__(self, kind: StructType) -> None:
        self._kind = kind
        self.looked_at: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.looked_at.add(name)
        return getattr(self._kind, name)


def dispatch(select: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A function for kernels that calls the part `select(spec)`, `spec` being its first argument.

    `select` looks only at static fields of a `Struct`; it is asked when a caller is
    compiled, so that only what it gives gets compiled.
    """

    def call(spec: Any, *rest: Any) -> Any:
        return select(spec)(spec, *rest)

    class Chosen(AbstractTemplate):  # type: ignore[misc]
        """What a call is, by the type of its first argument."""

        key = call

        def generic(self, args: Any, kws: Any) -> Any:
            spec: Any = _Noting(args[0])
            chosen: Any = select(spec)
            # Numba finds the code again by the types of its arguments alone.
            self._part = chosen.seeing(spec.looked_at & {*args[0].cls.DETAILS})
            return self._part._type.get_call_type(self.context, args, kws)

        def get_impl_key(self, sig: Any) -> Any:
            return self._part.get_overload(sig.args)

    if IS_COMPILED:
        infer_global(call, types.Function(Chosen))
    return call
