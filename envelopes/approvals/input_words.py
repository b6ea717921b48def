"""What is wrong with a value that a person entered, in the words of a form.

Pydantic says what a program did wrong ("Input should be a valid integer, unable to parse string as an integer"), and
models and programs are told that. Whoever fills in a form is told what to enter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from django.utils.formats import date_format, time_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic_core import ErrorDetails

Facts = Mapping[str, Any]
"""The ``ctx`` of an error: the limit that was broken, for one."""

_INTEGER = gettext_lazy("Enter a whole number.")
_NUMBER = gettext_lazy("Enter a number, with a point before decimals.")
_LIST = gettext_lazy("Enter a list in JSON, such as [1, 2].")
_OBJECT = gettext_lazy('Enter an object in JSON, such as {"name": "Ada"}.')
_DATE = gettext_lazy("Enter a date, such as 2027-08-15.")
_MOMENT = gettext_lazy("Enter a date and time, such as 2027-08-15T14:30.")
_TIME = gettext_lazy("Enter a time, such as 14:30.")
_LENGTH = gettext_lazy("Enter a length of time, such as 01:30:00.")
_ADDRESS = gettext_lazy("Enter a web address, such as https://example.org.")
_UUID = gettext_lazy("Enter a UUID.")
_JSON = gettext_lazy("Enter JSON.")

_PLAIN: Mapping[str, Any] = {
    "missing": gettext_lazy("This is required."),
    "missing_argument": gettext_lazy("This is required."),
    "extra_forbidden": gettext_lazy("The tool has no such argument."),
    "unexpected_keyword_argument": gettext_lazy("The tool has no such argument."),
    "none_required": gettext_lazy("Leave this empty."),
    "bool_type": gettext_lazy("Enter true or false."),
    "bool_parsing": gettext_lazy("Enter true or false."),
    "int_type": _INTEGER,
    "int_parsing": _INTEGER,
    "int_from_float": _INTEGER,
    "int_parsing_size": gettext_lazy("This number has too many digits."),
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "fraction_type": gettext_lazy("Enter a number or a fraction, such as 3/4."),
    "fraction_parsing": gettext_lazy("Enter a number or a fraction, such as 3/4."),
    "string_type": gettext_lazy("Enter text."),
    "string_pattern_mismatch": gettext_lazy("This isn’t in the expected format."),
    "string_not_ascii": gettext_lazy("Use only letters without accents, digits and ordinary punctuation."),
    "list_type": _LIST,
    "deque_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "dict_type": _OBJECT,
    "frozen_dict_type": _OBJECT,
    "ordered_dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
    "date_past": gettext_lazy("Enter a date in the past."),
    "date_future": gettext_lazy("Enter a date in the future."),
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_object_invalid": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "datetime_past": gettext_lazy("Enter a date and time in the past."),
    "datetime_future": gettext_lazy("Enter a date and time in the future."),
    "timezone_naive": gettext_lazy("Leave out the time zone."),
    "timezone_aware": gettext_lazy("Add a time zone, such as +02:00."),
    "time_type": _TIME,
    "time_parsing": _TIME,
    "time_delta_type": _LENGTH,
    "time_delta_parsing": _LENGTH,
    "url_type": _ADDRESS,
    "url_parsing": _ADDRESS,
    "url_syntax_violation": _ADDRESS,
    "uuid_type": _UUID,
    "uuid_parsing": _UUID,
    "uuid_version": _UUID,
    "json_type": _JSON,
    "json_invalid": _JSON,
    "recursion_loop": gettext_lazy("This is nested too deeply."),
    "recursion_depth_exceeded": gettext_lazy("This is nested too deeply."),
}


def in_words(problem: ErrorDetails) -> str:
    """One problem of pydantic (with its ``ctx``) as a sentence for whoever entered the value: ours, what the tool
    itself says, or pydantic's own where we have no better words."""
    kind, facts = problem["type"], problem.get("ctx", {})
    if kind in _PLAIN:
        return str(_PLAIN[kind])
    if kind in _LIMITS:
        return _LIMITS[kind](facts)
    if problem["msg"].startswith("value is not a valid email address"):
        return _("Enter an email address, such as ada@example.org.")
    return _sentence(problem["msg"])


def _sentence(message: str) -> str:
    """Pydantic puts the kind of an error in front of what the tool itself says."""
    told = message.removeprefix("Value error, ").removeprefix("Assertion failed, ").strip()
    return told[:1].upper() + told[1:] + ("" if told.endswith((".", "!", "?", "…")) else ".")


def _compared(name: str, amount: str, moment: str) -> Callable[[Facts], str]:
    """Of a limit: a number or a length of time, or a date or time as ISO 8601 writes it."""

    def told(facts: Facts) -> str:
        limit = facts[name]
        found = _moment_of(limit) if isinstance(limit, str) else ""
        return _(moment).format(found) if found else _(amount).format(_plain(limit))

    return told


def _plain(limit: object) -> str:
    return f"{limit:.15g}" if isinstance(limit, float) else str(limit)


def _moment_of(limit: str) -> str:
    """A date, a time of day or both as forms write them; empty for what is none."""
    with suppress(ValueError):
        return date_format(date.fromisoformat(limit), "j F Y")
    with suppress(ValueError):
        return date_format(datetime.fromisoformat(limit), "j F Y, H:i")
    with suppress(ValueError):
        return time_format(time.fromisoformat(limit), "H:i")
    return ""


def _least(facts: Facts, one: str, more: str) -> str:
    """Of a shortest length: nothing at all is what most often is too short."""
    least = facts["min_length"]
    return _("This is required.") if least == 1 else ngettext(one, more, least).format(least)


def _at_most(name: str, one: str, more: str) -> Callable[[Facts], str]:
    return lambda facts: ngettext(one, more, facts[name]).format(facts[name])


_CHARACTERS = "Enter at most {} character.", "Enter at most {} characters."

_LIMITS: Mapping[str, Callable[[Facts], str]] = {
    "greater_than": _compared("gt", "Enter more than {}.", "This must be after {}."),
    "greater_than_equal": _compared("ge", "Enter {} or more.", "Enter {} or later."),
    "less_than": _compared("lt", "Enter less than {}.", "This must be before {}."),
    "less_than_equal": _compared("le", "Enter {} or less.", "Enter {} or earlier."),
    "multiple_of": lambda facts: _("Enter a multiple of {}.").format(_plain(facts["multiple_of"])),
    "string_too_short": lambda facts: _least(
        facts, "Enter at least {} character.", "Enter at least {} characters."
    ),
    "string_too_long": _at_most("max_length", *_CHARACTERS),
    "url_too_long": _at_most("max_length", *_CHARACTERS),
    "too_short": lambda facts: _least(facts, "Enter at least {} item.", "Enter at least {} items."),
    "too_long": _at_most("max_length", "Enter at most {} item.", "Enter at most {} items."),
    "decimal_max_digits": _at_most("max_digits", "Enter at most {} digit.", "Enter at most {} digits."),
    "decimal_max_places": _at_most(
        "decimal_places", "Enter at most {} decimal place.", "Enter at most {} decimal places."
    ),
    "decimal_whole_digits": _at_most(
        "whole_digits",
        "Enter at most {} digit before the point.",
        "Enter at most {} digits before the point.",
    ),
    "literal_error": lambda facts: _("Enter one of these: {}.").format(_choices(facts["expected"])),
    "enum": lambda facts: _("Enter one of these: {}.").format(_choices(facts["expected"])),
    "url_scheme": lambda facts: _("Start the address with one of these: {}.").format(
        _choices(facts["expected_schemes"])
    ),
}


def _choices(expected: str) -> str:
    """Pydantic writes them as Python does: ``'a', 'b' or 'c'``."""
    return expected.replace("'", "").replace(" or ", ", ")
