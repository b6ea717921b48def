"""Kinds of properties: each turns the JSON of one property into what rendering uses (rulebook 5.1, 7.1).

A kind is a function of the JSON value and a `AcceptContext`. It returns the accepted value, or ABSENT after reporting
why there is none. null never gets here: it counts as if the property were absent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from a2ui.binding.parsing import Trail, parse, parse_path
from a2ui.binding.values import Binding, Value, is_dynamic
from a2ui.catalog.accepting import AcceptContext
from a2ui.data.pointer import ABSENT, Absent, Tokens
from a2ui.errors import BUDGET_EXCEEDED

Kind: TypeAlias = "Callable[[Any, AcceptContext], Any]"


# ---- dynamic values


def text(raw: Any, where: AcceptContext) -> Any:
    """DynamicString. Numbers and booleans become text when shown; plain objects are no text."""
    if type(raw) is str:
        return raw
    value = parse(raw, where)
    if isinstance(value, dict):
        return where.wrong('text, {"path": ...} or {"call": ...}', raw)
    return value


def number(raw: Any, where: AcceptContext) -> Any:
    """DynamicNumber; numeric text is converted when bound (7.2)."""
    value = parse(raw, where)
    if isinstance(value, dict | list | bool):
        return where.wrong("a number", raw)
    return value


def boolean(raw: Any, where: AcceptContext) -> Any:
    """DynamicBoolean; text and numbers are converted when bound (7.2)."""
    value = parse(raw, where)
    if isinstance(value, dict | list):
        return where.wrong("true or false", raw)
    return value


def string_list(raw: Any, where: AcceptContext) -> Any:
    """DynamicStringList; one plain text counts as a list of it."""
    value = parse(raw, where)
    if isinstance(value, dict | bool | int | float):
        return where.wrong("a list of texts", raw)
    return value


# ---- literals


def literal_text(raw: Any, where: AcceptContext) -> Any:
    """A string that is never dynamic."""
    return raw if isinstance(raw, str) else where.wrong("text", raw)


def literal_number(raw: Any, where: AcceptContext) -> Any:
    """A number that is never dynamic; true and false are none."""
    if type(raw) is int:
        return raw
    return raw if isinstance(raw, int | float) and not isinstance(raw, bool) else where.wrong("a number", raw)


def divisions(raw: Any, where: AcceptContext) -> Any:
    """A whole number from 1 on; 3.0 is one as well."""
    if type(raw) is float and raw.is_integer():
        raw = int(raw)
    return raw if type(raw) is int and raw >= 1 else where.wrong("a whole number from 1 on", raw)


def literal_boolean(raw: Any, where: AcceptContext) -> Any:
    """True or false, never dynamic."""
    return raw if isinstance(raw, bool) else where.wrong("true or false", raw)


ANY_TEXT: Final = frozenset({"*"})
"""Stands for all texts in `USUAL`."""

USUAL: Final[dict[Kind, Collection[str]]] = {text: ANY_TEXT, literal_text: ANY_TEXT}
"""Texts that a kind takes as they are: nobody needs to ask it."""

ENUM_VALUES: dict[Kind, tuple[str, ...]] = {}
"""The values of each kind that `enum` made."""


DEPRECATED: Final = "DEPRECATED"
"""Something that newer catalogs have in another way was taken all the same."""


def enum(*values: str, older: Mapping[str, str] = MappingProxyType({})) -> Kind:
    """One of the values; anything else is reported and leaves the default to the component. `older` ones are taken,
    and what stands for them is told."""
    allowed = frozenset(values)

    def read(raw: Any, where: AcceptContext) -> Any:
        if isinstance(raw, str) and raw in allowed:
            return raw
        if isinstance(raw, str) and raw in older:
            where.add(older[raw], DEPRECATED)
            return raw
        return where.wrong("one of " + ", ".join(values), raw, quoted=True)

    ENUM_VALUES[read] = values
    USUAL[read] = allowed
    return read


def deprecated(kind: Kind, instead: str) -> Kind:
    """A property that newer catalogs do not have: taken as before, and told what stands for it."""

    def read(raw: Any, where: AcceptContext) -> Any:
        where.add(f"{where.key} is deprecated. {instead}", DEPRECATED)
        return kind(raw, where)

    return read


# ---- structure


@dataclass(frozen=True, slots=True)
class Template:
    """Children made of one component per item of the list at a path (7.5)."""

    component_id: str
    tokens: Tokens
    absolute: bool


def child(raw: Any, where: AcceptContext) -> Any:
    """The id of one component."""
    return raw if isinstance(raw, str) else where.wrong("the id of a component", raw)


USUAL[child] = ANY_TEXT


_TEXT: Final = frozenset({str})


def children(raw: Any, where: AcceptContext) -> Any:
    """ChildList: a list of ids, or a Template."""
    if isinstance(raw, list):
        if not where.takes(raw):
            return ABSENT
        if _TEXT.issuperset(map(type, raw)):
            return raw
        at, other = next((at, item) for at, item in enumerate(raw) if type(item) is not str)
        where.wrong("the id of a component", other, f"/{at}")
        return [str(item) for item in raw if isinstance(item, str)]
    if isinstance(raw, dict):
        component_id, path = raw.get("componentId"), raw.get("path")
        if isinstance(component_id, str) and isinstance(path, str):
            binding = parse_path(path, where)
            if isinstance(binding, Binding):
                return Template(component_id, binding.tokens, binding.absolute)
            return ABSENT
    return where.wrong('a list of component ids or {"componentId": ..., "path": ...}', raw)


def _entries(
    raw: Any, where: AcceptContext, what: str, limit: str = "", used: str = ""
) -> list[Any] | Absent:
    """The entries of a list, counted; only the first where a `limit` of that name has fewer: `used` says what happens
    with those. ABSENT, with a report, for what is no list or is too long."""
    if not isinstance(raw, list):
        return where.wrong(f"a list of {what}", raw)
    if not where.takes(raw):
        return ABSENT
    allowed = getattr(where.limits, limit) if limit else len(raw)
    if len(raw) > allowed:
        message = f"Only the first {allowed} {what} are {used}."
        where.add(message, BUDGET_EXCEEDED, limit=limit, allowed=allowed, got=len(raw))
    return raw[:allowed]


class Tab(NamedTuple):
    """One tab: what it is called, and the id of what it shows."""

    title: Value
    child: str


def tabs(raw: Any, where: AcceptContext) -> Any:
    """A tuple of Tab; entries that are none are reported and left out."""
    entries = _entries(raw, where, "tabs")
    if isinstance(entries, Absent):
        return entries
    found = []
    for index, item in enumerate(entries):
        if isinstance(item, dict) and isinstance(item.get("child"), str):
            found.append(Tab(parse(item.get("title"), where, trail=((None, index), "title")), item["child"]))
        else:
            where.wrong("an object with title and child, the id of a component", item, f"/{index}")
    return tuple(found)


class Option(NamedTuple):
    """One choice; `value` is what goes into the data model."""

    label: Value
    value: str


def options(raw: Any, where: AcceptContext) -> Any:
    """A tuple of Option with distinct values; a repeated value and what is no option are left out."""
    entries = _entries(raw, where, "options", "options", "shown")
    if isinstance(entries, Absent):
        return entries
    found: dict[str, Option] = {}
    for index, item in enumerate(entries):
        value = item.get("value") if isinstance(item, dict) else None
        if isinstance(value, bool | int | float):
            value = str(value).lower() if isinstance(value, bool) else str(value)
        if not isinstance(value, str):
            where.wrong("an object with label and value, a text", item, f"/{index}")
        elif value in found:
            where.add("Two options have the same value; the first is shown.", sub=f"/{index}/value")
        else:
            label = item.get("label")
            if label is None:
                label = value
            elif type(label) is not str:
                label = parse(label, where, trail=((None, index), "label"))
            found[value] = Option(label, value)
    return tuple(found.values())


class Check(NamedTuple):
    """`condition` passes when it is truthy; `message` is shown when it does not (section 11)."""

    condition: Value
    message: str
    results: bool = False
    """Whether the condition gives a ValidationResult, or what counts as one: in 1.0."""


def checks(raw: Any, where: AcceptContext) -> Any:
    """A tuple of Check; the shorthand `{call, args, message}` is accepted (rulebook section 21, point 25)."""
    entries = _entries(raw, where, "checks", "checks", "used")
    if isinstance(entries, Absent):
        return entries
    marked = where.notation.marked
    found = []
    for index, item in enumerate(entries):
        if not isinstance(item, dict) or not ("condition" in item or where.notation.call in item):
            where.wrong("an object with condition and message", item, f"/{index}")
            continue
        message = item.get("message")
        if not isinstance(message, str):
            if "message" in item or not marked:
                where.wrong("text", item.get("message", ...), f"/{index}/message")
            message = ""
        trail: Trail = (None, index)
        if "condition" in item:
            found.append(Check(parse(item["condition"], where, trail=(trail, "condition")), message, marked))
        else:
            call = {key: value for key, value in item.items() if key != "message"}
            found.append(Check(parse(call, where, trail=trail), message, marked))
    return tuple(found)


NOT_CARRIED_OVER: Final = "NOT_CARRIED_OVER"
"""Something that this renderer has no place for was left out; the rest of the definition counts."""


class Accessibility(NamedTuple):
    """`label` and `description`, and in 1.0 `live` and `hidden`; None where not given (17.5)."""

    label: Value
    description: Value
    live: str | None = None
    """How a change is announced: "off", "polite" or "assertive"."""
    hidden: Value = None
    """Whether screen readers leave it out; never false by itself."""


LIVE: Final = ("off", "polite", "assertive")
_ACCESSIBILITY: Final = ("label", "description", "live", "hidden")


def accessibility(raw: Any, where: AcceptContext) -> Any:
    """An Accessibility that says something."""
    if not isinstance(raw, dict):
        return where.wrong("an object with label and description", raw)
    label, description = (_dynamic(raw.get(name), name, "text", where) for name in ("label", "description"))
    live = hidden = None
    if where.notation.marked:
        live = raw.get("live")
        if live is not None and live not in LIVE:
            where.wrong("one of " + ", ".join(LIVE), live, "/live", quoted=True)
            live = None
        hidden = _dynamic(raw.get("hidden"), "hidden", "true or false", where)
        for name in sorted(raw.keys() - _ACCESSIBILITY):
            where.add(f"accessibility has no member {name[:40]!r}.", sub=f"/{name[:40]}")
    found = Accessibility(label, description, live, None if hidden is False else hidden)
    return ABSENT if found == (None, None, None, None) else found


def _dynamic(raw: Any, name: str, expected: str, where: AcceptContext) -> Any:
    """A dynamic text or boolean; None where there is none, or something else."""
    value = None if raw is None else parse(raw, where, trail=(None, name))
    if isinstance(value, dict | list):
        where.wrong(expected, raw, f"/{name}")
        return None
    return value


@dataclass(frozen=True, slots=True)
class SvgPath:
    """The `d` of one path in a 24 by 24 view box, unchecked; in 1.0 it may be bound or called."""

    d: Value


def icon_name(raw: Any, where: AcceptContext) -> Any:
    """One of the names, a dynamic value for one, or SvgPath."""
    if isinstance(raw, dict) and "svgPath" in raw and where.notation.path not in raw:
        outline = raw["svgPath"]
        if isinstance(outline, str):
            return SvgPath(outline)
        found = parse(outline, where, trail=(None, "svgPath")) if where.notation.marked else None
        return SvgPath(found) if is_dynamic(found) else where.wrong("text", outline, "/svgPath")
    value = parse(raw, where)
    return value if isinstance(value, str) or is_dynamic(value) else where.wrong("the name of an icon", raw)
