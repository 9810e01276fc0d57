"""Frozen dataclasses that kernels see as a pointer to a table of their fields.

A compiled function would receive a tuple of thirty arrays as two hundred numbers, which slows down
its compilation and each call. A `Struct` is one address. Its fields never change (the contents of
arrays do), and the compiler is told so: it reads each field once, as if it were an argument.

The fields named in `STATIC` are part of the type. A function made by
`standout.core.compile.dispatch` is compiled for their values alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar, Self, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_cast,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import as_dtype, from_dtype

_SCALARS: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean}
_INT = ir.IntType(64)
_layouts: dict[type[Struct], dict[str, tuple[int, Any]]] = {}


class Struct:
    """Base of frozen dataclasses whose fields are numbers, arrays and other such structs.

    The hint of an array says its dimensions where it has more than one:
    `Annotated[NDArray[np.float64], 2]`. Arrays must be C-contiguous. A struct within a struct
    has no static fields.
    """

    STATIC: ClassVar[tuple[str, ...]] = ()
    """Fields that are part of the type: kernels are compiled for each value apart."""
    DETAILS: ClassVar[tuple[str, ...]] = ()
    """Those of them that a kernel sees only if it says so; others share one compiled version."""

    @cached_property
    def _table(self) -> Any:
        """The fields, eight bytes each: a number, or an array's address and shape."""
        words: list[int] = []
        for name, (_, kind) in layout(type(self)).items():
            value = getattr(self, name)
            if isinstance(kind, types.Array):
                words += _array_words(name, value, kind)
            elif isinstance(kind, StructType):
                words.append(value.address)
            elif kind is types.float64:
                words.append(int(np.float64(value).view(np.int64)))
            else:
                words.append(int(value))
        return np.array(words, dtype=np.int64)

    @cached_property
    def address(self) -> int:
        """Where kernels find the fields; valid as long as this object lives."""
        return int(self._table.ctypes.data)

    @cached_property
    def _numba_type_(self) -> StructType:
        return StructType(type(self), tuple(getattr(self, name) for name in self.STATIC))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The fields' names, in order."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def values(self) -> tuple[Any, ...]:
        """The fields' values, in order."""
        return tuple(getattr(self, name) for name in self.names())

    def arrays(self) -> dict[str, Any]:
        """All arrays by name; those of a struct within it as `field.name`."""
        found: dict[str, Any] = {}
        for name, value in zip(self.names(), self.values(), strict=True):
            if isinstance(value, Struct):
                inner = value.arrays().items()
                found.update((f"{name}.{key}", array) for key, array in inner)
            elif isinstance(value, np.ndarray):
                found[name] = value
        return found

    def with_arrays(self, change: Callable[[str, Any], Any], path: str = "") -> Self:
        """A struct like this one with `change(name, array)` for each array, by its name."""
        values = []
        for name, value in zip(self.names(), self.values(), strict=True):
            if isinstance(value, Struct):
                value = value.with_arrays(change, f"{path}{name}.")
            elif isinstance(value, np.ndarray):
                value = change(path + name, value)
            values.append(value)
        return type(self)(*values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies make a table of their own."""
        return type(self), self.values()


def _array_words(name: str, value: Any, kind: Any) -> list[int]:
    wanted = as_dtype(kind.dtype)
    is_fit = isinstance(value, np.ndarray) and value.dtype == wanted and value.ndim == kind.ndim
    if not is_fit or not value.flags.c_contiguous:
        raise TypeError(f"{name} must be a C-contiguous {kind.ndim}-dimensional {wanted} array")
    return [int(value.ctypes.data), *value.shape]


def layout(cls: type[Struct]) -> dict[str, tuple[int, Any]]:
    """Each field's place in the table, in words of eight bytes, and its type in kernels."""
    if cls in _layouts:
        return _layouts[cls]
    found: dict[str, tuple[int, Any]] = {}
    place = 0
    hints = get_type_hints(cls, include_extras=True)
    for name in cls.names():
        kind = _kind(hints[name])
        found[name] = (place, kind)
        place += 1 + (kind.ndim if isinstance(kind, types.Array) else 0)
    _layouts[cls] = found
    return found


def _kind(hint: Any) -> Any:
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Struct):
        return StructType(hint, ())
    dimensions = 1
    if hasattr(hint, "__metadata__"):
        dimensions = hint.__metadata__[0]
        hint = hint.__origin__
    dtype = get_args(get_args(hint)[1])[0]
    return types.Array(from_dtype(np.dtype(dtype)), dimensions, "C")


class StructType(types.Type):  # type: ignore[misc]
    """Numba's type of a `Struct`: its class and the values of its static fields.

    A static value reads as an attribute, as on the struct itself.
    """

    def __init__(self, cls: type[Struct], static: tuple[Any, ...]) -> None:
        self.cls, self.static = cls, static
        super().__init__(name=f"{cls.__name__}{static}")

    @property
    def key(self) -> Any:
        """What makes two types the same."""
        return self.cls, self.static

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if "cls" not in known or name not in known["cls"].STATIC:
            raise AttributeError(name)
        value = known["static"][known["cls"].STATIC.index(name)]
        if value is None:
            raise TypeError(f"a kernel that depends on {name} must say so: @kernel({name!r})")
        return value

    def seen(self, names: tuple[str, ...]) -> StructType:
        """The type for a kernel that needs to know only these of the detailed fields."""
        hidden = [name for name in self.cls.DETAILS if name not in names]
        pairs = zip(self.cls.STATIC, self.static, strict=True)
        return StructType(self.cls, tuple(None if n in hidden else value for n, value in pairs))

    def can_convert_to(self, _: Any, other: Any) -> Any:
        """A kernel that knows less may be given what is known better."""
        if isinstance(other, StructType) and other.cls is self.cls:
            pairs = zip(self.static, other.static, strict=True)
            if all(theirs is None or mine == theirs for mine, theirs in pairs):
                from numba.core.typeconv import Conversion

                return Conversion.safe
        return None


@typeof_impl.register(Struct)
def _typeof(value: Struct, _: Any) -> StructType:
    return value._numba_type_


@register_model(StructType)
class _Model(models.OpaqueModel):  # type: ignore[misc]
    pass


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = StructType

    def generic_resolve(self, struct: StructType, name: str) -> Any:
        """The type of a field; None if there is none of that name."""
        found = layout(struct.cls).get(name)
        return None if found is None else found[1]


@unbox(StructType)
def _unbox(struct: StructType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = cgutils.alloca_once_value(
        c.builder, ir.Constant(c.context.get_value_type(struct), None)
    )
    with c.builder.if_then(cgutils.is_not_null(c.builder, address)):
        number = c.pyapi.long_as_longlong(address)
        c.builder.store(c.builder.inttoptr(number, c.context.get_value_type(struct)), pointer)
        c.pyapi.decref(address)
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    return NativeValue(c.builder.load(pointer), is_error=failed)


@lower_getattr_generic(StructType)
def _read(context: Any, builder: Any, struct: StructType, value: Any, name: str) -> Any:
    place, kind = layout(struct.cls)[name]
    words = builder.bitcast(value, _INT.as_pointer())
    mark = builder.module.add_metadata([])

    def word(number: int, of: Any = _INT) -> Any:
        pointer = builder.gep(words, [ir.Constant(ir.IntType(32), number)])
        found = builder.load(builder.bitcast(pointer, of.as_pointer()))
        # A field's address never changes: read it once, in spite of writes elsewhere.
        found.set_metadata("invariant.load", mark)
        return found

    if isinstance(kind, types.Array):
        return _array(context, builder, kind, word, place)
    if isinstance(kind, StructType):
        return builder.inttoptr(word(place), context.get_value_type(kind))
    if name in struct.cls.STATIC:
        return context.get_constant(kind, getattr(struct, name))
    if kind is types.float64:
        return word(place, ir.DoubleType())
    if kind is types.boolean:
        return builder.icmp_signed("!=", word(place), ir.Constant(_INT, 0))
    return word(place)


def _array(context: Any, builder: Any, kind: Any, word: Callable[..., Any], place: int) -> Any:
    """An array as kernels have it, from its address and shape, without reference counting."""
    item = context.get_data_type(kind.dtype)
    size = ir.Constant(_INT, context.get_abi_sizeof(item))
    shape = [word(place + 1 + axis) for axis in range(kind.ndim)]
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(word(place), item.as_pointer()),
        shape=shape,
        strides=strides,
        itemsize=size,
        meminfo=None,
    )
    return array._getvalue()


@lower_cast(StructType, StructType)
def _same(_context: Any, _builder: Any, _from: StructType, _to: StructType, value: Any) -> Any:
    """To forget a field changes nothing but the type."""
    return value
