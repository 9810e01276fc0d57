"""Shared behaviour of all commands: one-line errors, Ctrl-C, broken pipes, exit codes."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import wraps
from io import TextIOWrapper
from types import FrameType
from typing import Any, NoReturn, ParamSpec, TypeVar

from typer import Exit
from typer.core import TyperGroup

from standout.errors import StandoutError

USER_ERROR = 2
INTERRUPTED = 130
TERMINATED = 143
AGAIN = 0.01
"""Seconds until a lost signal is raised again."""
P = ParamSpec("P")
T = TypeVar("T")


def imports_safely(command: Callable[P, T]) -> Callable[P, T]:
    """A command whose child processes do not import from the current folder.

    A new interpreter searches that folder first, before it gets the search path of its parent. Not
    for a command that starts the user's programs: they may be Python with modules beside them.
    """

    @wraps(command)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            return command(*args, **kwargs)
        finally:
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before

    return call


class Commands(TyperGroup):
    """The group of all commands; a user's mistake ends in one line, not in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C ends it with one line."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, SystemError) as error:
            if not _is_from(error, KeyboardInterrupt):
                raise
            print("standout: interrupted", file=sys.stderr)
            raise Exit(INTERRUPTED) from None

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the command line and exit with its exit code."""
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs)
            sys.stdout.flush()
        except StandoutError as error:
            fail(str(error))
        except BrokenPipeError:
            leave_broken_pipe()
        except Exception as error:
            # Typer's usage errors: their base class has no public name in some versions.
            if not hasattr(error, "format_message"):
                raise
            if type(error).__name__ == "NoArgsIsHelpError":  # `standout study` alone
                print(error.format_message())
                sys.exit(0)
            fail(usage_message(error))
        sys.exit(code if isinstance(code, int) else 0)


def fail(message: str) -> NoReturn:
    """Print one line to standard error and exit with code 2."""
    print(f"standout: error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(USER_ERROR)


def usage_message(error: Any) -> str:
    """A usage error in one line that names the help to read."""
    message = str(error.format_message()).strip()
    message = message[:1].lower() + message[1:].rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "standout"
    return f"{message}; see {path} --help"


def leave_broken_pipe() -> NoReturn:
    """The reader of our output has gone: exit silently."""
    # Python flushes standard output again at exit; that must not fail.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


class Terminated(BaseException):
    """SIGTERM as an exception, so that worker processes are ended before the exit."""


def _is_from(error: BaseException, kind: type[BaseException]) -> bool:
    """Whether a signal ended the command; inside C code its exception arrives as `SystemError`."""
    return isinstance(error, kind) or isinstance(error.__cause__, kind)


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """False for tracebacks that libraries log about their interrupted shutdown, which we caused."""
    return record.exc_info is None or not isinstance(record.exc_info[1], Terminated)


def _terminate(signum: int, frame: FrameType | None) -> None:
    raise Terminated


def _raise_again(lost: Any) -> None:
    """Send a signal again whose exception C code could not pass on."""
    for kind, number in ((KeyboardInterrupt, signal.SIGINT), (Terminated, signal.SIGTERM)):
        if isinstance(lost.exc_value, kind):
            # After this function has returned, because here it would be lost again. No call
            # follows the last line, so no signal is handled between it and the end.
            is_over = [False]
            threading.Thread(target=_raise_after, args=(number, is_over)).start()
            is_over[0] = True
            return
    sys.__unraisablehook__(lost)


def _raise_after(number: int, is_over: list[bool]) -> None:
    time.sleep(AGAIN)
    while not is_over[0]:
        time.sleep(AGAIN)
    signal.raise_signal(signal.Signals(number))


def warning_line(message: object, *_: object, **__: object) -> str:
    """A warning without the line of code that raised it."""
    return f"standout: warning: {message}\n"


def run(app: Any) -> NoReturn:
    """Run `app` as the program of this process."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _raise_again
    warnings.formatwarning = warning_line
    if logging.lastResort is not None:
        logging.lastResort.addFilter(_is_worth_saying)
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that cannot show a character prints a question mark, not a traceback.
        sys.stdout.reconfigure(errors="replace")
    try:
        app(prog_name="standout")
    except BrokenPipeError:
        leave_broken_pipe()
    except (Terminated, SystemError) as error:
        if not _is_from(error, Terminated):
            raise
        sys.exit(TERMINATED)
    sys.exit(0)
