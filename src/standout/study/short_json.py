"""JSON of short texts, many times a second: the same as `json.dumps`, without its preparations."""

from __future__ import annotations

import json
from json import encoder
from typing import Any


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")


_make: Any = getattr(encoder, "c_make_encoder", None)
_parts: Any = (
    None
    if _make is None  # Another Python than the usual one.
    else _make(None, _refuse, encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True)
)


def dumps(value: Any) -> str:
    """As `json.dumps`, of what refers to itself nowhere.

    >>> dumps([1, 2.5, None, {"a": float("inf")}])
    '[1, 2.5, null, {"a": Infinity}]'
    """
    return json.dumps(value) if _parts is None else "".join(_parts(value, 0))
