"""Options that several commands share, each declared once, and the parsing of their texts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from standout.cli.console import cores
from standout.core.noise import NOISE_FORMS
from standout.errors import ProblemError, StudyError
from standout.text import agree, plural, printable

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from standout.core.method import Method
    from standout.core.problem import Problem
    from standout.results import Status, Waiting
    from standout.simulation import InstanceFamily
    from standout.study import Study

KEYWORD = Parameter.KEYWORD_ONLY
InstanceText = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        show_default=False,
        help="fig1[:gap=G], fig4, wine, normal[:n=N,outliers=M,...], or a CSV file "
        "with columns arm,mean[,sigma]. Built-in instances set their own k, delta and noise.",
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="M",
        show_default=False,
        help="A method, with options after a colon (random:batch=10); repeatable. `standout "
        "methods` lists them and marks the default.",
    ),
]
IntervalText = Annotated[
    str | None,
    typer.Option(
        "--interval",
        metavar="NAME",
        show_default="the method's",
        help="Interval of an arm's mean: auto (the tightest for the noise), hoeffding (the "
        "paper's), mixture, beta-binomial, bernstein, betting, student or heavy.",
    ),
]
RangeText = Annotated[
    str | None,
    typer.Option(
        "--range",
        metavar="algorithm1|exact",
        show_default="the method's",
        help="How the threshold's interval is computed from the arms'.",
    ),
]
GoalText = Annotated[
    str | None,
    typer.Option(
        "--goal",
        metavar="certify|anytime",
        show_default="certify",
        help="For focus: the earliest certain answer, or the best guess at any time.",
    ),
]
NoiseText = Annotated[
    str | None,
    typer.Option(
        "--noise",
        metavar="NOISE",
        show_default=False,
        help=f"Noise of a CSV file's arms: {NOISE_FORMS}. Built-in instances have their own.",
    ),
]
Seed = Annotated[int, typer.Option(help="Same seed, same numbers.")]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Use the Dask cluster at this address."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        show_default="all cores", help="The number of processes; the results do not depend on it."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Place = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A file, postgresql://user@host/database, or env:NAME for a secret address.",
    ),
]
Name = Annotated[
    str | None, typer.Option("--study", metavar="NAME", help="Which study, if there are several.")
]
NewName = Annotated[str, typer.Option("--study", metavar="NAME", help="The study's name.")]
Noise = Annotated[str, typer.Option(metavar="NOISE", help=f"How rewards scatter: {NOISE_FORMS}.")]
MethodText = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        show_default=False,
        help="How pulls are chosen; `standout methods` lists them and marks the default.",
    ),
]
Budget = Annotated[int | None, typer.Option(help="The largest number of pulls.")]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="PROMISE",
        help="End early, once the chances promise this (an estimate): "
        "errors=0.5, or false-share=0.05,missed-share=0.05.",
    ),
]
Unordered = Annotated[
    bool,
    typer.Option(
        "--unordered",
        help="Count rewards in the order of arrival. Only if the duration of a measurement does "
        "not depend on its value; otherwise the answer may be wrong.",
    ),
]
Worker = Annotated[
    str | None, typer.Option(help="Your name in the log; machine and process by default.")
]
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


@dataclass(frozen=True)
class QuestionOptions:
    """The question as typed; None for the default of a `Problem` or of an instance."""

    k: Annotated[
        float | None,
        typer.Option(
            "--k",
            show_default="3",
            help="Distance of the threshold from the median, in scaled MADs.",
        ),
    ] = None
    delta: Annotated[
        float | None,
        typer.Option(show_default="0.05", help="Accepted probability that any verdict is wrong."),
    ] = None
    side: Annotated[
        str, typer.Option(metavar="high|low|both", help="Which outliers to look for.")
    ] = "high"
    k_low: Annotated[
        float | None, typer.Option(show_default="k", help="With --side both, the low side's own k.")
    ] = None
    tolerance: Annotated[
        float,
        typer.Option(help="For means this near the threshold, either verdict counts as right."),
    ] = 0.0
    mad_scale: Annotated[
        float | None,
        typer.Option(
            show_default="1.4826",
            help="Factor of the MAD; 1.4826 matches a standard deviation, 1 is the plain MAD.",
        ),
    ] = None

    def problem(self, noise: str) -> Problem:
        """The problem as typed; raises `ProblemError` if it is not valid."""
        from standout.core.problem import Problem

        return Problem(noise=noise, **self._given())

    def of_instance(self, instance: str, noise: str | None) -> tuple[InstanceFamily, Problem]:
        """The instance, and the question about it."""
        from standout.core.noise import parse_noise
        from standout.simulation import default_problem, parse_instance

        family = parse_instance(instance, parse_noise(noise) if noise is not None else None)
        return family, default_problem(family, **self._given())

    def _given(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """A command for Typer, with each dataclass of options replaced by its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    words: list[Parameter] = []
    for one in signature(command).parameters.values():
        kind = hints[one.name]
        if not is_dataclass(kind):
            words.append(one.replace(kind=KEYWORD, annotation=kind))
            continue
        groups[one.name], own = kind, get_type_hints(kind, include_extras=True)
        words += [
            Parameter(each.name, KEYWORD, default=each.default, annotation=own[each.name])
            for each in fields(kind)
        ]

    @wraps(command)
    def call(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        command(**given)

    vars(call).update(__signature__=Signature(words))
    call.__annotations__ = {one.name: one.annotation for one in words}
    return call


def read_methods(
    texts: list[str] | None,
    batch: int | None = None,
    growth: float | None = None,
    *,
    interval: str | None = None,
    threshold_range: str | None = None,
    goal: str | None = None,
    ends: tuple[object, ...] = (),
) -> list[Method]:
    """The named methods, or the default, with the shared options applied.

    `ends` are the budget and the promise; the default depends on them. `interval`,
    `threshold_range` and `goal` apply to those methods that have such an option; it is an error
    if none has.
    """
    from standout.core.methods import DEFAULT_METHOD, default_method, parse_method, with_options

    default = default_method(*ends) if goal is None else DEFAULT_METHOD
    methods = [parse_method(text) for text in texts or [default]]
    given: dict[str, Any] = {"batch": batch, "growth": growth}
    changes = {name: value for name, value in given.items() if value is not None}
    methods = [replace(method, **changes) for method in methods]
    for name, value in (("interval", interval), ("range", threshold_range), ("goal", goal)):
        if value is None:
            continue
        takes = [m.anytime is not None if name == "goal" else m.is_robust for m in methods]
        if not any(takes):
            with_options(methods[0], {name: value})  # says why not
        methods = [
            with_options(method, {name: value}) if can else method
            for method, can in zip(methods, takes, strict=True)
        ]
    return methods


def read_checkpoints(text: str | None) -> tuple[int, ...]:
    """Read `1000,2000` or `start:stop:step`, with both ends included.

    >>> read_checkpoints("100:300:100")
    (100, 200, 300)
    """
    if text is None:
        return ()
    parts = text.split(":")
    try:
        if len(parts) == 1:
            return tuple(int(part) for part in text.split(","))
        start, stop, step = (int(part) for part in parts)
        return tuple(range(start, stop + 1, step))
    except ValueError:
        raise ProblemError(
            f"checkpoints {text!r} are not whole numbers; use 1000,2000 or start:stop:step"
        ) from None


def check_seed(seed: int) -> None:
    """Refuse a negative seed."""
    if seed < 0:
        raise ProblemError(f"seed must not be negative, not {seed}")


def read_jobs(jobs: int | None) -> int:
    """The number of processes."""
    return cores() if jobs is None else jobs


@contextmanager
def cluster(dask: str | None, jobs: int | None) -> Iterator[tuple[Executor | None, int]]:
    """A Dask cluster, or None for this machine, and the number of parallel tasks."""
    if dask is None:
        yield None, read_jobs(jobs)
        return
    from standout.driver.campaign import dask as connect

    with connect(dask) as (executor, count):
        yield executor, count if jobs is None else read_jobs(jobs)


def typed_place(text: str) -> str:
    """A place from the command line: a file, an address, or `env:NAME` for a secret address.

    An address with a password is refused: every user of the machine could read it in the list of
    processes.
    """
    from standout.study.storage.location import has_password

    if text.startswith("env:"):
        name = text.removeprefix("env:")
        value = os.environ.get(name)
        if not value:
            raise StudyError(f"the environment variable {name!r} is not set")
        return value
    if has_password(text):
        raise StudyError(
            "the address contains a password, which the list of processes would show; leave it "
            "out and set PGPASSWORD or ~/.pgpass, or write env:NAME and put the address in $NAME"
        )
    return text


def seconds_of(text: str) -> float:
    """Read `90`, `90s`, `15m`, `8h`, `3d`, `2w`."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise StudyError(f"duration {text!r} must look like 90s, 15m, 8h or 3d")
    return float(match[1]) * _UNITS[match[2]]


def lease_of(text: str) -> float | None:
    """Seconds as `seconds_of` reads them; None for `auto`, an adaptive lease."""
    return None if text == "auto" else seconds_of(text)


def read_text(path: str) -> tuple[str, str]:
    """The text of a file, or of standard input for `-`, and its name for messages."""
    from standout.csv_files import decode

    if path == "-":
        return decode(sys.stdin.buffer.read(), "standard input"), "standard input"
    try:
        return decode(Path(path).read_bytes(), path), path
    except OSError as error:
        raise StudyError(f"{path}: cannot be read: {error.strerror}") from None


def open_study(place: str, name: str | None) -> Study:
    """The study `name` at a place as typed."""
    from standout.study import Study

    return Study.open(typed_place(place), name)


def waiting_line(waiting: Sequence[Waiting]) -> str:
    """Which rewards wait for which pull, in one line."""
    count = sum(one.rewards for one in waiting)
    first = waiting[0]
    late = "overdue, free for the next worker" if first.expired else "out"
    more = f" and {len(waiting) - 1:,} more" if len(waiting) > 1 else ""
    return (
        f"{plural(count, 'recorded reward')} {agree(count, 'waits', 'wait')} for earlier pulls: "
        f"ticket {first.ticket} of {printable(first.worker, 40)} ({late}){more}"
    )


def stopped_line(now: Status) -> str:
    """Why a study has stopped; an estimate is marked as such."""
    from standout.results import StopReason

    if now.reason is StopReason.ESTIMATE and now.until is not None:
        from standout.estimation.until import Until

        return f"stopped: estimate ({Until.parse(now.until).words}; not a certificate)"
    return f"stopped: {stop_words(now)}"


def stop_words(now: Status) -> str:
    """Why a study has stopped, in a few words."""
    from standout.results import StopReason

    words = {StopReason.STOPPED: "by hand", StopReason.BUDGET: "the budget is used up"}
    return words.get(now.reason, str(now.reason))
