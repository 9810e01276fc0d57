"""Pictures of items from a folder on this machine (`standout serve --files FOLDER`).

Paths come from outside, and files in the folder may, too. So a path must stay inside the folder,
symbolic links are not followed, and a file is sent only if its ending and its first bytes are those
of a picture.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from standout.errors import NoPictureError, StudyError

PREFIX = "/files/"
"""The beginning of a picture's address in an item's `image`."""
LARGEST = 10_000_000
"""The largest size of a picture, in bytes."""
LONGEST = 500
"""The largest number of characters of a path below the folder."""

_ENDINGS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
}
KINDS = ", ".join(sorted(_ENDINGS))


@dataclass(frozen=True)
class PictureFile:
    """A picture and its media type."""

    body: bytes
    kind: str


def checked_folder(folder: str | Path) -> str:
    """The folder with all symbolic links resolved; raises `StudyError` if it is not a folder."""
    found = Path(folder).expanduser()
    if not found.is_dir():
        raise StudyError(f"--files {str(folder)!r} is no folder; make it, or name another")
    return str(found.resolve())


def parts_of(path: str) -> list[str]:
    """The parts of a picture's path; raises `NoPictureError` if it could leave the folder."""
    names = path.split("/")
    if len(path) > LONGEST or not all(_is_plain(name) for name in names):
        raise NoPictureError("this is no path below the folder of pictures")
    if Path(names[-1]).suffix.lower() not in _ENDINGS:
        raise NoPictureError(f"pictures end in {KINDS}")
    return names


def _is_plain(name: str) -> bool:
    """Whether a name is a single path component on any system, and not hidden."""
    is_step = name != "" and not name.startswith(".") and name.isprintable()
    return is_step and not set(name) & set('\\/:*?"<>|')


def kind_of(ending: str, body: bytes) -> str | None:
    """The media type that ending and content agree on; None if they do not."""
    found = None
    if body.startswith(b"\x89PNG\r\n\x1a\n"):
        found = "image/png"
    elif body.startswith(b"\xff\xd8\xff"):
        found = "image/jpeg"
    elif body[:6] in (b"GIF87a", b"GIF89a"):
        found = "image/gif"
    elif body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        found = "image/webp"
    elif body[4:8] == b"ftyp" and body[8:12] in (b"avif", b"avis"):
        found = "image/avif"
    return found if found is not None and found == _ENDINGS.get(ending.lower()) else None


def read_picture(folder: str, path: str) -> PictureFile:
    """The picture at `path` below `folder`; raises `NoPictureError` for anything else.

    Each part is opened relative to the folder before it, and the system refuses links. So no file
    can be swapped between check and use.
    """
    names = parts_of(path)
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names[:-1]:
            below = _open(name, here, os.O_DIRECTORY)
            os.close(here)
            here = below
        return _read(names[-1], here)
    finally:
        os.close(here)


def write_picture(folder: str, name: str, body: bytes) -> None:
    """Store a picture in the folder; an identical existing picture stays unchanged.

    Raises `StudyError` for a file that `read_picture` would refuse, and for the name of a different
    picture.
    """
    if len(parts_of(name)) != 1:
        raise StudyError("a picture is put into the folder itself: its name has no /")
    if len(body) > LARGEST or kind_of(Path(name).suffix, body) is None:
        raise StudyError(f"{name!r} is no picture of the kind that its ending says ({KINDS})")
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    draft = f".{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(draft, flags, 0o644, dir_fd=here), "wb") as file:
            file.write(body)
        # Atomic, and never replaces another file.
        os.link(draft, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
    except FileExistsError:
        if read_picture(folder, name).body != body:
            raise StudyError(f"another picture is called {name!r} already; rename yours") from None
    except OSError as error:
        raise StudyError(f"the picture cannot be kept: {error.strerror}") from None
    finally:
        with suppress(OSError):
            os.unlink(draft, dir_fd=here)
        os.close(here)


def _open(name: str, folder: int, flags: int = 0) -> int:
    # Non-blocking, because opening a pipe could wait forever.
    flags |= os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except (OSError, ValueError):
        raise NoPictureError("there is no such picture") from None


def _read(name: str, folder: int) -> PictureFile:
    descriptor = _open(name, folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NoPictureError("there is no such picture")
        with open(descriptor, "rb", closefd=False) as file:
            # Check the size of what was read, because a file may grow after `stat`.
            body = file.read(LARGEST + 1)
    finally:
        os.close(descriptor)
    if len(body) > LARGEST:
        raise NoPictureError(f"this picture has more than {LARGEST // 1_000_000} MB")
    kind = kind_of(Path(name).suffix, body)
    if kind is None:
        raise NoPictureError("the file's content is no picture of the kind that its ending says")
    return PictureFile(body, kind)
