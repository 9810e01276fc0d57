"""Kernels through Numba's private API: less to compile, and a first start in half the time.

Used only with the versions of Numba named in `versions.py`.
"""

from __future__ import annotations

import hashlib
import logging
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.typing.templates import AbstractTemplate, infer_global

from standout.core.compile.cache import prepare_folder
from standout.core.compile.linking import (
    Needed,
    OtherCodeError,
    PartCompiler,
    PartFiles,
    SharedCompiler,
    SharedFiles,
)
from standout.core.compile.structs import StructType
from standout.core.compile.turns import Turn
from standout.interruption import put_off

_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_FOLDER = prepare_folder()
_LOGGER = logging.getLogger("standout")
_WAITING = "compiling what this method and noise need, once per version; some seconds"
_PAUSE = 10.0
"""Seconds without compilation after which the next one is announced again."""
_last_compilation = -math.inf


def _announce_compilation() -> None:
    """Report that a compilation has started, once for several in a row."""
    global _last_compilation
    before, _last_compilation = _last_compilation, time.monotonic()
    if _last_compilation - before < _PAUSE:
        return
    _LOGGER.info(_WAITING)
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        print(f"standout: {_WAITING}", file=sys.stderr, flush=True)


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Tells Numba where the compiled code of a kernel is, and that it is never stale."""

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

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.turn = Turn()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The cached code of a signature; None if it has to be compiled now.

        Numba would first import and register everything that it can compile, which takes a
        quarter of the time of a short command. Cached code needs only the runtime, which
        hands it arrays and generators from Python.
        """
        rtsys.initialize(context)
        found = self._read(signature, context)
        if found is None:
            _announce_compilation()
            found = self._wait(signature, context)
        return found

    def _wait(self, signature: Any, context: Any) -> Any:
        """What another process has compiled meanwhile; None if it is our turn."""
        key = self._index_key(signature, context.codegen())
        self.turn.begin(Path(self._cache_path), f"{self._impl.filename_base} {key}")
        return self._read(signature, context)

    def _read(self, signature: Any, context: Any) -> Any:
        """What is in the cache; None where there is nothing that fits the shared parts."""
        with suppress(OtherCodeError):
            return self._load_overload(signature, context)

    def save_overload(self, signature: Any, code: Any) -> None:
        """Write compiled code to the cache, if there is room for it."""
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

    def _wait(self, signature: Any, context: Any) -> Any:
        """None, because parts are quick, and compiled in the turn of a kernel."""
        return None


class _SharedLocator(_Locator):
    """The code of a shared part is kept apart from that of its entrance for Python."""

    def get_disambiguator(self) -> str:
        return f"{self._module}.shared"


class _SharedImplementation(SharedFiles):
    _locator_classes = (_SharedLocator,)


class _SharedCache(_Cache):
    _impl_class = _SharedImplementation


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """Numba's dispatcher, with less compilation.

    Numba would compile a function again for each constant argument, and for each value of a
    struct's static fields. Here a constant is an ordinary number, and a kernel is compiled only for
    the fields that it reads.
    """

    sees: tuple[str, ...] = ()
    cache_class: type[_Cache] = _Cache
    compiler_class: type[Compiler] = Compiler

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Compile for these arguments, and register the code for the next call.

        A call from Python looks its code up by the whole type of a struct. Without an entry
        for that type, beside the one for what the kernel sees, each call would come
        here, which takes ten times as long.
        """
        with put_off():
            found = super()._compile_for_args(*args, **kws)
        whole = tuple(CPUDispatcher.typeof_pyval(self, value) for value in args)
        mine = object()
        # Insert once: a duplicate, by Numba or by another thread, makes dispatch ambiguous.
        if whole not in self.overloads and self._known.setdefault(whole, mine) is mine:
            self._insert([kind._code for kind in whole], found, False)
        return found

    def compile(self, sig: Any) -> Any:
        """The code for a signature, compiled by this process or by another one."""
        # Numba's lock is held to the end, so that no thread ends the turn of another one.
        with global_compiler_lock:
            try:
                return super().compile(sig)
            finally:
                if isinstance(self._cache, _Cache):
                    self._cache.turn.end()

    def add_overload(self, cres: Any) -> None:
        """Register compiled code, and the objects that its parts print."""
        super().add_overload(cres)
        for environment in cres._find_referenced_environments():
            cres.library.codegen.set_env(environment.env_name, environment)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The type of a call with arguments of these types."""
        plain = {name: self._plain(kind) for name, kind in kws.items()}
        return super().get_call_template([self._plain(kind) for kind in args], plain)

    def typeof_pyval(self, value: Any) -> Any:
        """The type of an argument that comes from Python."""
        return self._plain(super().typeof_pyval(value))

    def _plain(self, kind: Any) -> Any:
        return kind.seen(self.sees) if isinstance(kind, StructType) else types.unliteral(kind)


class _Part(_Kernel):
    """A kernel that runs within others; a call from Python compiles an entry point first."""

    kind = "part"
    cache_class = _PartCache
    compiler_class = PartCompiler

    def __call__(self, *args: Any) -> Any:
        if not hasattr(self, "entrance"):
            self.entrance = compile_function(self.py_func, self.sees)
        return self.entrance(*args)

    def seeing(self, names: set[str]) -> _Part:
        """The same part, but compiled for each value of these detailed fields apart."""
        sees = tuple(sorted({*self.sees, *names}))
        if len(sees) == len(self.sees):
            return self
        if sees not in self._seeing:
            self._seeing[sees] = compile_function(self.py_func, sees, self.kind, **self._options)
        found: _Part = self._seeing[sees]
        return found


class _Shared(_Part):
    """A part with machine code of its own, which all its callers share."""

    kind = "shared"
    cache_class = _SharedCache
    compiler_class = SharedCompiler

    def add_overload(self, cres: Any) -> None:
        """Register compiled code, also for the callers that contain it."""
        super().add_overload(cres)
        function = self.py_func
        needed = Needed(
            function.__module__,
            function.__qualname__,
            self.sees,
            tuple(cres.signature.args),
            cres.fndesc.mangled_name,
        )
        cres.library._reload_init.add(needed)


def compile_function(
    function: Callable[..., Any],
    sees: tuple[str, ...],
    kind: str = "kernel",
    inline: str = "never",
    **options: bool,
) -> Any:
    """A dispatcher that compiles the function at its first call.

    Args:
        function: The function to compile.
        sees: The detailed static fields that it is compiled for.
        kind: "kernel"; "part" if kernels call it, and Python rarely does; "shared" for a part with
            machine code of its own.
        inline: "always" to make it part of its callers before types are inferred.
        options: Other options of Numba's.
    """
    made = {"kernel": _Kernel, "part": _Part, "shared": _Shared}[kind]
    own = {"inline": inline, "no_cpython_wrapper": kind != "kernel"}
    compiled = made(
        function,
        targetoptions={**_OPTIONS, **options, **own},
        pipeline_class=made.compiler_class,
    )
    compiled.sees, compiled._known = sees, {}
    compiled._seeing, compiled._options = {}, options
    if _FOLDER is not None:
        compiled._cache = made.cache_class(function)
    return compiled


class _Noting:
    """The type of a struct that records which of its fields are read."""

    def __init__(self, kind: StructType) -> None:
        self._kind = kind
        self.looked_at: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.looked_at.add(name)
        return getattr(self._kind, name)


def register_choice(call: Callable[..., Any], select: Callable[[Any], Any]) -> None:
    """Let kernels that call `call` run the part that `select` picks by their first argument."""

    class Chosen(AbstractTemplate):  # type: ignore[misc]
        """The type of a call, by the type of its first argument."""

        key = call

        def generic(self, args: Any, kws: Any) -> Any:
            spec: Any = _Noting(args[0])
            chosen: Any = select(spec)
            # Numba finds the code again by the types of its arguments alone.
            self._part = chosen.seeing(spec.looked_at & {*args[0].cls.DETAILS})
            return self._part._type.get_call_type(self.context, args, kws)

        def get_impl_key(self, sig: Any) -> Any:
            return self._part.get_overload(sig.args)

    infer_global(call, types.Function(Chosen))
