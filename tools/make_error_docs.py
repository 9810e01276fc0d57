"""Write the table of error codes into docs/service.md, from the classes themselves.

Run it after a change to `standout.errors`; a test checks that it is current.
"""

from __future__ import annotations

import re
from pathlib import Path

from standout import errors

TARGET = Path(__file__).resolve().parents[1] / "docs" / "service.md"
PART = re.compile(
    r"(<!-- begin: python tools/make_error_docs.py -->\n).*?(<!-- end -->)", re.DOTALL
)


def table() -> str:
    """Every class with its code and its status."""
    lines = ["| code | status | exception | when |", "|---|---|---|---|"]
    for kind in errors.all_kinds():
        said = (kind.__doc__ or "").splitlines()[0]
        lines.append(f"| `{kind.code}` | {kind.status} | `{kind.__name__}` | {said} |")
    return "\n".join(lines) + "\n"


def refreshed(text: str) -> str:
    """The page with its table made again."""
    return PART.sub(lambda part: part.group(1) + table() + part.group(2), text)


if __name__ == "__main__":
    TARGET.write_text(refreshed(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {TARGET}")
