"""Run the tutorials and other executable pages, and write their output into them.

    python tools/run_pages.py                    # all of them; then read `git diff`
    python tools/run_pages.py --pictures         # and draw their pictures again
    python tools/run_pages.py docs/tutorials/ads.md

A page is run from top to bottom in an empty folder:

- the `python` blocks are run in order; the `text` block after one of them is its output;
- in a `console` block each line that begins with `$ ` is a command, and the lines after it are its
  output; an output that ends with a line `…` is cut to the number of lines that the page shows;
- a block after `<!-- file: NAME -->` is a file;
- `<!-- uses: PATH -->` names a file of this repository that the commands of the page use;
- a block after `<!-- not run -->` is not run;
- `<!-- needs: NAME -->` names a data file that is not part of the project. It is taken from
  `shared/data` beside the clone; without it the page stays unchanged.

The picture of `![...](../images/NAME)` is the file NAME of the folder, if the page writes one.
`tests/test_pages.py` checks the output in the pages.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("start", "gallery", "methods")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *sorted((ROOT / "docs" / "cases").glob("*.md")),
]
DATA = ROOT.parent / "shared" / "data"
NEEDS = re.compile(r"^<!-- needs: (\S+) -->$", re.MULTILINE)
USES = re.compile(r"^<!-- uses: (\S+) -->$", re.MULTILINE)
CUT = "…\n"
BLOCK = re.compile(
    r"(?:^<!-- (?P<order>[^>]+) -->\n)?"
    r"^```(?P<kind>python|console|csv|json|text)\n(?P<code>.*?)^```\n"
    r"(?P<said>\n```text\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)
ENVIRONMENT = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "MPLBACKEND": "agg"}


class PageError(Exception):
    """A page does not run."""


class NoDataError(Exception):
    """A data file of the page is missing."""


def rendered(page: str) -> str:
    """The page with what it prints when it is run in the current folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for name in NEEDS.findall(page):
        if not (DATA / name).exists():
            raise NoDataError(f"{name} is not in {DATA}")
        Path(name).symlink_to(DATA / name)
    for name in USES.findall(page):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).symlink_to(ROOT / name)

    def run(found: re.Match[str]) -> str:
        order, kind, code, said = found["order"] or "", found["kind"], found["code"], found["said"]
        if order.startswith("file: "):
            Path(order.removeprefix("file: ")).write_text(code, encoding="utf-8")
        elif order == "not run" or kind not in ("python", "console"):
            pass
        elif kind == "console":
            shown = "".join(
                f"$ {command}\n{_cut(_printed(command), before)}"
                for command, before in _commands(code)
            )
            return found[0].replace(code, shown)
        else:
            printed = _run_python(code, names)
            whole = found[0] if said is None else found[0].removesuffix(said)
            return whole + (f"\n```text\n{printed}```\n" if printed else "")
        return found[0]

    with _environment():
        return BLOCK.sub(run, page)


def _run_python(code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<page>", "exec"), names)
    return _trimmed(out.getvalue())


def _commands(code: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with its lines after a backslash, and what the page shows."""
    for block in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*", block)
        assert command is not None
        yield command[0], block.removeprefix(command[0]).removeprefix("\n")


def _cut(printed: str, before: str) -> str:
    """The first lines of an output, as many as before, if it was cut before."""
    if not before.endswith(CUT):
        return printed
    return "".join(printed.splitlines(keepends=True)[: before.count("\n") - 1]) + CUT


def _printed(command: str) -> str:
    """What a command prints: one of ours in this process, which spares most of its time."""
    first, _, rest = command.partition(" | ")
    if not first.startswith("standout "):
        return _home(_trimmed(_bash(command)))
    from standout.cli.main import app

    words = shlex.split(first.replace("\\\n", " "), comments=True)
    result = CliRunner().invoke(app, words[1:], prog_name="standout")
    if result.exit_code:
        raise PageError(f"{command}: {result.output}") from result.exception
    return _home(_trimmed(_bash(rest, result.stdout) if rest else result.stdout))


def _bash(command: str, given: str = "") -> str:
    done = subprocess.run(
        ["bash", "-c", command], input=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PageError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def _home(text: str) -> str:
    """With a folder that does not change from run to run."""
    return text.replace(str(Path.cwd()), "/home/you")


def _trimmed(text: str) -> str:
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _take_pictures(page: str) -> None:
    """Keep the pictures that the page shows; a report is kept as a browser shows it."""
    for name in re.findall(r"!\[[^\]]*\]\([^)]*images/([^)]+)\)", page):
        path, target = Path(name), ROOT / "docs" / "images" / name
        report = Path(name).with_suffix(".html")
        if path.exists():
            shutil.copy(path, target)
        elif report.exists():
            _photograph(report, target)
        else:
            continue
        print(f"  {target.name}  {target.stat().st_size / 1000:,.0f} kB")


def _photograph(report: Path, target: Path) -> None:
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT))
    from tests.browser.conftest import find_chromium
    from tools.make_screenshots import write

    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=options)
        page = browser.new_page(viewport={"width": 920, "height": 1040})
        page.goto(report.resolve().as_uri())
        write(target, page.screenshot())
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pages", nargs="*", type=Path, default=PAGES)
    parser.add_argument("--pictures", action="store_true", help="draw their pictures again, too")
    given = parser.parse_args()
    if given.pictures:
        import matplotlib as mpl

        mpl.rcParams["svg.hashsalt"] = "standout"  # The same picture is the same file.
        os.environ["SOURCE_DATE_EPOCH"] = "0"
    for path in [page.resolve() for page in given.pages]:
        print(path.relative_to(ROOT))
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            try:
                text = rendered(path.read_text("utf-8"))
            except NoDataError as error:
                print(f"  left as it is: {error}")
                continue
            if given.pictures:
                _take_pictures(text)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
