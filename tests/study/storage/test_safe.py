"""A transaction ends when the disk has it, and nobody sees it before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from standout.study.storage.store import open_store
from tests.patience import HANGS, until
from tests.study.storage.stores import add, last, make

ROOT = Path(__file__).parents[3]
HEAD = """
import sys
from pathlib import Path
from standout.errors import StorageError
from standout.study.storage.store import open_store
from tests.study.storage.stores import add, last

folder = Path(sys.argv[1])
store = open_store(folder / "study.db")
full, count = folder / "full", folder / "count"
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands between SQLite and the disk."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("disk") / "disk.so"
    source = Path(__file__).with_name("disk.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source], check=True)
    return made


class Disk:
    """The disk under a store, for a program that is run with it: it counts, waits or fails."""

    def __init__(self, shim: Path, folder: Path) -> None:
        self.folder = folder
        names = ("count", "hold", "fail", "full")
        self.count, self.hold, self.fail, self.full = (folder / name for name in names)
        paths = {f"DISK_{name.upper()}": str(folder / name) for name in names}
        self._environment = {**os.environ, "LD_PRELOAD": str(shim), **paths}

    def begin(self, text: str) -> subprocess.Popen[str]:
        """Run Python on `store`, the one in the folder."""
        return subprocess.Popen(
            [sys.executable, "-c", HEAD + text, str(self.folder)],
            env=self._environment, cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, text: str) -> str:
        """What it prints."""
        said, _ = self.begin(text).communicate(timeout=HANGS)
        return said.strip()


@pytest.fixture
def disk(shim: Path, folder: Path) -> Disk:
    make(folder / "study.db").close()
    return Disk(shim, folder)


def test_nobody_sees_what_is_not_safe(disk: Disk) -> None:
    """A verdict that was shown must not be taken back by a power failure."""
    disk.hold.touch()
    telling = disk.begin("add(store); print('told')")
    until(disk.count.exists, "the disk is not waited for")
    other = open_store(disk.folder / "study.db")
    assert last(other) == 59
    assert telling.poll() is None
    disk.hold.unlink()
    assert telling.communicate(timeout=HANGS)[0] == "told\n"
    assert last(other) == 60
    other.close()


def test_every_transaction_waits_for_the_disk_once(disk: Disk) -> None:
    said = disk.run(
        "add(store)\nbefore = count.stat().st_size\nadd(store, 4); last(store)\n"
        "print(count.stat().st_size - before)"
    )
    assert said == "4"


TRY = """
try:
    print(add(store))
except StorageError as error:
    print(type(error).__name__, error)
"""


def test_a_disk_that_fails(disk: Disk) -> None:
    """It may be there or not."""
    disk.fail.touch()
    said = disk.run(TRY)
    assert said.startswith("UncertainError")
    assert "may have been done or not" in said
    disk.fail.unlink()
    store = open_store(disk.folder / "study.db")
    assert last(store) in (59, 60)
    assert add(store) in (60, 61)
    store.close()


def test_a_full_disk_does_no_harm_and_when_there_is_room_it_goes_on(disk: Disk) -> None:
    """In the very process that met it, and in others."""
    said = disk.run(
        "add(store)\nfull.touch()\n" + TRY * 2 + "print(last(store))\nfull.unlink()\n" + TRY
        + "full.touch()\nstore.close()\nfull.unlink()\nprint(last(store))"
    )  # fmt: skip
    *failed, seen, done, again = said.splitlines()
    assert len(failed) == 2
    for line in failed:
        assert line.startswith("StorageError")
        assert "the disk is full; make room and try again; nothing was changed" in line
    assert (seen, done, again) == ("60", "61", "61")
    store = open_store(disk.folder / "study.db")
    assert add(store) == 62
    assert last(store) == 62
    store.close()


def test_a_store_is_opened_on_a_full_disk_or_says_why_not(disk: Disk) -> None:
    disk.full.touch()
    said = disk.run("print(last(store))")
    assert said in ("59", "")
    disk.full.unlink()
    assert disk.run("print(last(store))") == "59"


def test_a_short_piece_of_full_disk_in_a_large_transaction(disk: Disk) -> None:
    """Pages that had to be written before the end of the transaction are taken back."""
    said = disk.run(
        "from tests.study.storage.stores import chain\n"
        "try:\n"
        "    with store.write() as session:\n"
        "        session.append(1, chain(40_000)[60:30_000])\n"
        "        full.touch()\n"
        "        session.append(1, chain(40_000)[30_000:])\n"
        "except StorageError as error:\n"
        "    print(type(error).__name__)\n"
        "full.unlink()\nprint(last(store), add(store))"
    )
    assert said.splitlines() == ["StorageError", "59 60"]
