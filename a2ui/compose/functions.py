"""The functions of the Basic Catalog 1.0, to be called in a surface: ``fn.required(path("/form/name"))``.

Imported as a module, ``from a2ui.compose import fn``. Three of them are words of Python's own, and have others here.
"""

from __future__ import annotations

from typing import Any

from a2ui.compose.values import Boolean, Call, Data, Number, String


def _call(name: str, /, **args: Any) -> Call:
    return Call(name, {key: value for key, value in args.items() if value is not None})


# ---- for checks


def required(value: Data) -> Call:
    """Whether there is anything."""
    return _call("required", value=value)


def regex(value: String, pattern: str) -> Call:
    """Whether ``pattern`` (RE2) is found."""
    return _call("regex", value=value, pattern=pattern)


def length(value: String, *, min: int | None = None, max: int | None = None) -> Call:
    """Whether a text has so many characters; at least one end is given."""
    return _call("length", value=value, min=min, max=max)


def numeric(value: Number, *, min: float | None = None, max: float | None = None) -> Call:
    """Whether it is a number between the ends; at least one is given."""
    return _call("numeric", value=value, min=min, max=max)


def email(value: String) -> Call:
    """Whether it is an address of mail."""
    return _call("email", value=value)


def all_of(*values: Boolean) -> Call:
    """``and``."""
    return _call("and", values=list(values))


def any_of(*values: Boolean) -> Call:
    """``or``."""
    return _call("or", values=list(values))


def is_not(value: Boolean) -> Call:
    """``not``."""
    return _call("not", value=value)


# ---- texts


def formatString(value: String) -> Call:
    """A text with ``${...}`` in it: paths and calls."""
    return _call("formatString", value=value)


def formatNumber(value: Number, *, decimals: Number | None = None, grouping: Boolean | None = None) -> Call:
    """A number in the reader's language."""
    return _call("formatNumber", value=value, decimals=decimals, grouping=grouping)


def formatCurrency(
    value: Number, currency: String, *, decimals: Number | None = None, grouping: Boolean | None = None
) -> Call:
    """An amount of money; ``currency`` is an ISO 4217 code."""
    return _call("formatCurrency", value=value, currency=currency, decimals=decimals, grouping=grouping)


def formatDate(value: Data, format: String) -> Call:
    """A date or a time by a pattern of Unicode TR 35."""
    return _call("formatDate", value=value, format=format)


def pluralize(
    value: Number | Boolean,
    other: String,
    *,
    zero: String | None = None,
    one: String | None = None,
    two: String | None = None,
    few: String | None = None,
    many: String | None = None,
) -> Call:
    """The text for a number; a truth value counts as 1 or 0, which is the way to choose between two texts."""
    return _call("pluralize", value=value, other=other, zero=zero, one=one, two=two, few=few, many=many)


# ---- effects


def openUrl(url: String) -> Call:
    """Opens a page: the ``action`` of a button."""
    return _call("openUrl", url=url)
