"""Shared parts: compiled once, for all kernels that call them, and never missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

pytestmark = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="a plain kernel has no compiled code"
)

_KERNELS = """
from standout.core.compile import kernel, part, shared_part


@part()
def tripled(value):
    return 3.0 * value


@shared_part()
def checked(value):
    if not value < FACTOR:
        raise ValueError("too large")
    return tripled(value)


@shared_part()
def twice_checked(value):
    return checked(value) + checked(value + 1.0)


@kernel()
def first(value):
    return 1.0 + checked(value)


@kernel()
def second(value):
    return twice_checked(value) - checked(value)
"""

_CALLS = """
import sys
sys.path.insert(0, sys.argv[1])
import kernels_to_share as kernels
for name in sys.argv[2:]:
    called = getattr(kernels, name)
    print(called(2.0))
    try:
        called(1000.0)
    except ValueError as error:
        print(error)
    print(sum(called.stats.cache_hits.values()))
print(len(kernels.checked.overloads))
"""


def write_kernels(folder: Path, factor: int = 100) -> None:
    text = _KERNELS.replace("FACTOR", str(factor))
    (folder / "kernels_to_share.py").write_text(text, "utf-8")


def call(folder: Path, *names: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _CALLS, str(folder), *names],
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("\n")[:-1]


def kept(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(f"cache/standout/kernels-*/*{pattern}*.nb?"))


FIRST = ["7.0", "too large"]
SECOND = ["9.0", "too large"]


def test_callers_share_the_code_also_across_processes(tmp_path: Path) -> None:
    write_kernels(tmp_path)
    assert call(tmp_path, "first") == [*FIRST, "0", "1"]
    codes = {path: path.read_bytes() for path in kept(tmp_path, "share.checked-")}
    assert len(codes) == 2  # the index and the code
    assert call(tmp_path, "second") == [*SECOND, "0", "1"]
    assert {path: path.read_bytes() for path in codes} == codes
    assert call(tmp_path, "second", "first") == [*SECOND, "1", *FIRST, "1", "1"]


@pytest.mark.parametrize("lost", ["share.checked-", "twice_checked-", ".shared.", "first-"])
def test_lost_code_is_compiled_again_with_all_that_refers_to_it(tmp_path: Path, lost: str) -> None:
    """A reference to code that is not there would end the process."""
    write_kernels(tmp_path)
    call(tmp_path, "first", "second")
    assert kept(tmp_path, lost)
    for path in kept(tmp_path, lost):
        path.unlink()
    for hits in "01":
        found = call(tmp_path, "first", "second")
        assert (found[:2], found[3:5]) == (FIRST, SECOND)
        assert hits == "0" or (found[2], found[5]) == ("1", "1")


def test_code_of_another_run_is_never_mixed_in(tmp_path: Path) -> None:
    """The shared part in the folder is one that its callers were not compiled with."""
    write_kernels(tmp_path)
    call(tmp_path, "first")
    callers = {path: path.read_bytes() for path in kept(tmp_path, "first-")}
    for path in kept(tmp_path, ".shared."):
        path.unlink()
    assert call(tmp_path, "second", "first")[:2] == SECOND
    for path, code in callers.items():
        path.write_bytes(code)
    assert call(tmp_path, "first", "second")[:2] == FIRST


def test_a_change_reaches_every_caller(tmp_path: Path) -> None:
    write_kernels(tmp_path)
    call(tmp_path, "first", "second")
    write_kernels(tmp_path, factor=2)
    done = subprocess.run(
        [sys.executable, "-c", _CALLS, str(tmp_path), "first"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ValueError: too large" in done.stderr


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    write_kernels(tmp_path)
    words = [sys.executable, "-c", _CALLS, str(tmp_path)]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    running = [
        subprocess.Popen([*words, *names], env=env, stdout=subprocess.PIPE, text=True)
        for names in (("first",), ("second",), ("first", "second"), ("second", "first"))
    ]
    for process in running:
        printed, _ = process.communicate()
        assert process.returncode == 0, printed
    assert call(tmp_path, "first", "second")[:3] == [*FIRST, "1"]
