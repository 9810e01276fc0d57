"""Measuring an arm by running a program or calling a function by name."""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from standout.errors import StudyError

PLACEHOLDER = "{arm}"
_TAIL = 300

_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()


class MeasurementFailed(Exception):
    """One measurement brought no reward; the text says why."""


@dataclass(frozen=True)
class Command:
    """A program that prints one number: `./assay {arm}`.

    There is no shell: the text is cut into words once, and the arm's name
    replaces `{arm}` inside its word, whatever the name contains.
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
            out, err = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.communicate()
            raise MeasurementFailed(f"no answer within {self.timeout:g} s") from None
        finally:
            with _lock:
                _running.discard(process)
        if process.returncode != 0:
            raise MeasurementFailed(_exit_text(process.returncode, err))
        return parse_reward(out)


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
    """Cut a command line into words and see that its program is there."""
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
    """A function by its name, `module:function`, found where it runs."""

    name: str

    def __call__(self, arm: str) -> float:
        """Call it once for `arm`."""
        return load_function(self.name)(arm)


def load_function(name: str) -> Callable[[str], float]:
    """The function called `module:function`; modules of the current folder count."""
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
    """End a program with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


def kill_running() -> None:
    """End every program that is being measured now."""
    with _lock:
        processes = list(_running)
    for process in processes:
        _kill(process)
