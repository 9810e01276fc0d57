"""Results as JSON values and back: the only place that knows what JSON cannot express.

A number that is not known yet is infinite or NaN in Python and null in JSON. The annotation of
the field (`Lower`, `Upper`, `Maybe`) says which number null becomes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from standout.errors import StudyError, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Codes: TypeAlias = NDArray[np.int8]
else:
    # A client loads numpy only when an array arrives.
    class Floats:
        """An array of numbers."""

        dtype = "float64"

    class Ints:
        """An array of whole numbers."""

        dtype = "int64"

    class Codes:
        """An array of small whole numbers."""

        dtype = "int8"


@dataclass(frozen=True)
class Unknown:
    """The Python value of a number that is null in JSON."""

    value: float


Lower = Annotated[float, Unknown(-math.inf)]
"""A lower end: minus infinity while unknown."""
Upper = Annotated[float, Unknown(math.inf)]
"""An upper end: infinity while unknown."""
Maybe = Annotated[float, Unknown(math.nan)]
"""A number: NaN while unknown."""
if TYPE_CHECKING:
    Arms: TypeAlias = tuple[Any, ...]
else:
    Arms = tuple[str, ...]
"""Arms as the caller gave them: texts, numbers or other hashable values. Sent by a server they
are texts; a field is known to be of this kind by the name of its annotation."""
LowerEnds = Annotated[Floats, Unknown(-math.inf)]
UpperEnds = Annotated[Floats, Unknown(math.inf)]
Maybes = Annotated[Floats, Unknown(math.nan)]


class Shape(NamedTuple):
    """A field of a result: its names in Python and JSON, its type, whether it may be absent."""

    attribute: str
    name: str
    hint: Any
    is_optional: bool
    has_arms: bool

    def to_plain(self, value: Any) -> Any:
        """The field's value for JSON."""
        if self.has_arms:
            return [_plain_arm(arm) for arm in value]
        return to_plain(value)

    def from_plain(self, value: Any, where: str) -> Any:
        """The field's value from JSON."""
        if self.has_arms:
            return tuple(_arm(each, where) for each in _list(value, where))
        return from_plain(self.hint, value, where)


def shapes_of(kind: type[Any]) -> tuple[Shape, ...]:
    """The fields of a result that are sent, in order; fields marked as local are left out."""
    key: Any = kind  # mypy does not see that a class is hashable
    return _shapes_of(key)


@cache
def _shapes_of(kind: type[Any]) -> tuple[Shape, ...]:
    hints = get_type_hints(kind, include_extras=True)

    def shape(one: Field[Any]) -> Shape:
        is_optional = one.default is not MISSING or one.default_factory is not MISSING
        name = one.metadata.get("name", one.name)
        return Shape(one.name, name, hints[one.name], is_optional, one.type == "Arms")

    return tuple(shape(one) for one in fields(kind) if one.metadata.get("is_sent", True))


class Result:
    """A dataclass that is sent as JSON. Its fields define the format.

    `more` has the types of the entries that `to_dict` adds.
    """

    more: ClassVar[Mapping[str, Any]] = {}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        Returns:
            A mapping: lists for arrays, null for a number that is not known yet.
        """
        return {
            shape.name: shape.to_plain(getattr(self, shape.attribute))
            for shape in shapes_of(type(self))
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The result that `to_dict` wrote as `data`.

        Args:
            data: The mapping; unknown entries are ignored.

        Returns:
            An equal result.

        Raises:
            StudyError: An entry is missing or has the wrong type.
        """
        if not isinstance(data, Mapping):
            raise _wrong(cls.__name__, "an object", data)
        found = {}
        for shape in shapes_of(cls):
            where = f"{cls.__name__}.{shape.name}"
            if shape.name in data:
                found[shape.attribute] = shape.from_plain(data[shape.name], where)
            elif not shape.is_optional:
                raise StudyError(f"the answer lacks {where}; was it made by another version?")
        return cls(**found)


def _plain_arm(arm: Any) -> str | int | float:
    """A text or a number unchanged; any other arm as its text."""
    return arm if isinstance(arm, str | int | float) else str(arm)


_PLAIN = frozenset((str, int, bool, NoneType))


def to_plain(value: Any) -> Any:
    """Any value of a result as JSON."""
    if type(value) in _PLAIN:  # The usual case.
        return value
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) is str else to_plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return _listed(value)


def _listed(array: Any) -> Any:
    listed = array.tolist()
    if array.dtype.kind == "f":
        import numpy as np

        if not array.ndim:
            return to_plain(listed)
        for place in np.flatnonzero(~np.isfinite(array)).tolist():
            listed[place] = None
    return listed


def from_plain(hint: Any, value: Any, where: str) -> Any:
    """The value of a field of type `hint` from JSON; an error message names it by `where`."""
    unknown = None
    if get_origin(hint) is Annotated:
        hint, unknown = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        if value is None:
            return None
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    if hasattr(hint, "dtype"):
        return _array(hint, value, unknown, where)
    if value is None and unknown is not None:
        return unknown.value
    origin = get_origin(hint) or hint
    if origin is tuple:
        inner = get_args(hint)[0]
        return tuple(from_plain(inner, each, where) for each in _list(value, where))
    if origin is Literal:
        if value not in get_args(hint):
            raise _wrong(where, f"one of {', '.join(get_args(hint))}", value)
        return value
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _wrong(where, "an object", value)
        inner = get_args(hint)[1]
        return {str(key): from_plain(inner, each, where) for key, each in value.items()}
    if issubclass(origin, Result):
        return origin.from_dict(value)
    return _scalar(origin, value, where)


def _arm(value: Any, where: str) -> Any:
    if not isinstance(value, str | int | float):
        raise _wrong(where, "a text or a number", value)
    return value


def _scalar(kind: type[Any], value: Any, where: str) -> Any:
    if issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError:
            raise _wrong(where, f"one of {', '.join(map(str, kind))}", value) from None
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
        raise _wrong(where, words[kind], value)
    return value


def _array(kind: type[Any], value: Any, unknown: Unknown | None, where: str) -> Any:
    import numpy as np

    listed = _list(value, where)
    if unknown is not None:
        listed = [unknown.value if each is None else each for each in listed]
    try:
        return np.array(listed, dtype=kind.dtype)
    except (TypeError, ValueError, OverflowError):
        raise _wrong(where, "a list of numbers", value) from None


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise _wrong(where, "a list", value)
    return list(value)


def _wrong(where: str, wanted: str, value: object) -> StudyError:
    return StudyError(f"the answer's {where} should be {wanted}, not {shown(value)}")
