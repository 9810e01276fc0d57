"""Parts as intermediate code, which becomes machine code within their callers.

Numba prepares every compiled function to run: it links all callees, optimises, translates to
machine code, and repeats this for each caller up to the one that Python calls. A part never runs by
itself, so all this is done once, for the kernel that contains it.
"""

from __future__ import annotations

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


class PartFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """How parts are written to files and read."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The part that was written."""
        kept, fndesc, environment, signature, objectmode, lifted, note, reload_init, envs = payload
        for function in reload_init:
            function()
        library = PartLibrary.read(target_context.codegen(), kept)
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
