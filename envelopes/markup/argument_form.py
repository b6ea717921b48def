"""The arguments of a tool call as a form: one input for each value, made from the tool's schema and its titles.

Pure: what is shown is a function of schema, titles and arguments, and what was sent is read back into arguments. A
value that was not touched comes back exactly as it was; whether the tool takes the others is for the tool to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.utils.translation import gettext as _

from envelopes.errors import ValidationFailed
from envelopes.markup.facts import Label, Where
from envelopes.protocol.strict_json import parse_strict
from envelopes.registries.shown import Declared, Path
from envelopes.types import Json, JsonObject

Kind = Literal["text", "long", "integer", "number", "choice", "date", "lines", "json"]

MOST_INPUTS = 60
"""Of a form; what holds more values is one text of JSON."""
_LONG = 80
_DEEPEST = 8
_EMPTY: tuple[object, ...] = (("",), ([],))
"""Defaults of what may be left out by emptying its input."""


@dataclass(frozen=True)
class Input:
    """One value. ``text`` is what stands in the input, ``stood`` what stood there first, ``error`` what is wrong with
    it. ``choices`` are value and words; ``nullable``: nothing may be said, which is null."""

    name: str
    where: Where
    label: tuple[Label, ...]
    kind: Kind
    value: Json
    text: str
    stood: str = ""
    required: bool = True
    nullable: bool = False
    choices: tuple[tuple[Json, str], ...] = ()
    hint: str = ""
    error: str = ""

    @property
    def is_changed(self) -> bool:
        return self.text != self.stood


@dataclass(frozen=True)
class ArgumentForm:
    """``general`` is what is wrong with no single value."""

    inputs: tuple[Input, ...]
    args: JsonObject = field(default_factory=dict)
    general: str = ""

    @classmethod
    def of(cls, schema: JsonObject, declared: Iterable[Json], args: JsonObject) -> ArgumentForm:
        """``schema``: the JSON Schema of the tool's input; ``declared``: as ``registries.shown.declare`` gives it."""
        known = {found.path: found for item in declared if (found := Declared.load(item)) is not None}
        walk = _Walk(known, schema.get("$defs", {}))
        made = list(walk.members(schema, (), (), (), args, 0))
        if len(made) > MOST_INPUTS:
            made = [walk.made((), (Label(_("All arguments")),), "json", args)]
        return cls(tuple(replace(one, name=f"a{number}") for number, one in enumerate(made)), args)

    def read(self, sent: Mapping[str, str]) -> ArgumentForm:
        """What was sent: ``args`` with the values of ``sent``, by the names of the inputs, and the ``error`` of those
        that cannot be read."""
        args: Any = deepcopy(self.args)
        inputs = []
        for one in self.inputs:
            text = sent.get(one.name, one.text).replace("\r\n", "\n")
            if text == one.text:
                inputs.append(one)
                continue
            try:
                value = _read(one, text)
            except ValueError as error:
                inputs.append(replace(one, text=text, error=str(error)))
                continue
            inputs.append(replace(one, text=text))
            if not one.where:
                args = value
            else:
                _put(args, one.where, value)
        return ArgumentForm(tuple(inputs), args)

    @property
    def is_readable(self) -> bool:
        return not any(one.error for one in self.inputs)

    def refused(self, error: ValidationFailed) -> ArgumentForm:
        """The same with what is wrong beside the values that it is about."""
        problems = error.facts.get("problems") or [
            {"path": error.facts.get("path") or "", "message": error.message}
        ]
        by_pointer = {_pointer(one.where): one.name for one in self.inputs if one.where}
        found: dict[str, str] = {}
        general = []
        for problem in problems:
            name = _nearest(by_pointer, problem["path"])
            if name is None:
                general.append(problem["message"])
            else:
                found.setdefault(name, problem["message"])
        inputs = tuple(replace(one, error=found.get(one.name, one.error)) for one in self.inputs)
        return replace(self, inputs=inputs, general=" ".join(general))

    def saying(self, message: str) -> ArgumentForm:
        """The same with what is wrong with all of it."""
        return replace(self, general=message)


def _pointer(where: Where) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in where)


def _nearest(by_pointer: Mapping[str, str], path: str) -> str | None:
    """The input at ``path``, or that of what holds it."""
    while path:
        if path in by_pointer:
            return by_pointer[path]
        path = path.rpartition("/")[0]
    return None


def _put(args: Any, where: Where, value: Json) -> None:
    for step in where[:-1]:
        args = args[step]
    args[where[-1]] = value


# -- from the schema ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Walk:
    known: Mapping[Path, Declared]
    definitions: JsonObject

    def members(
        self,
        schema: JsonObject,
        path: Path,
        where: Where,
        label: tuple[Label, ...],
        value: JsonObject,
        depth: int,
    ) -> Iterator[Input]:
        properties: JsonObject = schema.get("properties", {})
        required = schema.get("required", [])
        for key in dict.fromkeys([*properties, *value]):
            found = self.known.get((*path, key))
            kind: Literal["title", "key"] = "title" if found is not None and found.title else "key"
            title = Label(found.title if found is not None and found.title else key, kind)
            given = value.get(key)
            yield from self.value(
                properties.get(key, {}),
                (*path, key),
                (*where, key),
                (*label, title),
                given,
                depth + 1,
                required=key in required,
            )

    def value(
        self,
        schema: JsonObject,
        path: Path,
        where: Where,
        label: tuple[Label, ...],
        value: Json,
        depth: int,
        *,
        required: bool = True,
    ) -> Iterator[Input]:
        schema, nullable = self._resolved(schema)
        found = self.known.get(path)
        may_be_empty = nullable or (not required and found is not None and found.default in _EMPTY)
        more: dict[str, Any] = {
            "required": not may_be_empty,
            "nullable": nullable,
            "hint": _hint(found),
        }
        if isinstance(value, dict) and value and depth < _DEEPEST:
            yield from self.members(schema, path, where, label, value, depth)
            return
        if isinstance(value, list) and depth < _DEEPEST and any(isinstance(item, dict) for item in value):
            items: JsonObject = schema.get("items", {})
            for at, item in enumerate(value):
                numbered = (*label, Label(str(at + 1), "item"))
                yield from self.value(items, (*path, None), (*where, at), numbered, item, depth + 1)
            return
        if choices := _choices(schema, found):
            yield self.made(where, label, "choice", value, choices=choices, **more)
            return
        yield self.made(where, label, _kind(schema, value), value, **more)

    def made(
        self,
        where: Where,
        label: tuple[Label, ...],
        kind: Kind,
        value: Json,
        choices: tuple[tuple[Json, str], ...] = (),
        **more: Any,
    ) -> Input:
        text = _text(kind, value)
        if kind == "choice":
            text = next((str(at) for at, (one, _words) in enumerate(choices) if one == value), "")
        return Input("", where, label, kind, value, text, text, choices=choices, **more)

    def _resolved(self, schema: JsonObject) -> tuple[JsonObject, bool]:
        """The schema of a value when there is one, and whether there may be none."""
        nullable = False
        for _step in range(_DEEPEST):
            if "$ref" in schema:
                schema = self.definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
            elif alternatives := schema.get("anyOf"):
                given = [one for one in alternatives if one.get("type") != "null"]
                nullable |= len(given) < len(alternatives)
                if len(given) != 1:
                    return {"anyOf": given}, nullable
                schema = given[0]
            else:
                break
        return schema, nullable


def _choices(schema: JsonObject, found: Declared | None) -> tuple[tuple[Json, str], ...]:
    words = found.words if found is not None else {}
    if schema.get("type") == "boolean":
        return ((True, _("Yes")), (False, _("No")))
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return tuple((value, words.get(str(value)) or str(value)) for value in values)


def _kind(schema: JsonObject, value: Json) -> Kind:
    match schema.get("type"):
        case "integer":
            return "integer"
        case "number":
            return "number"
        case "string":
            if schema.get("format") == "date":
                return "date"
            return _text_kind(value)
        case "array" if isinstance(value, list) and all(_is_line(item) for item in value):
            return "lines" if schema.get("items", {}).get("type") == "string" else "json"
    # A number that is written as a text, such as a decimal, has both in its schema.
    return _text_kind(value) if isinstance(value, str) else "json"


def _text_kind(value: Json) -> Kind:
    text = value if isinstance(value, str) else ""
    return "long" if len(text) > _LONG or "\n" in text else "text"


def _is_line(item: Json) -> bool:
    return isinstance(item, str) and bool(item.strip()) and "\n" not in item


def _text(kind: Kind, value: Json) -> str:
    if value is None and kind != "json":
        return ""
    if kind == "lines":
        return "\n".join(value)
    if kind in ("text", "long", "date") and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, dict | list) else None)


def _hint(found: Declared | None) -> str:
    if found is None or found.format != "money":
        return ""
    return _("In the smallest unit of the currency.") if found.minor else ""


# -- from what was sent ---------------------------------------------------------------------------------------------


def _read(one: Input, text: str) -> Json:
    """The value that ``text`` stands for. Raises ``ValueError``, with the sentence for whoever wrote it."""
    if one.nullable and not text.strip():
        return None
    match one.kind:
        case "text" | "long" | "date":
            return text
        case "lines":
            return [line.strip() for line in text.split("\n") if line.strip()]
        case "choice":
            if not (text.isascii() and text.isdecimal() and int(text) < len(one.choices)):
                raise ValueError(_("Choose one of these."))
            return one.choices[int(text)][0]
        case "integer" | "number":
            return _number(text.strip(), whole=one.kind == "integer")
        case _:
            return _json(text)


def _number(text: str, *, whole: bool) -> int | float:
    wrong = _("Enter a whole number.") if whole else _("Enter a number, with a point before decimals.")
    try:
        found = parse_strict(text)
    except ValidationFailed as error:
        raise ValueError(wrong) from error
    kinds = (int,) if whole else (int, float)
    number: int | float | None = found if type(found) in kinds else None
    if number is None:
        raise ValueError(wrong)
    return number


def _json(text: str) -> Json:
    try:
        return parse_strict(text)
    except ValidationFailed as error:
        raise ValueError(_("This is not JSON: {}").format(error.message)) from error
