"""Functions that write numbers and counted things (rulebook 9.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from a2ui.errors import ExpressionError
from a2ui.functions.convert import to_decimal
from a2ui.functions.locales import find_locale
from a2ui.functions.numbers import MAX_DECIMALS, currency_formatter, number_formatter
from a2ui.functions.registry import Env, Function
from a2ui.safety.limits import Limits
from a2ui.safety.text import to_text

_PLURAL_DIGITS = 12
_EXPLICIT = {0: "zero", 1: "one", 2: "two"}


def _format_number(args: Mapping[str, Any], env: Env) -> str:
    value = _value(args, "formatNumber")
    if value is None:
        return ""
    decimals = _decimals(args, "formatNumber")
    return number_formatter(env.locale, decimals, args.get("grouping") is not False)(value)


def _format_currency(args: Mapping[str, Any], env: Env) -> str:
    value = args.get("value")
    if type(value) is not float and _value(args, "formatCurrency") is None:
        return ""
    return _currency_writer(args, env)(value)


def _prepare_currency(name: str, fixed: Mapping[str, Any], env: Env) -> Callable[[Any], str] | None:
    """The usual call: an amount from the data, and everything else written down."""
    try:
        return _currency_writer(fixed, env) if name == "value" else None
    except ExpressionError:
        # A bad value is only a fault where there is an amount.
        return None


def _currency_writer(args: Mapping[str, Any], env: Env) -> Callable[[Any], str]:
    decimals = _decimals(args, "formatCurrency")
    currency = args.get("currency")
    # Formatters are cached by code, so nothing long may get there; four letters are as malformed as forty.
    code = currency[:4] if isinstance(currency, str) else ""
    return _amount_writer(env.locale, code, decimals, args.get("grouping") is not False)


@lru_cache(maxsize=256)
def _amount_writer(locale: str, code: str, decimals: int | None, grouping: bool) -> Callable[[Any], str]:
    write = currency_formatter(locale, code, decimals, grouping)
    quick = write.quick

    def evaluate(value: Any) -> str:
        if type(value) is float and (text := quick(value)) is not None:
            return text
        number = _value({"value": value}, "formatCurrency")
        return "" if number is None else write(number)

    return evaluate


def _pluralize(args: Mapping[str, Any], env: Env) -> str:
    value = to_decimal(args.get("value"))
    if value is not None:
        if value in _EXPLICIT and (explicit := args.get(_EXPLICIT[int(value)])) is not None:
            return to_text(explicit)
        chosen = args.get(find_locale(env.locale).plural_form(_plural_operand(value)))
        if chosen is not None:
            return to_text(chosen)
    return to_text(args.get("other"))


def _plural_price(args: Mapping[str, Any], limits: Limits, paid: set[str]) -> int:
    """Forms that are lists or objects are written as JSON."""
    return sum([limits.json_chars // 10 for value in args.values() if isinstance(value, dict | list)])


def _plural_operand(value: Decimal) -> Decimal:
    """A number of the same plural category that Babel can compute with."""
    if value.adjusted() >= _PLURAL_DIGITS:
        # Rules look at the last six digits at most, and larger numbers do not fit Babel's decimal context.
        whole, _, fraction = f"{value:f}".lstrip("-").partition(".")
        value = Decimal(f"1{whole[-_PLURAL_DIGITS:]}.{fraction[:_PLURAL_DIGITS]}")
    # 1.0 is 1 in JSON, but a decimal place would change the category.
    return Decimal(int(value)) if value == value.to_integral_value() else value


def _value(args: Mapping[str, Any], name: str) -> Decimal | None:
    """The number to write, None for nothing: null, absent or blank text."""
    value = args.get("value")
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = to_decimal(value)
    if number is None:
        raise ExpressionError(f"{name} needs a number.", expression=name)
    return number


def _decimals(args: Mapping[str, Any], name: str) -> int | None:
    value = args.get("decimals")
    if value is None:
        return None
    number = to_decimal(value)
    if number is None:
        raise ExpressionError(f'{name} needs a number as "decimals".', expression=name)
    return int(max(Decimal(0), min(Decimal(MAX_DECIMALS), number)))


TEXT = (
    Function("formatNumber", _format_number),
    Function("formatCurrency", _format_currency, prepare=_prepare_currency),
    Function("pluralize", _pluralize, price=_plural_price),
)
