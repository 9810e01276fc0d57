"""The cache of compiled kernels: named by what kernels are made of, and by nothing else."""

from __future__ import annotations

import ast
import copy
import errno
import importlib
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Barrier
from typing import Any, ClassVar

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock

from standout.core.compile import Struct, bare_code, cache, dispatch, dispatcher, kernel, part
from standout.core.compile.turns import Turn
from standout.core.compile.versions import FORCE_PLAIN, WARNING
from standout.core.state import new_state
from standout.core.typing import FloatRows, Floats

PACKAGE = Path(cache.__file__).parents[2]
needs_compiler = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="a plain kernel has no compiled code"
)


def test_every_file_that_names_the_cache_is_there() -> None:
    """One that was renamed would no longer count, and its kernels could go stale."""
    assert set(cache.SHARED) <= set(cache.kernel_code())


def test_constants_of_kernels_are_in_files_that_name_the_cache() -> None:
    """A number that a kernel uses, from a file that does not count, could go stale."""
    hashed = set(cache.kernel_code())
    checked = 0
    for name in hashed:
        tree = ast.parse((PACKAGE / name).read_text("utf-8"))
        module = importlib.import_module(
            "standout." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        )
        imported = {
            alias.asname or alias.name: node.module or ""
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in tree.body:
            marks = [ast.unparse(m).split("(")[0] for m in getattr(node, "decorator_list", [])]
            if not any(cache.DEFINES.match(f"@{m}(") for m in marks):
                continue
            used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            for constant in used & imported.keys():
                if isinstance(getattr(module, constant, None), int | float):
                    path = imported[constant].removeprefix("standout.").replace(".", "/")
                    assert {f"{path}.py", f"{path}/__init__.py"} & hashed, (name, constant)
                    checked += 1
    assert checked > 50


def test_comments_do_not_count() -> None:
    code = 'X = 1\n\n\ndef f():\n    """Says."""\n    return X\n'
    other = '# why\nX = 1  # here\ndef f():\n    """Says more."""\n    return X\n'
    assert bare_code(code) == bare_code(other)
    assert bare_code(code) != bare_code(code.replace("1", "2"))


@needs_compiler
def test_another_installation_shares_the_cache(tmp_path: Path) -> None:
    """Nothing in the cache depends on where the package lies."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import standout\nfrom standout.core import order\n"
        "import numpy as np\n"
        "assert standout.__file__.startswith(sys.argv[1])\n"
        "order.quickselect(np.arange(3.0), 3, 1)\n"
        "print(sum(order.quickselect.entrance.stats.cache_hits.values()))\n"
    )
    other = tmp_path / "elsewhere"
    (other / "standout").parent.mkdir()
    subprocess.run(["cp", "-r", str(PACKAGE), str(other / "standout")], check=True)

    def hits(place: Path) -> int:
        done = subprocess.run(
            [sys.executable, "-c", program, str(place)], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    hits(PACKAGE.parent)
    assert hits(other) == 1


@dataclass(frozen=True, eq=False)
class Numbers(Struct):
    STATIC: ClassVar[tuple[str, ...]] = ("kind",)
    DETAILS: ClassVar[tuple[str, ...]] = ("kind",)
    kind: int
    flag: bool
    scale: float
    rows: FloatRows
    flat: Floats


@part()
def _first(numbers: Numbers, place: int) -> float:
    return numbers.scale * numbers.flat[place]


@part()
def _second(numbers: Numbers, place: int) -> float:
    return numbers.rows[1, place] if numbers.flag else -1.0


_either = dispatch(lambda numbers: (_first, _second)[numbers.kind])


@kernel("kind")
def either(numbers: Numbers, place: int) -> float:
    return float(_either(numbers, place)) + 100 * numbers.kind


@kernel("kind")
def both(numbers: Numbers, others: Numbers) -> float:
    return float(10 * _either(numbers, 0) + _either(others, 1))


def make(kind: int = 0) -> Numbers:
    return Numbers(kind, True, 2.0, np.arange(6.0).reshape(2, 3), np.array([5.0, 6.0, 7.0]))


def test_kernels_read_fields_and_take_the_static_choice() -> None:
    assert either(make(), 1) == 12.0
    assert either(make(1), 2) == 105.0
    assert either(replace(make(1), flag=False), 2) == 99.0


def test_one_kernel_takes_two_choices() -> None:
    """Although what is chosen sees no difference between its arguments."""
    assert both(make(0), make(1)) == 104.0
    assert both(make(1), make(0)) == 42.0


@needs_compiler
def test_only_what_is_chosen_is_compiled() -> None:
    either(make(), 0)
    assert {str(signature[0]) for signature in either.signatures} <= {"Numbers(0,)", "Numbers(1,)"}


@kernel()
def blind(numbers: Numbers, place: int) -> float:
    return float(_either(numbers, place))


@kernel()
def total(numbers: Numbers) -> float:
    return float(numbers.scale + numbers.flat[0])


@needs_compiler
def test_a_kernel_is_compiled_once_for_what_it_does_not_see() -> None:
    assert total(make(0)) == total(make(1)) == 7.0
    assert len(total.signatures) == 1
    with pytest.raises((TypeError, numba.core.errors.TypingError), match="must say so"):
        blind(make(), 0)


def searches(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Filled with the arguments of calls for which compiled code is looked for in Python."""
    found: list[tuple[Any, ...]] = []
    ours = dispatcher._Kernel._compile_for_args

    def noted(self: Any, *args: Any) -> Any:
        if self is kernel:
            found.append(args)
        return ours(self, *args)

    monkeypatch.setattr(dispatcher._Kernel, "_compile_for_args", noted)
    return found


@needs_compiler
@pytest.mark.parametrize("name", ["total", "either"])
def test_a_second_call_finds_its_code_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the kernel sees all of a struct (`either`) or not."""
    own = kernel(*globals()[name].sees)(globals()[name].py_func)
    searched = searches(own, monkeypatch)
    rest = (1,) if name == "either" else ()
    for kind in (0, 1, 0, 1, 1, 0):
        assert own(make(kind), *rest) == globals()[name](make(kind), *rest)
    assert len(searched) == 2


@needs_compiler
def test_threads_that_call_first_together_do_not_get_into_each_others_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = kernel()(total.py_func)
    together = Barrier(8)

    def call(kind: int) -> float:
        together.wait()
        return float(own(make(kind % 2)))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(call, range(8))) == {7.0}
    searched = searches(own, monkeypatch)
    assert own(make(0)) == own(make(1)) == 7.0
    assert not searched


_PLAYED = """
from standout.core.methods import METHODS
from standout.simulation import default_problem, parse_instance
from standout.simulation.runs import watch
family = parse_instance("wine")
print(watch(family, default_problem(family), METHODS["random"], 3, budget=20_000).to_dict())
"""


@needs_compiler
def test_an_untested_numba_gives_the_same_results_and_one_line_of_warning() -> None:
    """With the public API alone, from an empty cache and from a filled one."""

    def played(plain: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", _PLAYED],
            env={**os.environ, FORCE_PLAIN: plain},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout, done.stderr

    usual = played("0")
    assert "outliers" in usual[0]
    assert usual[1] == ""
    assert played("1") == played("1") == (usual[0], f"{WARNING}\n")


_KEPT = """
import sys
import numpy as np
from standout.core.methods import METHODS
from standout.core.order import kth_largest
from standout.core.run import Run
from standout.simulation import default_problem, parse_instance
from standout.simulation.runs import watch

family, method = parse_instance("wine"), METHODS["focus"]
problem = default_problem(family)
print(watch(family, problem, method, 1, on_slice=lambda pulls, undecided: None).pulls)
run = Run(problem, list("abcde"), method, np.random.default_rng(2))
for _ in range(40):
    arm = run.ask()
    run.tell(arm, float(arm < "c"))
print(arm)
print(kth_largest(np.arange(3.0), 3, 1, 0.0, np.zeros(3)))
print("numba.typed.dictimpl" in sys.modules)
"""


@needs_compiler
def test_kept_kernels_run_where_nothing_is_compiled() -> None:
    """Numba's registries stay unloaded then; arrays, structs and generators still come through."""

    def printed() -> list[str]:
        words = [sys.executable, "-c", _KEPT]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()

    before, after = printed(), printed()
    assert after[:-1] == before[:-1]
    assert after[-1] == "False"


def test_copies_have_a_table_of_their_own() -> None:
    first = make()
    assert either(first, 0) == 10.0
    for other in (copy.deepcopy(first), copy.copy(first), pickle.loads(pickle.dumps(first))):
        assert other.address != first.address
        assert either(other, 0) == 10.0
    changed = replace(first, flat=np.array([1.0, 1.0, 1.0]))
    assert (either(changed, 0), either(first, 0)) == (2.0, 10.0)


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((3, 2)).T,
        np.zeros((2, 3), dtype=np.float32),
        np.zeros(6),
        np.zeros((2, 6))[:, ::2],
    ],
)
def test_arrays_that_kernels_would_misread_are_refused(rows: np.ndarray) -> None:
    with pytest.raises(TypeError, match="rows must be a C-contiguous 2-dimensional float64 array"):
        replace(make(), rows=rows).address  # noqa: B018


@needs_compiler
def test_a_kernel_is_told_of_a_struct_it_cannot_read() -> None:
    with pytest.raises(TypeError, match="rows must be"):
        either(replace(make(), rows=np.zeros((3, 2)).T), 0)


def test_a_state_is_what_kernels_expect() -> None:
    assert new_state(3, (1.0,), (2.0,)).address > 0
    assert new_state(3, (1.0, -1.0), (2.0, 2.0), n_moments=2).address > 0


@needs_compiler
def test_a_full_disk_keeps_no_code_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def save(*_: Any) -> None:
        tried.append(1)
        raise OSError(errno.EFBIG, "File too large")

    @part()
    def double(value: float) -> float:
        return 2.0 * value

    @kernel()
    def quadruple(value: float) -> float:
        return 2.0 * double(value)

    monkeypatch.setattr(IndexDataCacheFile, "load", lambda *_: None)
    monkeypatch.setattr(IndexDataCacheFile, "save", save)
    assert quadruple(2.0) == 8.0
    assert len(tried) == 2


TWICE = """
import sys
from standout.core.compile import kernel

@kernel()
def total(n):
    found = 0.0
    for i in range(n):
        found += i ** 0.5
    return found

sys.stdin.readline()
assert total(4) > 4
print(len(total._cache_misses))
"""


@needs_compiler
def test_processes_that_start_together_compile_once(tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(TWICE)
    started = [
        subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
        )
        for _ in range(3)
    ]  # fmt: skip
    for one in started:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    missed = [int(one.communicate()[0]) for one in started]
    assert sorted(missed) == [0, 0, 1]
    assert not [*tmp_path.rglob("*.lock")]


def test_a_turn_is_waited_for(tmp_path: Path) -> None:
    first, second = Turn(), Turn()
    first.begin(tmp_path, "a kernel")
    other = Turn()
    other.begin(tmp_path, "another kernel")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.begin, tmp_path, "a kernel")
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.3)
        first.end()
        waiting.result()
    for turn in (second, second, other):
        turn.end()


HOLD = """
import sys, time
from pathlib import Path
from standout.core.compile.turns import Turn
turn = Turn()
turn.begin(Path(sys.argv[1]), "a kernel")
print("mine", flush=True)
time.sleep(600)
"""


def test_a_killed_process_gives_its_turn_up(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "mine\n"
        mine = Turn()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(mine.begin, tmp_path, "a kernel")
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.3)
            child.kill()
            waiting.result()
        mine.end()


@needs_compiler
def test_no_thread_ends_the_turn_of_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel()
    def plus_one(n: float) -> float:
        return n + 1.0

    locked = []
    turn: Any = plus_one._cache.turn  # type: ignore[attr-defined]
    end = turn.end

    def ended() -> None:
        locked.append(global_compiler_lock.is_locked())
        end()

    monkeypatch.setattr(turn, "end", ended)
    assert (plus_one(1), plus_one(1.0)) == (2.0, 2.0)
    assert len(locked) >= 2
    assert all(locked)


def test_without_a_folder_there_is_no_turn(tmp_path: Path) -> None:
    Turn().begin(tmp_path / "missing", "a kernel")
