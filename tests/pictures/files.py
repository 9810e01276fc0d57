"""Small pictures of every kind that a page may show."""

from __future__ import annotations

import struct
import zlib


def png(colour: tuple[int, int, int] = (200, 30, 30), size: int = 8) -> bytes:
    """A square of one colour."""
    rows = (b"\0" + bytes(colour) * size) * size

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


STARTS = {
    "png": png(),
    "jpg": b"\xff\xd8\xff\xe0" + b"0" * 20,
    "jpeg": b"\xff\xd8\xff\xe1" + b"0" * 20,
    "gif": b"GIF89a" + b"0" * 20,
    "webp": b"RIFF0000WEBPVP8 " + b"0" * 20,
    "avif": b"\0\0\0\x1cftypavif" + b"0" * 20,
}
"""By their endings, how such files begin."""
