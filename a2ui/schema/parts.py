"""Shapes of what components are made of: children, tabs, options, checks, actions (rulebook 7.5, 11, 13, 16)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from a2ui.schema.dynamic import call, dynamic_boolean, dynamic_string, dynamic_value
from a2ui.schema.shapes import Check, Shape, below, list_of, one_of, record, string

_TIME = re.compile(
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

_static_children = list_of(string)
_template = record({"componentId": string, "path": string})


def children(value: Any, path: str, check: Check) -> None:
    """A list of ids, or a template."""
    (_template if type(value) is dict else _static_children)(value, path, check)


tabs = list_of(record({"title": dynamic_string, "child": string}), at_least=1)
options = list_of(record({"label": dynamic_string, "value": string}))


def by_notation(plain: Shape, marked: Shape) -> Shape:
    """One shape in 0.9, another in 1.0."""

    def shape(value: Any, path: str, check: Check) -> None:
        (marked if check.notation.marked else plain)(value, path, check)

    return shape


def _condition(value: Any, path: str, check: Check) -> None:
    if type(value) is not dict:
        check.wrong(path, "a binding or a call", value)
    else:
        dynamic_boolean(value, path, check)


checks = by_notation(
    list_of(record({"condition": dynamic_boolean, "message": string})),
    list_of(record({"condition": _condition}, {"message": string})),
)


def _context(value: Any, path: str, check: Check) -> None:
    if type(value) is not dict:
        check.bad(path, "The context is an object.")
        return
    for key, entry in value.items():
        dynamic_value(entry, below(path, key), check)


_event = by_notation(
    record({"event": record({"name": string}, {"context": _context})}),
    record({"event": record({"name": string}, {"context": _context, "userMessage": dynamic_string})}),
)


def _clicked(value: Any, path: str, check: Check) -> None:
    """A call that a click makes: also of functions with an effect, which run on nothing else."""
    check.clicked = True
    call(value, path, check)
    check.clicked = False


_local = record({"functionCall": _clicked})


def action(value: Any, path: str, check: Check) -> None:
    """`{event}` or `{functionCall}`."""
    (_local if type(value) is dict and "functionCall" in value else _event)(value, path, check)


def _accessibility(value: Any, path: str, check: Check) -> None:
    if type(value) is not dict:
        check.wrong(path, "an object", value)
        return
    for key in ("label", "description"):
        if key in value:
            dynamic_string(value[key], below(path, key), check)


accessibility = by_notation(
    _accessibility,
    record(
        {},
        {
            "label": dynamic_string,
            "description": dynamic_string,
            "live": one_of("off", "polite", "assertive"),
            "hidden": dynamic_boolean,
        },
    ),
)
"""label and description; the schema of 0.9 lets other keys pass, that of 1.0 has live and hidden as well."""


def moment(value: Any, path: str, check: Check) -> None:
    """DynamicString; a literal is a date, a time with an offset, or both (ISO 8601 as RFC 3339 has it)."""
    dynamic_string(value, path, check)
    if type(value) is str and not _is_moment(value):
        check.bad(path, "This is a date, a time or a date and time with an offset (ISO 8601).")


def _is_moment(text: str) -> bool:
    if _TIME.fullmatch(text):
        return True
    if not _DATE.match(text):
        return False
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return len(text) == 10 or (text[10] in "Tt" and _TIME.fullmatch(text, 11) is not None)
