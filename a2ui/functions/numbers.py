"""Numbers and amounts of money as a locale writes them (rulebook 9.4, decision D50).

Patterns and symbols come from Babel; a formatter is compiled once per combination of locale and options,
because building a text from Babel's pattern objects costs ten times as much as the rest of a binding.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

from babel import numbers
from babel.numbers import NumberPattern

from a2ui.functions.locales import find_locale

# Wide enough for every double written out, so that only ROUND_HALF_UP ever rounds.
_CONTEXT = Context(prec=800, rounding=ROUND_HALF_UP)
_CODE = re.compile("[A-Za-z]{3}")
_NO_BREAK_SPACE = "\u00a0"
_QUOTED = re.compile("'([^']*)'")
MAX_DECIMALS = 20
_DIGITS = 15
"""A double gives back so many significant digits as they were written."""
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
    return Formatter(prefixes, suffixes, point, group, pattern.grouping, decimals)


class Formatter:
    """Writes numbers; made once for each combination of locale and options.

    `prefixes` and `suffixes` stand around numbers that are positive, and those that are negative. `decimals` None
    means 0 to 3.
    """

    __slots__ = (
        "_below",
        "_decimals",
        "_group",
        "_own_marks",
        "_point",
        "_prefixes",
        "_primary",
        "_quantum",
        "_secondary",
        "_spec",
        "_suffixes",
    )

    def __init__(
        self,
        prefixes: tuple[str, ...],
        suffixes: tuple[str, ...],
        point: str,
        group: str,
        grouping: tuple[int, int],
        decimals: int | None,
    ) -> None:
        self._prefixes = prefixes
        self._suffixes = suffixes
        self._point = point
        self._group = group
        self._primary, self._secondary = grouping
        self._decimals = decimals
        grouped = "," if group else ""
        # What Python writes by itself, with a comma and a point.
        self._spec = f"{grouped}.{decimals}f" if decimals is not None and grouping == (3, 3) else ""
        self._below = 10.0 ** (_DIGITS - decimals) if self._spec and decimals is not None else 0.0
        self._own_marks = point != "." or group != grouped
        self._quantum = Decimal(1).scaleb(-(_DEFAULT_DECIMALS if decimals is None else decimals))

    def __call__(self, value: Decimal) -> str:
        """The number rounded half up."""
        whole, _, fraction = f"{value.quantize(self._quantum, context=_CONTEXT):f}".partition(".")
        negative = whole[0] == "-"
        if negative:
            whole = whole[1:]
        if self._decimals is None:
            fraction = fraction.rstrip("0")
        return self._written(whole, fraction, negative)

    def quick(self, value: float) -> str | None:
        """The same for a number that needs no rounding and no sign, which is most of them; else None."""
        if 0 < value < self._below and round(value, self._decimals) == value:
            text = format(value, self._spec)
            if self._own_marks:
                text = text.replace(",", "\0").replace(".", self._point).replace("\0", self._group)
            return f"{self._prefixes[False]}{text}{self._suffixes[False]}"
        whole, _, fraction = repr(value).partition(".")
        if not (whole.isdigit() and fraction.isdigit()):
            return None
        if fraction == "0":
            fraction = ""
        decimals = self._decimals
        if len(fraction) > (_DEFAULT_DECIMALS if decimals is None else decimals):
            return None
        return self._written(whole, fraction if decimals is None else fraction.ljust(decimals, "0"), False)

    def _written(self, whole: str, fraction: str, negative: bool) -> str:
        if self._group and len(whole) > self._primary:
            whole = _grouped(whole, self._group, self._primary, self._secondary)
        text = f"{whole}{self._point}{fraction}" if fraction else whole
        return f"{self._prefixes[negative]}{text}{self._suffixes[negative]}"


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
