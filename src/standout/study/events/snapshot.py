"""A study's state as bytes, so that opening a study need not fold all events.

The code is the same for all methods: it stores every array of the core's state except scratch
space. Rewards and tickets that cannot change any more are stored in parts, each once. The others
are stored with the state.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from standout.core.compile import Struct
from standout.core.crossing.record import KEPT, Crossing
from standout.estimation.evidence import Evidence
from standout.results import Change, Failure, StopReason
from standout.study.events.changing import PER_ARM, grow
from standout.study.events.definition import Definition
from standout.study.events.event import ENGINE
from standout.study.events.pulls import unpack_round
from standout.study.events.state import DueLook, StudyState, Totals
from standout.study.events.tables import Open, RewardStatus, TicketStatus
from standout.study.settings import Settings

FORM = 2
"""The version of the format of snapshots."""
SCRATCH = frozenset(
    (
        "joint", "boxes", "bends", "fits", "centre", "scratch", "work",
        "is_wanted", "candidates", "chosen", "amount",
        *(name for name in Crossing.names() if name not in KEPT),
    )
)  # fmt: skip
"""Arrays of the core's state that are scratch space or are computed from others."""
_REASONS = {str(reason): reason for reason in StopReason}
_PER_ARM = tuple(name for name in PER_ARM if name != "touched_at")
_OPEN = {"expires": "<f8", "round": "<i8", "event": "<i8"}
Arrays = dict[str, Any]


@dataclass(frozen=True)
class Packed:
    """A snapshot: the state, and the part of the ledger that follows the stored parts.

    When both are stored, `ends` becomes the state's `packed`.
    """

    state: bytes
    part: bytes
    ends: tuple[int, int]


def pack(state: StudyState) -> Packed:
    """A snapshot of a state, after the stored parts of its ledger."""
    ends = _ends(state)
    part = _write({"after": state.packed}, _rows(state, state.packed, ends))
    return Packed(_write({"ends": ends, **plain_of(state)}, arrays_of(state, ends)), part, ends)


def unpack(definition: Definition, content: bytes, parts: Sequence[bytes]) -> StudyState:
    """The state in a snapshot; `ValueError` if it is of another version, or damaged."""
    try:
        plain, arrays = _read(content)
        state = StudyState(definition, plain["number"], bytes.fromhex(plain["head"]))
        if plain["added"]:
            grow(state, plain["added"])
        state.use(Settings().with_values(plain["settings"], len(state.arms)))
        for part in parts:
            after, rows = _read(part)
            _put_rows(state, after["after"], rows)
        if (state.ledger.size, state.tickets.size) < tuple(plain["ends"]):
            raise ValueError("a part of the ledger is missing")
        state.packed = (plain["ends"][0], plain["ends"][1])
        _put_rows(state, state.packed, arrays)
        _fill(state, arrays)
        _adopt(state, arrays, plain)
        _restore_tickets(state, arrays, plain["holders"])
        _restore_lines(state, plain["waiting"])
    except (KeyError, TypeError, IndexError, AttributeError, zlib.error) as error:
        raise ValueError(f"a snapshot cannot be read ({error})") from error
    return state


def head_and_ends(content: bytes) -> tuple[bytes, tuple[int, int]]:
    """The digest of the last event in a snapshot, and the ends of its stored parts.

    Raises `ValueError` for a snapshot of another version, or a damaged one.
    """
    try:
        plain, _ = _read(content)
        return bytes.fromhex(plain["head"]), (plain["ends"][0], plain["ends"][1])
    except (KeyError, TypeError, IndexError, zlib.error) as error:
        raise ValueError(f"a snapshot cannot be read ({error})") from error


# Bytes ------------------------------------------------------------------------------------------


def _write(plain: Mapping[str, Any], arrays: Arrays) -> bytes:
    shapes = [[name, each.dtype.str, each.shape] for name, each in arrays.items()]
    head = json.dumps([FORM, ENGINE, plain, shapes]).encode()
    parts = [len(head).to_bytes(8, "little"), head]
    parts += [np.ascontiguousarray(each).tobytes() for each in arrays.values()]
    return zlib.compress(b"".join(parts), 1)


def _read(content: bytes) -> tuple[dict[str, Any], Arrays]:
    found = zlib.decompress(content)
    start = 8 + int.from_bytes(found[:8], "little")
    form, engine, plain, shapes = json.loads(found[8:start])
    if (form, engine) != (FORM, ENGINE):
        raise ValueError("a snapshot of another version")
    arrays: Arrays = {}
    for name, kind, shape in shapes:
        count = math.prod(shape)
        values = np.frombuffer(found, dtype=kind, count=count, offset=start)
        arrays[name] = values.reshape(shape)
        start += values.nbytes
    return plain, arrays


# Rewards and tickets ----------------------------------------------------------------------------


def _ends(state: StudyState) -> tuple[int, int]:
    """The last reward, and the last ticket, before the first that may change."""
    waiting = state.lines.first_waiting()
    rewards = state.ledger.size if waiting is None else waiting - 1
    tickets = min(state.tickets.open, default=state.tickets.size + 1) - 1
    return max(rewards, state.packed[0]), max(tickets, state.packed[1])


def _rows(state: StudyState, after: tuple[int, int], until: tuple[int, int]) -> Arrays:
    """The rewards and tickets behind `after`, up to `until`."""
    rewards = state.ledger.part(after[0] + 1, until[0])
    tickets = state.tickets.part(after[1] + 1, until[1])
    return {
        **{f"reward.{name}": values for name, values in rewards.items()},
        **{f"ticket.{name}": values for name, values in tickets.items()},
    }


def _put_rows(state: StudyState, after: Sequence[int], rows: Arrays) -> None:
    state.ledger.put(after[0] + 1, _named(rows, "reward."))
    state.tickets.put(after[1] + 1, _named(rows, "ticket."))


# The state -------------------------------------------------------------------------------------


def core_arrays(core: Struct, prefix: str = "core.") -> Iterator[tuple[str, Any]]:
    """Every array of the core's state by name, without scratch space."""
    for name in core.names():
        value = getattr(core, name)
        if isinstance(value, Struct):
            yield from core_arrays(value, f"{prefix}{name}.")
        elif isinstance(value, np.ndarray) and name not in SCRATCH:
            yield prefix + name, value


def arrays_of(state: StudyState, after: tuple[int, int] = (0, 0)) -> Arrays:
    """The arrays of the state, and the rewards and tickets after `after`."""
    opened = state.tickets.open
    look = {} if state.look is None else vars(state.look.evidence)
    return {
        **dict(core_arrays(state.state)),
        **{name: getattr(state, name) for name in _PER_ARM},
        "open.number": np.array(list(opened), dtype=np.int64),
        **{
            f"open.{name}": np.array([getattr(one, name) for one in opened.values()], dtype=kind)
            for name, kind in _OPEN.items()
        },
        "delays": np.array(state.tickets.delays, dtype=float),
        "trace": np.array(state.trace, dtype=float).reshape(-1, 7),
        **{f"look.{name}": values for name, values in look.items()},
        **_rows(state, after, (state.ledger.size, state.tickets.size)),
    }


def _fill(state: StudyState, arrays: Arrays) -> None:
    wanted = {**dict(core_arrays(state.state)), **{name: getattr(state, name) for name in _PER_ARM}}
    for name, target in wanted.items():
        found = arrays[name]
        if found.shape != target.shape or found.dtype != target.dtype:
            raise ValueError(f"a snapshot has another {name}")
        target[...] = found


def plain_of(state: StudyState) -> dict[str, Any]:
    """The rest of the state as plain values for JSON."""
    look = state.look
    return {
        "number": state.number,
        "head": state.head.hex(),
        "settings": vars(state.settings),
        "added": state.arms[state.begun_with :],
        "paused": list(state.paused.items()),
        "voided": sorted(state.voided),
        "totals": vars(state.totals),
        "rounds": [live.pack() for live in state.rounds.values()],
        "waiting": state.lines.waiting(),
        "workers": state.ledger.workers,
        "turns": state.ledger.turns,
        "holders": [one.worker for one in state.tickets.open.values()],
        "failed": [vars(each) for each in state.failed],
        "changes": [vars(each) for each in state.changes],
        "reason": str(state.reason),
        "stopped_at": state.stopped_at,
        "look": None if look is None else [look.number, look.time],
    }


def _adopt(state: StudyState, arrays: Arrays, plain: Mapping[str, Any]) -> None:
    """Restore everything except the core's arrays."""
    for delay in arrays["delays"].tolist():
        state.tickets.note_delay(delay)
    for row in arrays["trace"].tolist():
        low = [None if math.isnan(end) else end for end in row[4:6]]
        state.trace.append((int(row[0]), *row[1:4], low[0], low[1], int(row[6])))
    state.paused = {arm: why for arm, why in plain["paused"]}  # noqa: C416
    state.voided = set(plain["voided"])
    state.totals = Totals(**plain["totals"])
    state.rounds = {packed[0]: unpack_round(packed) for packed in plain["rounds"]}
    for worker in plain["workers"]:
        state.ledger.code_of(worker)
    state.ledger.turns = plain["turns"]
    state.failed = [Failure(**each) for each in plain["failed"]]
    state.changes = [Change(**each) for each in plain["changes"]]
    state.reason, state.stopped_at = _REASONS[plain["reason"]], plain["stopped_at"]
    if plain["look"] is not None:
        assert state.until is not None
        evidence = Evidence(**_named(arrays, "look."))
        number, time = plain["look"]
        state.look = DueLook(number, time, state.until, state.problem, state.arms, evidence)


def _restore_tickets(state: StudyState, arrays: Arrays, holders: Sequence[str]) -> None:
    """Restore the changes of rewards and tickets since their parts were stored, and the holders."""
    ledger, tickets = state.ledger, state.tickets
    gone = np.array(sorted(state.voided), dtype=np.int64) - 1
    ledger.status[gone], ledger.turn[gone] = RewardStatus.VOID, 0
    tickets.status[[each.ticket - 1 for each in state.failed]] = TicketStatus.FAILED
    told = np.flatnonzero(ledger.ticket[: ledger.size])
    rows = ledger.ticket[told] - 1
    tickets.status[rows], tickets.place[rows] = TicketStatus.TOLD, told + 1
    opened = _named(arrays, "open.")
    for number, expires, live, event, worker in zip(
        *(opened[name].tolist() for name in ("number", *_OPEN)), holders, strict=True
    ):
        tickets.take_in(number, Open(expires, worker, live, event))


def _restore_lines(state: StudyState, waiting: Sequence[Any]) -> None:
    """Restore the lines of pending pulls and waiting rewards."""
    if not state.is_ordered:
        return
    for slot in sorted(state.tickets.slots):
        state.lines.enter(state.tickets.arm.item(slot - 1), slot)
    for _, line in waiting:
        for order, place in line:
            state.lines.wait(state.ledger.arm.item(place - 1), order, place)


def _named(arrays: Arrays, prefix: str) -> Arrays:
    found = {name: each for name, each in arrays.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): each for name, each in found.items()}
