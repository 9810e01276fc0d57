"""The command line as a process: Ctrl-C, SIGTERM, pipes, colours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.patience import HANGS

PROGRAM = [sys.executable, "-c", "from standout.cli.main import main; main()"]
LONG = ["simulate", "normal:n=2001,low=0.56,seed=1", "--method", "roai-lucb", "--runs", "100000"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the program in a process group of its own, and leaves nobody behind."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*PROGRAM, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def left_behind(group: int) -> list[str]:
    """Who of the process group still runs a moment later; the resource tracker ends last."""
    deadline = time.monotonic() + HANGS
    while time.monotonic() < deadline:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True
        )
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        left = [row[2] for row in rows if row[0] == str(group) and not row[1].startswith("Z")]
        if not left:
            return []
        time.sleep(0.1)
    return left


def cpu_seconds(pid: int) -> float:
    """What a process has worked so far; on a busy machine that says more than a clock."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_busy(process: subprocess.Popen[str], children: int) -> None:
    """Until it has started its worker processes, or for 0 of them has loaded its kernels."""
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    deadline = time.monotonic() + HANGS
    while time.monotonic() < deadline and process.poll() is None:
        if children == 0:
            if cpu_seconds(process.pid) > 1.5:
                return
            time.sleep(0.05)
            continue
        with open(path, encoding="ascii") as file:
            # One more than the workers: the tracker of shared resources.
            if len(file.read().split()) > children:
                return
        time.sleep(0.05)
    raise AssertionError("it never became busy")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_leaves_cleanly_when_alone(start, number: signal.Signals) -> None:
    process = start(*LONG, "--budget", "2000000", "--jobs", "1")
    wait_until_busy(process, 0)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=HANGS)
    assert out == ""
    assert "Traceback" not in err
    if number is signal.SIGINT:
        assert process.returncode == 130
        assert err.splitlines()[-1] == "standout: interrupted"
    else:
        assert process.returncode == 143
    assert left_behind(process.pid) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_leaves_cleanly_with_workers(start) -> None:
    # The first share takes a second or so; the other 31 are then worth two workers.
    words = ["--method", "random", "--budget", "400000", "--runs", "64", "--jobs", "2"]
    process = start("simulate", "wine", *words)
    wait_until_busy(process, 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = process.communicate(timeout=HANGS)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "standout: interrupted"
    assert "Traceback" not in err
    assert left_behind(process.pid) == []


def test_a_broken_pipe_is_silent() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, "methods"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.stderr == ""


def test_another_encoding_is_no_reason_to_fail() -> None:
    done = subprocess.run(
        [*PROGRAM, "methods"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.isascii()


def test_colour_only_where_it_is_wanted() -> None:
    def output(**environment: str) -> str:
        kept = {key: value for key, value in os.environ.items() if "COLOR" not in key}
        done = subprocess.run(
            [*PROGRAM, "methods"],
            env=kept | environment,
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout

    assert "\x1b" not in output()
    assert "\x1b" in output(FORCE_COLOR="1", TERM="xterm-256color")
    assert "\x1b[3" not in output(FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")


_AMID_C = """
import logging
from standout.cli import exits

def app(**_):
    try:
        raise exits.{signal}
    except BaseException as error:
        logging.getLogger("a.library").error("Exception during close", exc_info=True)
        raise SystemError("returned a result with an exception set") from error

exits.run(app)
"""


def test_a_warning_is_one_line(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("arm,value\n a ,1\nb,0\nc,0\n", encoding="utf-8")
    words = ["analyse", str(table), "--noise", "bernoulli"]
    done = subprocess.run([*PROGRAM, *words], check=False, capture_output=True, text=True)
    assert done.stderr.startswith("standout: warning: ")
    assert "tables.py" not in done.stderr


def test_a_signal_amid_c_code() -> None:
    """Its exception comes out as another one, and closing libraries log what they see."""
    done = subprocess.run(
        [sys.executable, "-c", _AMID_C.format(signal="Terminated")],
        capture_output=True, text=True, timeout=HANGS, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (143, "")
    # Any other is an error as ever.
    code = _AMID_C.format(signal="StandoutError")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANGS, check=False
    )
    assert done.returncode == 1
    assert "Exception during close" in done.stderr
    assert "SystemError" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["study", "list", "--help"], "Usage: standout study list"),
        (["study"], "Usage: standout study"),
        (["study", "aks"], "'ask'"),
        (["stdy"], "'study'"),
        (["--version", "study"], "standout "),
    ],
)
def test_a_command_is_made_ready_alone_but_found_among_all(words: list[str], said: str) -> None:
    done = subprocess.run([*PROGRAM, *words], check=False, capture_output=True, text=True)
    assert said in done.stdout + done.stderr
