"""One setting: where its value comes from, its default, and which values fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.conf import settings

T = TypeVar("T")


class Setting(Generic[T]):
    """One setting: its value in Django's settings as they are now, or ``default``. ``kind`` says what ``fits``."""

    def __init__(self, default: T, kind: str, fits: Callable[[Any], bool]) -> None:
        self.default = default
        self.kind = kind
        self.fits = fits

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> T:
        value: T = getattr(settings, self.name, self.default)
        return value


def flag(default: bool) -> Setting[bool]:
    return Setting(default, "True or False", lambda value: isinstance(value, bool))


def whole(default: int) -> Setting[int]:
    return Setting(default, "a whole number above 0", _is_whole)


def whole_or_zero(default: int) -> Setting[int]:
    return Setting(default, "a whole number, or 0", lambda value: _is_whole(value, zero=True))


def number(default: float, *, zero: bool = False) -> Setting[float]:
    return Setting(default, "a number above 0", lambda value: _is_number(value, zero=zero))


def number_or_none() -> Setting[float | None]:
    return Setting(None, "a number, 0 or None", lambda value: value is None or _is_number(value, zero=True))


def text(default: str = "") -> Setting[str]:
    return Setting(default, "a text", lambda value: isinstance(value, str))


def choice(*values: str) -> Setting[str]:
    return Setting(values[0], f"one of: {', '.join(values)}", lambda value: value in values)


PRICED = ("input", "output", "cache_read", "cache_write")
"""What has a price: tokens that a model reads and writes, that it reads from a cache, and that go into one."""


def prices() -> Setting[Mapping[str, Mapping[str, float]]]:
    kind = f"a dictionary of models, each with prices of a million tokens: {', '.join(PRICED)}"
    return Setting({}, kind, _are_prices)


def _are_prices(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str)
        and name
        and isinstance(given, Mapping)
        and set(given) <= set(PRICED)
        and all(_is_number(price, zero=True) for price in given.values())
        for name, given in value.items()
    )


def texts() -> Setting[Sequence[str]]:
    return Setting((), "a list of texts", _is_list)


def _is_number(value: Any, *, zero: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < 1e15 or (zero and value == 0)


def _is_whole(value: Any, *, zero: bool = False) -> bool:
    # What is counted, or where a list is cut: half of one is none, and 2.0 is refused by Python itself.
    return isinstance(value, int) and _is_number(value, zero=zero)


def _is_list(value: Any) -> bool:
    # A text is a sequence of texts too, each one character long.
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(item, str) for item in value)
