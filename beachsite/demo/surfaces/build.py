"""What several of Sally's interfaces have in common."""

from __future__ import annotations

from typing import Unpack

from a2ui.compose import (
    Button,
    Call,
    Common,
    Component,
    Dynamic,
    String,
    Text,
    fn,
    path,
    update_data,
)
from envelopes.types import JsonObject

string = fn.formatString


def price(value: str, currency: str) -> str:
    """An amount, both ends bound, as a part of a template; written as everywhere: "£188.00"."""
    return f"${{formatCurrency(value: {value}, currency: {currency})}}"


def once_given(pointer: str, condition: Dynamic) -> Call:
    """``condition``, which an empty field does not have to meet yet: a form must not greet anyone in red."""
    return fn.any_of(fn.is_not(fn.required(path(pointer))), condition)


def caption(text: String, **common: Unpack[Common]) -> Component:
    return Text(text, variant="caption", **common)


def heading(template: str, **common: Unpack[Common]) -> Component:
    """A text of one line that stands out; it may have ``${...}`` in it."""
    line = f"#### {template}"
    return Text(string(line) if "${" in line else line, **common)


def link(words: str, url: str) -> Component:
    """A button that opens a page."""
    return Button(Text(string(words)), fn.openUrl(url), variant="borderless")


def mark(surface: str, rows: str, row: int, previous: int | None, words: tuple[str, str]) -> list[JsonObject]:
    """The button of one row says the second of ``words``; that of the row before says the first again."""
    back = (
        []
        if previous is None or previous == row
        else [update_data(surface, f"{rows}/{previous}/act", words[0])]
    )
    return [
        *back,
        update_data(surface, f"{rows}/{row}/act", words[1]),
        update_data(surface, "/selected", row),
    ]


def batch(messages: list[JsonObject]) -> JsonObject:
    """What an a2ui-surface part carries."""
    return {"messages": messages}
