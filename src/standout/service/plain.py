"""From studies to JSON: numbers that JSON cannot write become null."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from starlette.responses import Response

from standout.core.identification import Identification, Interval
from standout.core.kinds import Verdict
from standout.core.typing import Floats, Ints
from standout.pictures.arms import picture_of_view
from standout.pictures.scale import ticks, trace_range
from standout.study import Study
from standout.study.trace import Trace
from standout.study.view import StudyView

VERDICTS = {int(kind): kind.name.lower() for kind in Verdict}


MOST_TICKS = 8
PIECE = 1_000
"""Entries of a list that are written in one go: meanwhile no other thread can do anything."""


def answer(content: Any, status: int = 200) -> Response:
    """JSON, written without another look: what is sent here is plain already."""
    return Response(to_json(content), status_code=status, media_type="application/json")


def to_json(content: Any) -> bytes:
    """JSON in UTF-8; of an object, the long lists are written in pieces."""
    if isinstance(content, dict) and any(_is_long(value) for value in content.values()):
        pairs = (f"{_dump(str(key))}:{_dump_long(value)}" for key, value in content.items())
        body = "{" + ",".join(pairs) + "}"
    else:
        body = _dump(content)
    # Half a surrogate pair cannot be in a name, but may be in a reason.
    return body.encode("utf-8", "replace")


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > PIECE


def _dump(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _dump_long(value: Any) -> str:
    if not _is_long(value):
        return _dump(value)
    begins = range(0, len(value), PIECE)
    return "[" + ",".join([_dump(value[i : i + PIECE])[1:-1] for i in begins]) + "]"


def finite(value: float | None) -> float | None:
    """A number, or None where it is none."""
    return value if value is not None and math.isfinite(value) else None


def column(values: Floats) -> list[float | None]:
    """An array as a list."""
    listed: list[float | None] = values.tolist()
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        listed[place] = None
    return listed


def ends(interval: Interval | None) -> dict[str, float | None] | None:
    """An interval."""
    if interval is None:
        return None
    return {"lower": finite(interval.lower), "upper": finite(interval.upper)}


def status(study: Study) -> dict[str, Any]:
    """How a study stands."""
    return {
        **study.status().to_dict(),
        "created": study.created,
        "method": study.method.label(),
        "problem": study.problem.to_dict(),
        "lease": study.lease,
        "arms": len(study.arms),
    }


def identification(found: Identification) -> dict[str, Any]:
    """The answer so far, with an entry per arm."""
    return {
        **found.to_dict(),
        "threshold": ends(found.threshold),
        "threshold_low": ends(found.threshold_low),
        "threshold_estimate": finite(found.threshold_estimate),
        "arms": list(found.arms),
        "means": column(found.means),
        "lower": column(found.lower),
        "upper": column(found.upper),
        "pulls_by_arm": found.pulls_by_arm.tolist(),
    }


def _threshold(interval: Interval | None, estimate: float | None) -> dict[str, Any] | None:
    found = ends(interval)
    return None if found is None else {**found, "estimate": finite(estimate)}


def next_pulls(seen: StudyView) -> list[dict[str, Any]]:
    """What would be asked next."""
    return [asdict(ahead) for ahead in seen.next]


def scale(low: float, high: float) -> dict[str, Any]:
    """The values that a picture shows, with more ticks than most screens have room for."""
    marks = ticks(low, high, MOST_TICKS)
    labels = [{"value": at, "label": label.replace("-", "\u2212")} for at, label in marks]
    return {"low": low, "high": high, "ticks": labels}


def view(seen: StudyView) -> dict[str, Any]:
    """All arms, or those that changed."""
    where: Ints | slice = slice(None) if seen.changed is None else seen.changed
    is_full = seen.changed is None
    shown = picture_of_view(seen)
    return {
        "seq": seen.seq,
        "full": is_full,
        "positions": None if seen.changed is None else seen.changed.tolist(),
        "names": list(seen.names) if is_full else None,
        "estimate": column(seen.estimate[where]),
        "lower": column(seen.lower[where]),
        "upper": column(seen.upper[where]),
        "pulls": seen.pulls[where].tolist(),
        "pending": seen.pending[where].tolist(),
        "verdict": seen.verdict[where].tolist(),
        "threshold": _threshold(seen.threshold, seen.threshold_estimate),
        "threshold_low": _threshold(seen.threshold_low, seen.threshold_low_estimate),
        "median": finite(seen.median),
        "scale": scale(shown.low, shown.high),
        "counts": asdict(seen.counts),
        "name": seen.name,
        "created": seen.created,
        "problem": seen.problem.to_dict(),
        "method": seen.method,
        "budget": seen.budget,
        "stopped": seen.stopped,
        "stopped_at": seen.stopped_at,
        "reason": seen.reason,
        "note": seen.note,
        "failures": seen.failures,
        "paused": seen.paused,
        "next": next_pulls(seen),
    }


def arm_rows(seen: StudyView, places: Sequence[int]) -> list[dict[str, Any]]:
    """The rows of a table of arms."""
    return [
        {
            "position": place,
            "arm": seen.names[place],
            "estimate": finite(float(seen.estimate[place])),
            "lower": finite(float(seen.lower[place])),
            "upper": finite(float(seen.upper[place])),
            "pulls": int(seen.pulls[place]),
            "pending": int(seen.pending[place]),
            "verdict": VERDICTS[int(seen.verdict[place])],
            "failures": seen.failures.get(seen.names[place], 0),
            "paused": seen.paused.get(seen.names[place]),
        }
        for place in places
    ]


def trace(found: Trace) -> dict[str, Any]:
    """The threshold over the pulls."""
    return {
        "pulls": found.pulls.tolist(),
        "time": found.time.tolist(),
        "lower": column(found.lower),
        "upper": column(found.upper),
        "lower_low": column(found.lower_low),
        "upper_low": column(found.upper_low),
        "undecided": found.undecided.tolist(),
        "scale": scale(*trace_range(found)),
    }
