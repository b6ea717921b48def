"""The shared tables of functions, each row evaluated inside a surface."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.a2ui.page import parse
from tests.a2ui.programs import row, surface
from tests.shared import variants


def evaluated(value: Any, model: Any = None, locale: str = "en-US", timezone: str = "UTC") -> str:
    """The text that a Text with this value shows."""
    options = {"locale": locale, "timezone": ZoneInfo(timezone)}
    _, only = surface(row("root", "Text", text=value), model=model, **options)
    return "".join(parse(only.html())[0].itertext()).strip("\n")


def function_rows() -> list[Any]:
    """(call, model, locale, zone, wanted) of every row of every function table."""
    found = []
    for param in variants("functions"):
        given, expected = param.values
        if given["kind"] != "function_table":
            continue
        model, locale, zone = given.get("model"), given.get("locale", "en-US"), given.get("timezone", "UTC")
        for name, value in given.get("rows", {}).items():
            found.append((param.id, name, value, model, locale, zone, expected["rows"][name]))
        for where, rows in given.get("by_timezone", {}).items():
            wanted = expected["by_timezone"][where]
            found += [(param.id, n, v, model, locale, where, wanted[n]) for n, v in rows.items()]
        for (where, value), wanted in zip(
            given.get("rows_with_locale", ()), expected.get("results", ()), strict=True
        ):
            found.append((param.id, str(value["args"]), value, model, where, zone, wanted))
        for where, rows in given.get("rows_by_locale", {}).items():
            wanted = expected["rows_by_locale"][where]
            found += [(param.id, f"{where}-{n}", v, model, where, zone, wanted[n]) for n, v in rows.items()]
        for name, entry in given.get("extra_rows", {}).items():
            wanted = expected["extra_rows"][name]
            found.append((param.id, name, entry["call"], entry.get("model"), entry["locale"], zone, wanted))
    return [pytest.param(*entry[2:], id=f"{entry[0]}:{entry[1]}") for entry in found]


EXPLICIT_KEYS_FIRST = {"0": "Z", "1": "1", "2": "2"}
"""pluralize: exactly 0, 1 or 2 takes the text given for it, whatever the locale says (rulebook 9.4, decision 21)."""


def check_row(value: Any, model: Any, locale: str, timezone: str, wanted: Any) -> None:
    """One row of `function_rows`."""
    accepted = wanted["any_of"] if isinstance(wanted, dict) else [wanted]
    if value.get("call") == "pluralize" and {"zero", "one", "two"} <= value["args"].keys():
        accepted = [*accepted, EXPLICIT_KEYS_FIRST.get(str(value["args"]["value"]))]
    assert evaluated(value, model, locale, timezone) in accepted
