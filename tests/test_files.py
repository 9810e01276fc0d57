"""A file that is there is whole, whatever happened while it was written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from standout import StandoutError
from standout.files import write_file, writing


def test_a_file_appears_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with writing(path) as file:
        file.write("x\n")
        assert not path.exists()
    assert path.read_bytes() == b"x\n"
    assert write_file(tmp_path / "new" / "b", b"\x00").read_bytes() == b"\x00"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError(28, "No space left")])
def test_an_interrupt_leaves_the_former_file(
    tmp_path: Path, error: type[BaseException] | OSError
) -> None:
    path = write_file(tmp_path / "a", "before")
    expected = StandoutError if isinstance(error, OSError) else error

    def write() -> None:
        with writing(path) as file:
            file.write("half")
            raise error

    with pytest.raises(expected):
        write()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["folder", "none/a", "folder/../file/a", "x" * 300])
def test_what_cannot_be_written_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StandoutError, match="cannot be written"), writing(tmp_path / name) as file:
        file.write("x")
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StandoutError, match="cannot be written"):
        write_file(tmp_path / "file" / "a", "x")
