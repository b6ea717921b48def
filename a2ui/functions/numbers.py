"""Numbers and amounts of money as a locale writes them (rulebook 9.4, decision D50).

Patterns and symbols come from Babel; a formatter is compiled once per combination of locale and options,
because building a text from Babel's pattern objects costs ten times as much as the rest of a binding.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import TypeAlias

from babel import numbers
from babel.numbers import NumberPattern

from a2ui.functions.locales import find_locale

Formatter: TypeAlias = Callable[[Decimal], str]

# Wide enough for every double written out, so that only ROUND_HALF_UP ever rounds.
_CONTEXT = Context(prec=800, rounding=ROUND_HALF_UP)
_CODE = re.compile("[A-Za-z]{3}")
_NO_BREAK_SPACE = "\u00a0"
_QUOTED = re.compile("'([^']*)'")
MAX_DECIMALS = 20
_DEFAULT_DECIMALS = 3
_MALFORMED_DECIMALS = 2


@lru_cache(maxsize=1024)
def number_formatter(locale: str, decimals: int | None, grouping: bool) -> Formatter:
    """A formatter with exactly that many decimals, or with 0 to 3 if None."""
    pattern = find_locale(locale).decimal_formats[None]
    return _compile(locale, pattern, decimals, grouping, "")


@lru_cache(maxsize=1024)
def currency_formatter(locale: str, currency: str, decimals: int | None, grouping: bool) -> Formatter:
    """A formatter for a currency code in any case; decimals default to the currency's own.

    A malformed code gives the number with two decimals.
    """
    if not _CODE.fullmatch(currency):
        return number_formatter(locale, _MALFORMED_DECIMALS if decimals is None else decimals, grouping)
    code = currency.upper()
    found = find_locale(locale)
    if decimals is None:
        decimals = numbers.get_currency_precision(code)
    return _compile(
        locale,
        found.currency_formats["standard"],
        decimals,
        grouping,
        numbers.get_currency_symbol(code, found),
    )


def _compile(
    tag: str, pattern: NumberPattern, decimals: int | None, grouping: bool, symbol: str
) -> Formatter:
    locale = find_locale(tag)
    minus = numbers.get_minus_sign_symbol(locale)
    prefixes = tuple([_affix(text, symbol, minus, before=True) for text in pattern.prefix])
    suffixes = tuple([_affix(text, symbol, minus, before=False) for text in pattern.suffix])
    point = numbers.get_decimal_symbol(locale)
    group = numbers.get_group_symbol(locale) if grouping else ""
    primary, secondary = pattern.grouping
    quantum = Decimal(1).scaleb(-(_DEFAULT_DECIMALS if decimals is None else decimals))
    strip = decimals is None

    def format_number(value: Decimal) -> str:
        whole, _, fraction = f"{value.quantize(quantum, context=_CONTEXT):f}".partition(".")
        negative = whole[0] == "-"
        if negative:
            whole = whole[1:]
        if strip:
            fraction = fraction.rstrip("0")
        if group and len(whole) > primary:
            whole = _grouped(whole, group, primary, secondary)
        text = f"{whole}{point}{fraction}" if fraction else whole
        return f"{prefixes[negative]}{text}{suffixes[negative]}"

    return format_number


def _grouped(whole: str, group: str, primary: int, secondary: int) -> str:
    parts = [whole[-primary:]]
    end = len(whole) - primary
    while end > 0:
        parts.append(whole[max(0, end - secondary) : end])
        end -= secondary
    return group.join(reversed(parts))


def _affix(text: str, symbol: str, minus: str, *, before: bool) -> str:
    """What stands before or behind the digits, with the symbol set apart where CLDR wants that."""
    if "¤" in text:
        # CLDR currencySpacing: between a digit and a symbol that ends in neither a symbol character nor a blank.
        touches = text.endswith("¤") if before else text.startswith("¤")
        edge = symbol[-1:] if before else symbol[:1]
        if touches and edge and unicodedata.category(edge)[0] not in "SZ":
            symbol = symbol + _NO_BREAK_SPACE if before else _NO_BREAK_SPACE + symbol
    text = text.replace("-", minus).replace("¤", symbol)
    return _QUOTED.sub(lambda found: found[1] or "'", text)
