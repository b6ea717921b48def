"""Values of arguments as people write them, in their locale; and the same read back.

What cannot be read back to exactly the value that runs is not written: ``write`` then gives None, and the value stands
as it was sent. Reading is strict and knows no more than what writing makes.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from babel import Locale
from babel.dates import format_date, get_date_format, get_day_names, get_month_names
from babel.numbers import (
    NumberFormatError,
    format_currency,
    format_decimal,
    get_currency_precision,
    get_currency_symbol,
    parse_decimal,
)
from django.utils.translation import gettext as _

from envelopes.registries.shown import Declared
from envelopes.types import Json

LONGEST = 40
"""Digits of a number; a longer one is easier to compare as it was sent."""

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:\d\d)?")
_FIELDS = re.compile(r"E{1,4}|M{1,4}|d{1,2}|y{1,4}|'[^']*'|[^a-zA-Z']+|.")
_DIRECTIONS = re.compile("[\u200e\u200f\u061c]")
_BLANKS = " \u00a0\u202f"
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")


def write(field: Declared, value: Json, locale: Locale, currency: Json = None) -> list[str] | None:
    """``value`` in one piece or a few that stand beside each other; None when it has to stand as it was sent.

    ``currency``: the code that the arguments hold for an amount of money.
    """
    try:
        pieces = _write(field, value, locale, currency)
        if pieces is None or not same(
            read(field, pieces, locale, currency, text=isinstance(value, str)), value
        ):
            return None
    except (ValueError, ArithmeticError, KeyError, IndexError, TypeError):
        return None
    return pieces


def read(
    field: Declared, pieces: list[str], locale: Locale, currency: Json = None, *, text: bool = False
) -> Json:
    """The value that ``pieces`` say. Raises ``ValueError`` for what ``write`` would not make.

    ``text``: an amount of money was sent as text, with all the digits that its currency has.
    """
    if field.words:
        meant = [key for key, words in field.words.items() if [words] == pieces]
        if len(meant) != 1:
            raise ValueError(pieces)
        return meant[0]
    match field.format:
        case "text":
            return pieces[0]
        case "yes-no":
            return {_("Yes"): True, _("No"): False}[pieces[0]]
        case "number":
            return _number(_without_unit(field, pieces[0]), locale)
        case "money":
            amount = _amount(pieces[0], field, locale, currency)
            digits = 0 if field.minor else get_currency_precision(str(currency))
            return f"{amount:.{digits}f}" if text else _plain(amount)
        case "date":
            return _day(pieces[0], locale)
        case "time":
            return pieces[0]
        case "datetime":
            day, clock = pieces
            hours, _blank, zone = clock.partition(" ")
            return f"{_day(day, locale)}T{hours}{_ZONES.get(zone, zone.removeprefix('UTC'))}"
        case _:
            raise ValueError(field.format)


def same(one: Json, other: Json) -> bool:
    """Equal as JSON: 2 and 2.0 are one number, 1 and true are not one value."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return type(one) is type(other) and one == other


_ZONES = {"": "", "UTC": "Z"}


def _write(field: Declared, value: Json, locale: Locale, currency: Json) -> list[str] | None:
    if field.words:
        return [str(field.words[value])] if isinstance(value, str) and value in field.words else None
    match field.format, value:
        case "text", str():
            return [value]
        case "yes-no", bool():
            return [_("Yes") if value else _("No")]
        case "number", int() | float() if not isinstance(value, bool):
            return [_with_unit(field, value, locale)]
        case "money", int() | float() | str() if not isinstance(value, bool):
            return _money(value, field, locale, currency)
        case "date", str():
            return [_full(date.fromisoformat(value), locale)]
        case "time", str():
            time.fromisoformat(value)
            return [value]
        case "datetime", str():
            return _moment(value, locale)
        case _:
            return None


# -- numbers ----------------------------------------------------------------------------------------------------------


def _exact(value: float | str) -> Decimal:
    """Every digit that was sent."""
    if isinstance(value, str) and not _PLAIN_NUMBER.fullmatch(value):
        raise ValueError(value)
    exact = Decimal(value) if isinstance(value, int | str) else Decimal(repr(value))
    if len(f"{exact:f}") > LONGEST:
        raise ValueError("too long to be read")
    return exact


def _with_unit(field: Declared, value: float, locale: Locale) -> str:
    # Grouped only where something is counted: 2027 or 10482 without a unit may be a year or the number of an order.
    text = str(
        format_decimal(
            _exact(value), locale=locale, decimal_quantization=False, group_separator=field.unit is not None
        )
    )
    return text if field.unit is None else f"{text} {field.unit[0 if value == 1 else 1]}"


def _without_unit(field: Declared, text: str) -> str:
    if field.unit is None:
        return text
    for words in sorted(field.unit, key=len, reverse=True):
        if text.endswith(f" {words}"):
            return text[: -len(words) - 1]
    raise ValueError(text)


def _number(text: str, locale: Locale) -> Json:
    try:
        found = parse_decimal(text, locale=locale, strict=True)
    except (NumberFormatError, InvalidOperation) as error:
        raise ValueError(text) from error
    return _plain(found)


def _plain(found: Decimal) -> Json:
    return int(found) if found == found.to_integral_value() else float(found)


# -- money ------------------------------------------------------------------------------------------------------------


def _money(value: float | str, field: Declared, locale: Locale, currency: Json) -> list[str] | None:
    if not isinstance(currency, str) or currency not in locale.currencies:
        return None
    exact, digits = _exact(value), get_currency_precision(currency)
    if field.minor:
        exact = exact.scaleb(-digits)
    # A symbol that means this currency and no other; else its code.
    pattern = (
        None if _meaning(locale).get(get_currency_symbol(currency, locale)) == currency else "#,##0.00 ¤¤"
    )
    text = format_currency(exact, currency, format=pattern, locale=locale, currency_digits=pattern is None)
    return [str(text)]


def _amount(text: str, field: Declared, locale: Locale, currency: Json) -> Decimal:
    codes = [str(code) for code in locale.currencies]
    known = [mark for mark in _meaning(locale) if mark in text] or [code for code in codes if code in text]
    mark = max(known, key=len)
    if (_meaning(locale).get(mark) or mark) != currency:
        raise ValueError(text)
    # Around the symbol stand blanks and marks of direction that are the locale's own.
    bare = _DIRECTIONS.sub("", text.replace(mark, "", 1)).strip(_BLANKS)
    if bare.startswith("-"):
        bare = f"-{bare[1:].strip(_BLANKS)}"
    amount = parse_decimal(bare, locale=locale)
    return amount.scaleb(get_currency_precision(str(currency))) if field.minor else amount


@lru_cache(maxsize=32)
def _meaning(locale: Locale) -> dict[str, str]:
    """The symbols that stand for one currency only, and for which."""
    found: dict[str, list[str]] = {}
    for code in map(str, locale.currencies):
        found.setdefault(get_currency_symbol(code, locale), []).append(code)
    return {symbol: codes[0] for symbol, codes in found.items() if len(codes) == 1}


# -- days -------------------------------------------------------------------------------------------------------------


def _pattern(locale: Locale) -> str:
    pattern = str(get_date_format("full", locale).pattern)
    # English that puts the day first has no comma there: "Sunday 15 August 2027".
    return "EEEE d MMMM y" if (locale.language, pattern) == ("en", "EEEE, d MMMM y") else pattern


def _full(day: date, locale: Locale) -> str:
    return format_date(day, _pattern(locale), locale=locale)


def _day(text: str, locale: Locale) -> str:
    """The ISO date of a day in words. Its weekday has to be right."""
    found = _day_reader(locale).fullmatch(text)
    if found is None:
        raise ValueError(text)
    names = {name: number for number, name in get_month_names("wide", locale=locale).items()}
    given = found.groupdict()
    month = names[given["M"]] if "M" in given else int(given["m"])
    day = date(int(given["y"]), month, int(given["d"]))
    if "E" in given and given["E"] != get_day_names("wide", locale=locale)[day.weekday()]:
        raise ValueError(text)
    return day.isoformat()


@lru_cache(maxsize=32)
def _day_reader(locale: Locale) -> re.Pattern[str]:
    """What the locale's pattern makes. Raises ``ValueError`` for one with more in it than weekday, day, month, year."""
    built = ""
    for token in _FIELDS.findall(_pattern(locale)):
        match token:
            case "EEEE":
                built += f"(?P<E>{_any(get_day_names('wide', locale=locale).values())})"
            case "MMMM":
                built += f"(?P<M>{_any(get_month_names('wide', locale=locale).values())})"
            case "M" | "MM":
                built += r"(?P<m>\d{1,2})"
            case "d" | "dd":
                built += r"(?P<d>\d{1,2})"
            case "y" | "yyyy":
                built += r"(?P<y>\d{4})"
            case _ if token.startswith("'"):
                built += re.escape(token[1:-1] or "'")
            case _ if not token.isalpha() or not token.isascii():
                built += re.escape(token)
            case _:
                raise ValueError(token)
    return re.compile(built)


def _any(names: object) -> str:
    return "|".join(re.escape(str(name)) for name in sorted(names, key=len, reverse=True))  # type: ignore[call-overload]


def _moment(value: str, locale: Locale) -> list[str] | None:
    found = _MOMENT.fullmatch(value)
    if found is None:
        return None
    datetime.fromisoformat(value)
    day, clock, zone = found.groups("")
    told = "UTC" if zone == "Z" else f"UTC{zone}" if zone else ""
    return [_full(date.fromisoformat(day), locale), f"{clock} {told}".strip()]
