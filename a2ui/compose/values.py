"""Dynamic values as objects: bindings, function calls, the position of an item; and how all of it is written in 1.0.

Sections 4.1 to 4.3 of the reading of 1.0. A plain object in a context or in arguments is data: what would be read as
something else in it is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.registry import Catalog
from a2ui.compose.errors import ComposeError
from a2ui.data.pointer import parse_scoped
from a2ui.errors import A2uiError, ExpressionError
from a2ui.functions import expressions
from a2ui.functions.basic import FORMAT_STRING
from a2ui.functions.registry import Env
from a2ui.protocol.dialects import MARKED
from a2ui.schema import dynamic
from a2ui.schema.dynamic import INDEX
from a2ui.schema.shapes import Check

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Path:
    """What the data model holds at ``pointer``: from the root where it begins with a slash, else from the item of a
    template."""

    pointer: str

    def __post_init__(self) -> None:
        if not isinstance(self.pointer, str):
            raise ComposeError("A path is text.", component="path", property="pointer")
        try:
            parse_scoped(self.pointer)
        except A2uiError as error:
            raise ComposeError(error.message, component="path", property="pointer") from error


@dataclass(frozen=True, slots=True)
class Call:
    """A function of a catalog, called; without one it is a function of the Basic Catalog, or of the protocol."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    catalog: Catalog | None = None

    def __post_init__(self) -> None:
        if self.catalog is None and self.name not in BASIC_CATALOG_1_0.functions and self.name != INDEX:
            raise ComposeError("The Basic Catalog has no such function.", component=self.name)
        # Whether it may stand where it is put is asked there.
        check = Check(lookup(self), MARKED)
        check.clicked = True
        try:
            dynamic.call(written(self, None), "", check)
        except ComposeError as error:
            raise ComposeError(error.message, component=self.name, property="args") from error
        for path, message in check.problems[:1]:
            argument = path.removeprefix("/args").strip("/").partition("/")[0]
            raise ComposeError(message, component=self.name, property=argument)
        if self.catalog is None:
            self._check_literals()

    def _check_literals(self) -> None:
        """What only shows when it runs: a text that cannot be read, a pattern that is refused."""
        value, pattern = self.args.get("value"), self.args.get("pattern")
        try:
            if self.name == FORMAT_STRING and isinstance(value, str):
                for name, called in calls_in(value):
                    _check_text_call(name, called)
            elif self.name == "regex" and isinstance(pattern, str):
                BASIC_CATALOG_1_0.functions.by_name["regex"].evaluate(
                    {"value": "", "pattern": pattern}, Env()
                )
        except ExpressionError as error:
            where = "pattern" if self.name == "regex" else "value"
            raise ComposeError(error.message, component=self.name, property=where) from error


Dynamic: TypeAlias = Path | Call
String: TypeAlias = str | Dynamic
Number: TypeAlias = float | Dynamic
Boolean: TypeAlias = bool | Dynamic
Strings: TypeAlias = Sequence[str] | Dynamic
Data: TypeAlias = "str | float | bool | Dynamic | Sequence[Data] | Mapping[str, Data] | None"
"""JSON in which bindings and calls may stand, at whatever depth."""


def path(pointer: str) -> Path:
    """A binding: ``path("/flights/0/price")``, or ``path("price")`` inside of a template."""
    return Path(pointer)


def call(name: str, /, *, catalog: Catalog | None = None, **args: Any) -> Call:
    """A call of any function. Those of the Basic Catalog have functions of their own in ``compose.functions``."""
    return Call(name, args, catalog)


def index(offset: Number = 0) -> Call:
    """The position of the item of the nearest template, from 0."""
    return Call(INDEX, {} if offset == 0 else {"offset": offset})


# ---- texts

_ALWAYS: Final = frozenset("\\*_[]<&~`")
_WHITE: Final = " \t\u00a0"


def plain(text: str) -> str:
    """Text that is shown as it is, where Markdown is read: ``Text(plain(name))``. Lines stay lines.

    Escaping makes a text longer; one of more than ``Limits.markdown_chars`` characters is shown with the escapes.
    """
    lines = [
        _plain_line(line.rstrip()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    ]
    shown = ""
    for number, line in enumerate(lines):
        # A backslash breaks a line inside of a paragraph, and would be shown at the end of one.
        inside = number and line and lines[number - 1]
        shown += ("\\\n" if inside else "\n" if number else "") + line
    return shown


def _plain_line(line: str) -> str:
    words = line.lstrip(_WHITE)
    # Indented text would be code: a space that does not break is none to Markdown.
    indent = "\u00a0" * (len(line) - len(words))
    digits = len(words) - len(words.lstrip("0123456789"))
    escaped = "".join(["\\" + char if char in _ALWAYS else char for char in words])
    if 0 < digits < len(words) and words[digits] in ".)":
        escaped = f"{words[:digits]}\\{escaped[digits:]}"
    elif escaped[:1] and escaped[0] in "#>+-=|:":
        escaped = "\\" + escaped
    return indent + escaped


def calls_in(text: str) -> Iterator[tuple[str, expressions.Call]]:
    """(name, call) of every function in a text with ``${...}``. Raises ExpressionError for one that cannot be read."""
    waiting: list[Any] = list(expressions.parse_template(text, system=True).parts)
    while waiting:
        part = waiting.pop()
        if isinstance(part, expressions.Call):
            yield part.name, part
            waiting += [value for _, value in part.args]


def _check_text_call(name: str, called: expressions.Call) -> None:
    """Raises ExpressionError for a function of the Basic Catalog that is called in the wrong way; others are looked for
    once the catalog of the surface is known."""
    function = BASIC_CATALOG_1_0.functions.get(name)
    if function is None or function.signature is None:
        return
    signature, given = function.signature, {key for key, _ in called.args}
    for key in sorted(given - signature.required.keys() - signature.optional.keys()):
        raise ExpressionError(f"{name} has no argument {key!r}.")
    for key in sorted(signature.required.keys() - given):
        raise ExpressionError(f"{name} needs {key}.")
    if signature.any_of and given.isdisjoint(signature.any_of):
        raise ExpressionError(f"{name} needs one of {', '.join(signature.any_of)}.")
    if function.effect:
        raise ExpressionError(f"{name} runs on a click only.")


# ---- how it is written


def written(value: Any, default: Catalog | None) -> Any:
    """A value as 1.0 writes it, on a surface whose catalog is ``default`` (None: not known yet). Shares nothing that
    changes."""
    if isinstance(value, Path):
        return {"@path": value.pointer}
    if isinstance(value, Call):
        found: JsonObject = {"@call": value.name}
        if value.args or value.name != INDEX:
            found["args"] = {name: written(item, default) for name, item in value.args.items()}
        owner = owner_of(value.catalog, default, lambda catalog: catalog.functions.get(value.name))
        return {**found, "catalogId": owner} if owner and value.name != INDEX else found
    if isinstance(value, Mapping):
        return {
            f"@{key}" if str(key)[:1] == "@" else key: written(item, default) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [written(item, default) for item in value]
    if value is not None and not isinstance(value, str | int | float):
        raise ComposeError(f"A {type(value).__name__} is no JSON.")
    return value


def owner_of(
    catalog: Catalog | None, default: Catalog | None, member: Callable[[Catalog], object | None]
) -> str:
    """The id that a component or a call has to name, "" where it means the surface's own catalog. What is of the Basic
    Catalog is found in catalogs that extend it, too."""
    meant = catalog or BASIC_CATALOG_1_0
    if default is None:
        return "" if catalog is None else meant.id
    return "" if default is meant or member(default) is member(meant) is not None else meant.id


def calls_of(value: Any) -> Iterator[Call]:
    """All calls in a value, at whatever depth."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Call):
            yield item
            waiting += item.args.values()
        elif isinstance(item, Mapping):
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item


def lookup(value: Any) -> Callable[[str, str], Any]:
    """Functions by name and id of a catalog, "" for the basic one, of those catalogs that ``value`` names."""
    known = {item.catalog.id: item.catalog for item in calls_of(value) if item.catalog is not None}
    known[""] = BASIC_CATALOG_1_0

    def find(name: str, catalog_id: str) -> Any:
        catalog = known.get(catalog_id)
        return catalog.functions.get(name) if catalog is not None else None

    return find
