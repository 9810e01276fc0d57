"""The folder of pictures, asked for what it must not give."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from standout.errors import NoPictureError, StudyError
from standout.pictures import item_files
from standout.pictures.item_files import (
    checked_folder,
    kind_of,
    read_picture,
    write_picture,
)
from tests.pictures.files import STARTS, png

KINDS = {"jpg": "jpeg", "jpeg": "jpeg"}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with a picture, one below it, and a secret beside it."""
    here = tmp_path / "pictures"
    (here / "below").mkdir(parents=True)
    (here / "cat.png").write_bytes(png())
    (here / "below" / "dog.png").write_bytes(png())
    (tmp_path / "secret.png").write_bytes(png())
    return here


def refused(folder: Path, path: str) -> str:
    with pytest.raises(NoPictureError) as error:
        read_picture(str(folder), path)
    # What is in the way, and where, is not said.
    assert str(folder) not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("ending", STARTS)
def test_pictures_of_every_kind(pictures: Path, ending: str) -> None:
    (pictures / f"some one.{ending.upper()}").write_bytes(STARTS[ending])
    found = read_picture(str(pictures), f"some one.{ending.upper()}")
    assert found.body == STARTS[ending]
    assert found.kind == f"image/{KINDS.get(ending, ending)}"
    assert read_picture(str(pictures), "below/dog.png").kind == "image/png"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.png",
        "below/../../secret.png",
        "below/../cat.png",
        "./cat.png",
        "/etc/passwd.png",
        "//etc/passwd.png",
        "below//dog.png",
        "",
        "/",
        "..",
        "cat.png/",
        "cat.png\0.png",
        "..\\secret.png",
        "C:\\secret.png",
        "c:secret.png",
        "cat.png\n",
        ".hidden.png",
        "below/.hidden/cat.png",
        "%2e%2e/secret.png",
        "cat.png::$DATA.png",
        "x" * 600 + ".png",
        "\ud800.png",
        "nothing.png",
        "below.png/cat.png",
        "below",
    ],
)
def test_no_path_leads_out(pictures: Path, path: str) -> None:
    refused(pictures, path)


def test_links_are_not_followed(pictures: Path, tmp_path: Path) -> None:
    (pictures / "link.png").symlink_to(tmp_path / "secret.png")
    (pictures / "inside.png").symlink_to(pictures / "cat.png")
    (pictures / "out").symlink_to(tmp_path)
    (pictures / "loop.png").symlink_to(pictures / "loop.png")
    for path in ("link.png", "inside.png", "out/secret.png", "loop.png"):
        refused(pictures, path)
    # The folder itself may be a link: its owner has chosen it.
    (tmp_path / "chosen").symlink_to(pictures)
    assert read_picture(checked_folder(tmp_path / "chosen"), "cat.png").kind == "image/png"


def test_what_is_no_file_is_not_waited_for(pictures: Path) -> None:
    os.mkfifo(pictures / "pipe.png")
    (pictures / "folder.png").mkdir()
    for path in ("pipe.png", "folder.png"):
        refused(pictures, path)


def test_content_and_ending_must_agree(pictures: Path) -> None:
    (pictures / "page.png").write_bytes(b"<html><script>alert(1)</script>")
    (pictures / "cat.svg").write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    (pictures / "cat.html").write_bytes(png())
    (pictures / "cat.gif").write_bytes(png())
    (pictures / "empty.png").write_bytes(b"")
    assert "ending" in refused(pictures, "page.png")
    assert "ending" in refused(pictures, "cat.gif")
    for path in ("cat.svg", "cat.html", "empty.png"):
        refused(pictures, path)
    assert kind_of(".svg", b"<svg/>") is None


def test_large_files_are_refused(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_files, "LARGEST", 1_000_000)
    (pictures / "large.png").write_bytes(png() + b"0" * 1_000_000)
    assert "more than 1 MB" in refused(pictures, "large.png")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path / "file"):
        (tmp_path / "file").write_text("")
        with pytest.raises(StudyError, match="is no folder"):
            checked_folder(path)


def test_pictures_are_put_in_whole_and_never_over_others(pictures: Path) -> None:
    write_picture(str(pictures), "new.png", png((1, 2, 3)))
    assert read_picture(str(pictures), "new.png").body == png((1, 2, 3))
    write_picture(str(pictures), "new.png", png((1, 2, 3)))  # The same again is nothing new.
    with pytest.raises(StudyError, match="already"):
        write_picture(str(pictures), "new.png", png((9, 9, 9)))
    secret = pictures.parent / "secret.png"
    (pictures / "link.png").symlink_to(pictures.parent / "made.png")
    for name in ("../made.png", "below/made.png", ".made.png", "made.svg", "link.png", "a\\b.png"):
        with pytest.raises(StudyError):
            write_picture(str(pictures), name, png((9, 9, 9)))
    with pytest.raises(StudyError, match="ending"):
        write_picture(str(pictures), "page.png", b"<html>")
    assert not (pictures.parent / "made.png").exists()
    assert secret.read_bytes() == png()
    names = sorted(path.name for path in pictures.iterdir())
    assert names == ["below", "cat.png", "link.png", "new.png"]  # No drafts are left.
