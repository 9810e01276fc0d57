"""Refresh what README.md quotes: the outputs of commands and the table of methods.

A part between `<!-- begin: X -->` and `<!-- end -->` is replaced by the output of
the command X, or for `methods` by a table of the registry. Needs a minute or two.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from standout.core.methods import DEFAULT_METHOD, METHODS

TARGET = Path(__file__).resolve().parents[1] / "README.md"
PART = re.compile(r"(<!-- begin: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def methods_table() -> str:
    """The registry as a Markdown table."""
    lines = ["| method | what it does | from |", "|---|---|---|"]
    for method in METHODS.values():
        name = f"`{method.name}`" + (" (default)" if method.name == DEFAULT_METHOD else "")
        lines.append(f"| {name} | {method.summary} | {method.reference} |")
    return "\n".join(lines) + "\n"


def output_of(command: str) -> str:
    """What the command prints in a pipe of 80 columns."""
    words = [sys.executable, "-c", "from standout.cli.main import main; main()"]
    words += shlex.split(command)[1:]
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    return f"```text\n$ {command}\n{done.stdout}```\n"


def refreshed(text: str) -> str:
    """The README with every quoted part made again."""

    def fill(part: re.Match[str]) -> str:
        name = part.group(2)
        made = methods_table() if name == "methods" else output_of(name)
        return part.group(1) + made + part.group(3)

    return PART.sub(fill, text)


if __name__ == "__main__":
    TARGET.write_text(refreshed(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {TARGET}")
