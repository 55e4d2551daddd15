"""Classes that kernels derive from: `nl.NKIObject`.

Differs from a dataclass of Python: `@dataclass` may be left out, class attributes without a type
are fields too, and a field that is not given is None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any


class NKIObject:
    """The base of a kernel's own classes."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not any("__init__" in vars(base) for base in _own(cls.__mro__)):
            cls.__init__ = _set_fields  # before `@dataclass`, which then makes none


def _set_fields(self: Any, *args: Any, **given: Any) -> None:
    cls: type = self.__class__
    names = tuple(_fields(cls))
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__} has {len(names)} fields, {len(args)} given")
    values = dict(zip(names, args, strict=False)) | given
    unknown = next((name for name in values if name not in names), None)
    if unknown is not None:
        raise TypeError(f"{cls.__name__} has no field {unknown!r}")
    for name in names:
        value = values[name] if name in values else _default(cls, name)
        object.__setattr__(self, name, value)  # it may be frozen
    after = getattr(self, "__post_init__", None)
    if after is not None:
        after()


def _fields(cls: type) -> Iterator[str]:
    found: dict[str, None] = {}
    for base in _own(reversed(cls.__mro__)):
        members: dict[str, Any] = dict(vars(base))
        found |= dict.fromkeys(members.get("__annotations__", {}))
        for name, value in members.items():
            is_code = isinstance(value, FunctionType | staticmethod | classmethod | property | type)
            if not name.startswith("__") and not is_code:
                found.setdefault(name)
    yield from found


def _own(classes: Iterable[type]) -> Iterator[type]:
    return (base for base in classes if base not in (object, NKIObject))


def _default(cls: type, name: str) -> Any:
    """Return the default that the class gives; `@dataclass` keeps it in a field."""
    given: Any = getattr(cls, name, None)
    fields: dict[str, Any] = getattr(cls, "__dataclass_fields__", {})
    field: Any = fields.get(name, given)
    if type(field).__name__ != "Field":
        return given
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default
