"""How compiled functions come together: parts within their callers, shared parts beside them.

Numba prepares every compiled function to run: it links all callees, optimises, translates to
machine code, and repeats this for each caller up to the one that Python calls. A part never runs by
itself, so all this is done once, for the kernel that contains it. A shared part is translated once,
alone, and the machine code of its callers refers to it by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part and of all that it calls, to be linked into kernels."""

    codegen = SimpleNamespace(set_env=lambda name, environment: None)
    """What Numba asks to note where a function keeps its objects, once it runs."""

    def finalize(self) -> None:
        """Finish the library; nothing can be added afterwards."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Null, because a part cannot run by itself."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Its name and code, as `read` takes them."""
        return self.name, self._get_module_for_linking().as_bitcode()

    @classmethod
    def read(cls, codegen: Any, kept: tuple[str, bytes]) -> PartLibrary:
        """What was kept in a file."""
        name, code = kept
        library = cls(codegen, name)
        library._final_module = library._shared_module = binding.parse_bitcode(code)
        library._finalized = True
        return library


class PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, but into a `PartLibrary`."""

    def compile_extra(self, func: Any) -> Any:
        """The compiled function."""
        codegen = self.state.targetctx.codegen()
        self.state.library = PartLibrary(codegen, func.__qualname__)
        return super().compile_extra(func)


class SharedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code of its own, which its callers find by name when they are made ready to run."""

    def _get_module_for_linking(self) -> Any:
        """Nothing, so that callers contain a reference only."""
        self._ensure_finalized()
        return binding.parse_assembly(str(self._codegen._create_empty_module(self.name)))

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Its name and code, as `read` takes them."""
        return self.name, self._get_compiled_object()

    @classmethod
    def read(cls, codegen: Any, kept: tuple[str, bytes]) -> SharedLibrary:
        """What was kept in a file."""
        name, code = kept
        library = cls(codegen, name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        return library


class SharedCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, but into a `SharedLibrary`."""

    def compile_extra(self, func: Any) -> Any:
        """The compiled function."""
        codegen = self.state.targetctx.codegen()
        self.state.library = SharedLibrary(codegen, func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class OtherCodeError(Exception):
    """Kept code refers to a shared part by a name that is not the part's name now."""


@dataclass(frozen=True)
class Needed:
    """A shared part that must be there before code that refers to it can be made ready.

    A reference to a name that does not exist would end the process.
    """

    module: str
    name: str
    sees: tuple[str, ...]
    arguments: tuple[Any, ...]
    symbol: str

    def __call__(self) -> None:
        """Load the part, or compile it.

        Raises:
            OtherCodeError: It was compiled again, under another name.
        """
        found = getattr(import_module(self.module), self.name).seeing({*self.sees})
        found.compile(self.arguments)
        if found.overloads[self.arguments].fndesc.mangled_name != self.symbol:
            raise OtherCodeError


class PartFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """How parts are written to files and read."""

    library: type[PartLibrary | SharedLibrary] = PartLibrary

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The part that was written."""
        kept, fndesc, environment, signature, objectmode, lifted, note, reload_init, envs = payload
        for function in reload_init:
            function()
        library = self.library.read(target_context.codegen(), kept)
        library._reload_init.update(reload_init)
        for each in envs:
            library.codegen.set_env(each.env_name, each)
        return CompileResult(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=target_context.get_executable(library, fndesc, environment),
            typing_error=None,
            type_annotation=note,
            library=library,
            call_helper=None,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            fndesc=fndesc,
            environment=environment,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=envs,
        )


class SharedFiles(PartFiles):
    """How shared parts are written to files and read."""

    library = SharedLibrary
