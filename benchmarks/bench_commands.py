"""What it costs to start: CPU seconds of warm commands, and their ratio to bare imports.

The ratio is to a process that imports numpy and numba and does nothing,
measured in the same run, in turn: seconds differ from machine to machine and from
hour to hour. Each figure is the least of several.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PROGRAM = "from standout.cli.main import main; main()"
IMPORTS = "import numpy, numba"
COMMANDS = {
    "standout --help": ("--help",),
    "standout study status": ("study", "status", "x.db"),
    "standout study ask": ("study", "ask", "x.db"),
    "standout study tell, one row": ("study", "tell", "x.db", "--arm", "a", "--value", "1"),
}


def cpu_of(words: list[str], folder: Path) -> float:
    """CPU seconds, of this process's children alone, that one process took."""
    before = os.times()
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system


def prepare(folder: Path) -> None:
    """A small study, and every kernel that the commands need compiled."""
    (folder / "arms.csv").write_text("arm\na\nb\nc\nd\ne\n")
    create = ["study", "create", "x.db", "--arms", "arms.csv", "--noise", "bernoulli"]
    for words in (create, *COMMANDS.values()):
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], cwd=folder, check=True, capture_output=True
        )


def first_answer(folder: Path) -> float:
    """Seconds from the start of `standout serve` to its first answer."""
    begin = time.perf_counter()
    words = [sys.executable, "-u", "-c", PROGRAM, "serve", "x.db", "--new", "--port", "0"]
    server = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        for line in server.stdout:
            if found := re.search(r"http://127.0.0.1:\d+", line):
                urllib.request.urlopen(f"{found[0]}/api/v1/health").read()
                return time.perf_counter() - begin
        raise RuntimeError("the server did not start")
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args().times
    work = {"numpy, numba": [sys.executable, "-c", IMPORTS]}
    work |= {name: [sys.executable, "-c", PROGRAM, *w] for name, w in COMMANDS.items()}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        prepare(folder)
        found = dict.fromkeys(work, float("inf"))
        for _ in range(times):
            for name, words in work.items():
                found[name] = min(found[name], cpu_of(words, folder))
        imports = next(iter(found.values()))
        print(f"{'':<32} {'CPU s':>6} {'ratio':>6}")
        for name, seconds in found.items():
            print(f"{name:<32} {seconds:6.2f} {seconds / imports:6.2f}")
        served = min(first_answer(folder) for _ in range(times))
        print(f"{'standout serve, first answer':<32} {served:6.2f} s on the clock")


if __name__ == "__main__":
    main()
