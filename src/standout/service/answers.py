"""The API's models of answers, made from the fields of results."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Field, create_model

from standout.results import Result
from standout.results.serialisation import shapes_of

Count = Annotated[int, Field(ge=0)]


def sent(
    kind: type[Result] | type[BaseModel], description: str = "Done.", status: int = 200
) -> dict[Any, Any]:
    """The description of a success; the answer itself is not validated again, for speed."""
    model = model_of(kind) if issubclass(kind, Result) else kind
    return {status: {"model": model, "description": description}}


def model_of(kind: type[Result]) -> type[BaseModel]:
    """The model of a kind of result, for the description of the API."""
    key: Any = kind  # mypy takes no class of ours for hashable
    return _model_of(key)


@cache
def _model_of(kind: type[Result]) -> type[BaseModel]:
    hints = {shape.name: shape.hint for shape in shapes_of(kind)} | dict(kind.more)
    fields: dict[str, Any] = {name: (_json_type(hint), ...) for name, hint in hints.items()}
    return create_model(kind.__name__, __doc__=kind.__doc__, **fields)


def _json_type(hint: Any) -> Any:
    """The type of a field in JSON; a value that may be unknown may be null."""
    if get_origin(hint) is Annotated:
        inner = get_args(hint)[0]
        return list[float | None] if hasattr(inner, "dtype") else inner | None
    if hasattr(hint, "dtype"):
        return list[float] if hint.dtype.startswith("float") else list[int]
    origin = get_origin(hint) or hint
    if origin in (Union, UnionType):
        (inner,) = (each for each in get_args(hint) if each is not NoneType)
        return _json_type(inner) | None
    if origin is Literal:
        return hint
    if origin is tuple:
        return list[_json_type(get_args(hint)[0])]  # type: ignore[misc]
    if issubclass(origin, Mapping):
        return dict[str, _json_type(get_args(hint)[1])]  # type: ignore[misc]
    if issubclass(origin, Result):
        return model_of(origin)
    if issubclass(origin, Enum):
        return Literal[tuple(origin)]
    return Count if origin is int else origin
