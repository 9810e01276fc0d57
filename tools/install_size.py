"""The installed size of standout and of each extra, in megabytes, package by package.

The tool builds the wheel, installs it into new environments, and adds up the files that each
package lists as its own. It needs pip's index.

    python tools/install_size.py [EXTRA ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = """
import json, os
from importlib.metadata import distributions
found = {}
for one in distributions():
    paths = [one.locate_file(path) for path in one.files or ()]
    # What Python compiles on its first start is not brought.
    paths = [path for path in paths if os.path.isfile(path) and "__pycache__" not in str(path)]
    found[one.metadata["Name"]] = sum(map(os.path.getsize, paths))
print(json.dumps(found))
"""


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree, built without a network by the hatchling that is here."""
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(ROOT)], check=True)
    (wheel,) = folder.glob("standout-*.whl")
    return wheel


def install(wheel: Path, extra: str, folder: Path) -> Path:
    """A new environment with the wheel and its dependencies; its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", what]
    subprocess.run([python, *words], check=True)
    return python


def sizes(python: Path) -> dict[str, int]:
    """Bytes by package, without pip itself."""
    done = subprocess.run([python, "-c", SIZES], check=True, capture_output=True, text=True)
    found: dict[str, int] = json.loads(done.stdout)
    return {name: size for name, size in found.items() if name not in ("pip", "setuptools")}


def show(title: str, found: dict[str, int]) -> None:
    print(f"{title}: {sum(found.values()) / 1e6:.0f} MB")
    for name, size in sorted(found.items(), key=lambda pair: -pair[1]):
        if size >= 500_000:
            print(f"  {name:<20} {size / 1e6:6.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help="postgres, serve, paper, ...")
    extras = parser.parse_args().extras
    with tempfile.TemporaryDirectory() as made:
        wheel = build_wheel(Path(made))
        base = sizes(install(wheel, "", Path(made) / "base"))
        show("pip install standout", base)
        for extra in extras:
            found = sizes(install(wheel, extra, Path(made) / extra))
            more = {name: size for name, size in found.items() if name not in base}
            show(f"standout[{extra}], besides", more)


if __name__ == "__main__":
    main()
