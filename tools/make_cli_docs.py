"""Write docs/cli.md from the help texts of all commands.

Run it after a change to the command line; a test checks that the file is current.
"""

from __future__ import annotations

from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from standout.cli.main import app

TARGET = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
HEAD = """\
# The command line

Made by `python tools/make_cli_docs.py` from the help texts; do not edit.

Results go to standard output, progress and remarks to standard error. With `--json`
standard output is exactly one JSON object. Exit codes: 0 done, 2 something in the
request was wrong (one line says what), 130 interrupted with Ctrl-C, 143 terminated.
"""


def render() -> str:
    """The whole page."""
    parts = [HEAD, *_pages(get_command(app), [])]
    return "\n".join(parts)


def _pages(command: object, path: list[str]) -> list[str]:
    title = " ".join(["standout", *path])
    level = "##" if len(path) < 2 else "###"
    parts = [f"{level} {title}\n\n```text\n{_help(path)}```\n"]
    for name, sub in getattr(command, "commands", {}).items():
        parts += _pages(sub, [*path, name])
    return parts


def _help(path: list[str]) -> str:
    environment = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
    result = CliRunner().invoke(app, [*path, "--help"], prog_name="standout", env=environment)
    assert result.exit_code == 0, result.output
    return "\n".join(line.rstrip() for line in result.output.strip().splitlines()) + "\n"


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(render(), encoding="utf-8")
    print(f"wrote {TARGET}")
