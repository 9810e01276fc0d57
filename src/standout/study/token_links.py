"""Links that contain a token: an address to click on, or a QR code to scan."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from standout.study.storage.tokens import Role, Token

HERE = "http://127.0.0.1:8000"
"""The default address of `standout serve`."""


def is_loopback(host: str) -> bool:
    """Whether a host name means the local machine.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "lab.example")]
    [True, True, True, False]
    """
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def link_of(token: Token, text: str, url: str = HERE) -> str:
    """The address of the token's page, with the token after the `#`.

    >>> token = Token("0123456789ab", Role.RATER, "my study", "", 0.0)
    >>> link_of(token, "standout_x", "https://lab.example/")
    'https://lab.example/rate/my%20study#token=standout_x'
    """
    page = "/"
    if token.study is not None:
        page = f"/{'rate' if token.role is Role.RATER else 'study'}/{quote(token.study, safe='')}"
    return f"{url.rstrip('/')}{page}#token={text}"


def code_of(link: str) -> list[str] | None:
    """A QR code of a link, row by row: `1` for dark.

    None without the package segno, and for a link to this machine, which a phone cannot open.
    """
    if is_loopback(urlsplit(link).hostname or ""):
        return None
    try:
        import segno
    except ImportError:
        return None
    rows = segno.make(link, error="m", micro=False).matrix
    return ["".join(map(str, row)) for row in rows]


def drawn(code: list[str]) -> str:
    """The code as text for a terminal, two rows per line, with the light border it needs."""
    wide = len(code[0]) + 8
    blank = "0" * wide
    rows = [blank] * 4 + [f"0000{row}0000" for row in code] + [blank] * 4
    rows += [blank] * (len(rows) % 2)
    signs = {"00": "█", "01": "▀", "10": "▄", "11": " "}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return "\n".join(
        "".join(signs[above + below] for above, below in zip(*pair, strict=True)) for pair in pairs
    )
