"""Measuring an arm by running a program or calling a function by name."""

from __future__ import annotations

import importlib
import math
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from standout.errors import StudyError

PLACEHOLDER = "{arm}"
_TAIL = 300
KEPT = 65_536
"""Bytes that are kept: of a program's output the first, of its errors the last."""
CHUNK = 65_536
LATE = 1_048_576
"""Bytes that are read after a program's exit: more than its pipes hold."""
CHECK = 0.05
"""Seconds between two checks whether a program has exited while its output stays open."""

_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()


class MeasurementFailed(Exception):
    """A measurement returned no reward; the message says why."""


@dataclass(frozen=True)
class Command:
    """A program that prints one number: `./assay {arm}`.

    There is no shell: the text is split into words once, and the arm's name replaces `{arm}` inside
    its word. The name may contain any characters.
    """

    words: tuple[str, ...]
    timeout: float | None = None

    def __call__(self, arm: str) -> float:
        """Run it once for `arm`."""
        words = [word.replace(PLACEHOLDER, arm) for word in self.words]
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "STANDOUT_ARM": arm},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise MeasurementFailed(f"cannot run {words[0]}: {error}") from None
        with _lock:
            _running.add(process)
        try:
            out, err = _read_output(process, self.timeout)
        except subprocess.TimeoutExpired:
            raise MeasurementFailed(f"no answer within {self.timeout:g} s") from None
        finally:
            _end(process)
            with _lock:
                _running.discard(process)
        if process.returncode != 0:
            raise MeasurementFailed(_exit_text(process.returncode, err))
        return parse_reward(out)


def _read_output(process: subprocess.Popen[bytes], timeout: float | None) -> tuple[bytes, bytes]:
    """The output of a program until its exit; raises `TimeoutExpired` after the timeout.

    Reading ends when the program itself exits, even if a child process holds the pipes open or
    continues to print.
    """
    end = math.inf if timeout is None else time.monotonic() + timeout
    kept: dict[IO[bytes], bytes] = {pipe: b"" for pipe in (process.stdout, process.stderr) if pipe}
    with selectors.DefaultSelector() as selector:
        for pipe in kept:
            selector.register(pipe, selectors.EVENT_READ)
        late = 0
        while selector.get_map() and late < LATE:
            is_over = process.poll() is not None
            left = end - time.monotonic()
            if left <= 0 and not is_over:
                raise subprocess.TimeoutExpired(process.args, timeout or 0.0)
            ready = selector.select(0 if is_over else min(CHECK, left))
            if is_over and not ready:
                break
            for key, _ in ready:
                source: Any = key.fileobj
                part = os.read(key.fd, CHUNK)
                late += len(part) * is_over
                if not part:
                    selector.unregister(source)
                kept[source] = _keep(kept[source] + part, is_end=source is process.stderr)
    process.wait(None if timeout is None else max(0.0, end - time.monotonic()))
    out, err = kept.values()
    return out, err


def _keep(text: bytes, *, is_end: bool) -> bytes:
    """The part of a program's output that is kept in memory."""
    return text[-KEPT:] if is_end else text[:KEPT]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that still runs, reap it, and close its pipes."""
    if process.poll() is None:
        _kill(process)
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _exit_text(code: int, err: bytes) -> str:
    how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    said = " ".join(err.decode("utf-8", "replace").split())[-_TAIL:]
    return f"{how}: {said}" if said else how


def parse_reward(out: bytes) -> float:
    """The one number that a program printed."""
    text = out.decode("utf-8", "replace").strip()
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        shown = repr(text[:_TAIL]) if text else "nothing"
        raise MeasurementFailed(f"it printed {shown}, not a number") from None


def parse_command(text: str, timeout: float | None = None) -> Command:
    """Split a command line into words and check that its program exists."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StudyError(f"--measure {text!r} cannot be read: {error}") from None
    if not words:
        raise StudyError("--measure is empty; write a command such as './assay {arm}'")
    if not any(PLACEHOLDER in word for word in words):
        raise StudyError(f"--measure {text!r} does not say where the arm goes; write {PLACEHOLDER}")
    if PLACEHOLDER not in words[0] and shutil.which(words[0]) is None:
        raise StudyError(f"--measure: there is no program {words[0]!r} that can be run")
    if timeout is not None and not timeout > 0:
        raise StudyError(f"--timeout must be positive, not {timeout:g}")
    return Command(tuple(words), timeout)


@dataclass(frozen=True)
class Function:
    """A function by its name, `module:function`, imported in the process that calls it."""

    name: str

    def __call__(self, arm: str) -> float:
        """Call it once for `arm`."""
        return load_function(self.name)(arm)


def load_function(name: str) -> Callable[[str], float]:
    """The function called `module:function`; modules of the current folder are found, too."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise StudyError(f"--measure-python {name!r} must look like module:function")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise StudyError(f"--measure-python {name!r} cannot be found: {error}") from None
    if not callable(found):
        raise StudyError(f"--measure-python {name!r} is not a function")
    return found


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and its child processes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


def kill_running() -> None:
    """End all programs that are running for a measurement."""
    with _lock:
        processes = list(_running)
    for process in processes:
        _kill(process)
