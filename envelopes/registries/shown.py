"""How a tool's author says what its arguments are for people: titles, formats, what stands on one line.

``declare`` turns the pydantic model of a tool into plain data, which is stored with each question (metadata of the
``approval-request`` part): what was asked reads the same when the tool has changed or gone.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from envelopes.types import Json, JsonObject

Format = Literal["any", "text", "number", "money", "date", "time", "datetime", "yes-no", "list"]

Path = tuple[str | None, ...]
"""Keys from the arguments down to a value; None stands for every item of a list."""

DEEPEST = 8
"""Models inside of models: what is deeper than that, or contains itself, is shown under its own names."""

_BY_TYPE: dict[type, Format] = {
    bool: "yes-no",
    int: "number",
    float: "number",
    Decimal: "number",
    datetime: "datetime",
    date: "date",
    time: "time",
    str: "text",
}


@dataclass(frozen=True)
class Shown:
    """Marks a field of a tool's input: ``total: Annotated[int, Field(title="Total"), Shown(currency="currency")]``.

    ``currency``: the value is an amount of money, in this currency (ISO 4217: "GBP") or in the one that this field of
    the same model holds. ``minor``: the amount counts pence, cents or what the currency has. ``beside``: it stands on
    the line of this field. ``unit``: the words behind a number, for one and for more ("ticket", "tickets").
    ``words``: what to call each value of a choice. ``sum``: the one value that decides, emphasised.
    """

    currency: str = ""
    minor: bool = False
    beside: str = ""
    unit: tuple[str, str] | None = None
    # What stands in ``Annotated[...] | None`` is hashed, and no mapping can be.
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    sum: bool = False


@dataclass(frozen=True)
class Declared:
    """One field as it was declared. ``default``: what runs when it is not sent; a pair, since None is a value too."""

    path: Path
    title: str
    format: Format = "any"
    currency: str = ""
    minor: bool = False
    beside: str = ""
    unit: tuple[str, str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    sum: bool = False
    default: tuple[Json] | None = None
    required: bool = True

    def dump(self) -> JsonObject:
        """JSON, without what is as it is by default."""
        found: JsonObject = {"path": list(self.path), "title": self.title}
        for item in fields(self)[2:]:
            value = getattr(self, item.name)
            if (value and value != item.default) or (item.name == "required" and not value):
                found[item.name] = _plain(value)
        return found

    @classmethod
    def load(cls, stored: Json) -> Self | None:
        """What ``dump`` gave; None for anything else. Keys of a later version are passed over."""
        if not isinstance(stored, dict) or not isinstance(stored.get("title"), str):
            return None
        path = stored.get("path")
        if (
            not isinstance(path, list)
            or not path
            or not all(key is None or isinstance(key, str) for key in path)
        ):
            return None
        known = {item.name: stored[item.name] for item in fields(cls) if item.name in stored}
        pair = known.get("unit")
        known["unit"] = (str(pair[0]), str(pair[1])) if isinstance(pair, list) and len(pair) == 2 else None
        given = known.get("default")
        known["default"] = (given[0],) if isinstance(given, list) and len(given) == 1 else None
        return cls(**{**known, "path": tuple(path)})


def declare(model: type[BaseModel]) -> list[JsonObject]:
    """Every field of ``model`` and of the models inside of it, in their order."""
    return [declared.dump() for declared in _fields(model, (), (model,))]


def _fields(model: type[BaseModel], above: Path, within: tuple[type[BaseModel], ...]) -> Iterator[Declared]:
    for name, info in model.model_fields.items():
        key = _kept_as(info, name)
        shown = shown_of(info)
        path = (*above, key)
        inner, many = _inside(info.annotation)
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        yield Declared(
            path,
            _title(info) or name.replace("_", " ").strip().capitalize() or name,
            "list" if many else "any" if nested else _format(inner, shown),
            currency=_key_of(model, shown.currency),
            minor=shown.minor,
            beside=_key_of(model, shown.beside),
            unit=shown.unit,
            words=dict(shown.words),
            sum=shown.sum,
            default=_default(info),
            required=info.is_required(),
        )
        if many:
            path = (*path, None)
            if not nested:
                unit, words = shown.unit, dict(shown.words)
                yield Declared(path, "", _format(inner, shown), unit=unit, words=words)
        if nested and inner not in within and len(within) < DEEPEST:
            yield from _fields(inner, path, (*within, inner))


def shown_of(info: FieldInfo) -> Shown:
    """How the author of a field wants it shown."""
    return next((mark for mark in _marks(info) if isinstance(mark, Shown)), Shown())


def _title(info: FieldInfo) -> str:
    """The title of a field, which may stand within what it may be beside None."""
    titles = (mark.title for mark in _marks(info) if isinstance(mark, FieldInfo))
    return info.title or next(filter(None, titles), "")


def _marks(info: FieldInfo) -> Iterator[object]:
    """What is annotated of a field: ``Annotated[int | None, ...]`` and ``Annotated[int, ...] | None``."""
    yield from info.metadata
    kind = info.annotation
    while (inner := _one_inside(kind)) is not kind:
        yield from getattr(kind, "__metadata__", ())
        kind = inner


def _key_of(model: type[BaseModel], name: str) -> str:
    """The key under which a field of the same model is kept; what names none stays as it is."""
    info = model.model_fields.get(name)
    return name if info is None else _kept_as(info, name)


def _kept_as(info: FieldInfo, name: str) -> str:
    """The key under which arguments hold a field. They are what the model writes (``turns.reply.checked_args``), so
    none of the names by which it also reads the field will do."""
    return info.serialization_alias or name


def _inside(kind: Any) -> tuple[Any, bool]:
    """The type that a value has when there is one, and whether it is a list of such values."""
    kind = _given(kind)
    while isinstance(kind, type) and issubclass(kind, RootModel):
        # Its JSON is that of what it holds.
        kind = _given(kind.model_fields["root"].annotation)
    if get_origin(kind) in (list, tuple, set, frozenset):
        items = [item for item in get_args(kind) if item is not Ellipsis]
        return (_given(items[0]) if len(set(items)) == 1 else Any), True
    return kind, False


def _given(kind: Any) -> Any:
    """``kind`` without annotations, and without the None that says that it may be left out."""
    while (inner := _one_inside(kind)) is not kind:
        kind = inner
    return kind


def _one_inside(kind: Any) -> Any:
    """``kind`` without its outermost annotations or None; itself where it has neither."""
    args = get_args(kind)
    if hasattr(kind, "__metadata__"):
        return args[0]
    if get_origin(kind) in (Union, types.UnionType):
        rest = [item for item in args if item is not type(None)]
        return rest[0] if len(rest) == 1 else kind
    return kind


def _format(kind: Any, shown: Shown) -> Format:
    if shown.currency:
        return "money"
    if get_origin(kind) is Literal:
        return "text" if all(isinstance(item, str) for item in get_args(kind)) else "any"
    if not isinstance(kind, type):
        return "any"
    if issubclass(kind, enum.Enum):
        return "text" if all(isinstance(item.value, str) for item in kind) else "any"
    return next((form for known, form in _BY_TYPE.items() if issubclass(kind, known)), "any")


def _default(info: FieldInfo) -> tuple[Json] | None:
    """What is used when nothing is sent, if that can be said beforehand: what a factory makes cannot."""
    if info.default is PydanticUndefined or info.is_required():
        return None
    try:
        return (to_jsonable_python(info.default, by_alias=True),)
    except ValueError:
        return None


def _plain(value: Any) -> Json:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
