"""Date patterns in the notation of Unicode TR35, compiled to functions per locale."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache
from typing import Any, TypeAlias

from babel import Locale, dates

from a2ui.functions.locales import find_locale

Field: TypeAlias = Callable[[datetime], str]

_WIDTHS = {3: "abbreviated", 4: "wide", 5: "narrow"}


@lru_cache(maxsize=512)
def compile_pattern(locale: str, pattern: str) -> tuple[Field, ...]:
    """One function per field or stretch of literal text; what they give is concatenated.

    `'text'` is literal and `''` a quote. Unknown letters are copied. `YYYY` and `DD` mean `yyyy` and `dd`.
    """
    found = find_locale(locale)
    fields: list[Field] = []
    literal = ""
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "'":
            text, position = _quoted(pattern, position)
            literal += text
            continue
        run = _run(pattern, position)
        position += run
        field = _field(found, char, run) if char.isascii() and char.isalpha() else None
        if field is None:
            literal += char * run
            continue
        if literal:
            fields.append(_constant(literal))
            literal = ""
        fields.append(field)
    if literal:
        fields.append(_constant(literal))
    return tuple(fields)


def _quoted(pattern: str, position: int) -> tuple[str, int]:
    """The literal text that starts at this quote, and the position behind it. A missing end is forgiven."""
    if pattern.startswith("''", position):
        return "'", position + 2
    text = ""
    position += 1
    while position < len(pattern):
        if pattern.startswith("''", position):
            text += "'"
            position += 2
        elif pattern[position] == "'":
            return text, position + 1
        else:
            text += pattern[position]
            position += 1
    return text, position


def _run(pattern: str, position: int) -> int:
    end = position
    while end < len(pattern) and pattern[end] == pattern[position]:
        end += 1
    return end - position


def _constant(text: str) -> Field:
    return lambda moment: text


def _number(width: int, value: Callable[[datetime], int]) -> Field:
    return lambda moment: f"{value(moment):0{width}d}"


def _name(names: Any, index: Callable[[datetime], Any]) -> Field:
    table = dict(names)
    return lambda moment: str(table[index(moment)])


def _field(locale: Locale, letter: str, width: int) -> Field | None:
    """The field for `width` times this letter, None if it means nothing."""
    if letter == "Y" or (letter == "D" and width == 2):
        # Week years and days of the year are nearly always meant as plain years and days.
        letter = letter.lower()
    family = _FAMILIES.get(letter)
    return family(locale, letter, width) if family else None


def _year(locale: Locale, letter: str, width: int) -> Field | None:
    if width == 2:
        return _number(2, lambda moment: moment.year % 100)
    return _number(width, lambda moment: moment.year)


def _month(locale: Locale, letter: str, width: int) -> Field | None:
    if width <= 2:
        return _number(width, lambda moment: moment.month)
    context = "format" if letter == "M" else "stand-alone"
    return (
        _name(locale.months[context][_WIDTHS[width]], lambda moment: moment.month)
        if width in _WIDTHS
        else None
    )


def _weekday(locale: Locale, letter: str, width: int) -> Field | None:
    if letter != "E" and width <= 2:
        first = locale.first_week_day
        return _number(width, lambda moment: (moment.weekday() - first) % 7 + 1)
    context = "stand-alone" if letter == "c" else "format"
    names = _WIDTHS.get(max(width, 3))
    return _name(locale.days[context][names], date.weekday) if names else None


def _quarter(locale: Locale, letter: str, width: int) -> Field | None:
    def quarter(moment: datetime) -> int:
        return (moment.month + 2) // 3

    if width <= 2:
        return _number(width, quarter)
    context = "format" if letter == "Q" else "stand-alone"
    return _name(locale.quarters[context][_WIDTHS[width]], quarter) if width in _WIDTHS else None


def _period(locale: Locale, letter: str, width: int) -> Field | None:
    names = (
        locale.day_periods["format"].get(_WIDTHS.get(max(width, 3), ""))
        or locale.day_periods["format"]["wide"]
    )
    return _name({key: names[key] for key in ("am", "pm")}, lambda moment: "am" if moment.hour < 12 else "pm")


def _clock(value: Callable[[datetime], int]) -> Callable[[Locale, str, int], Field | None]:
    return lambda locale, letter, width: _number(width, value) if width <= 2 else None


def _fraction(locale: Locale, letter: str, width: int) -> Field | None:
    return lambda moment: f"{moment.microsecond:06d}".ljust(width, "0")[:width]


def _day_of_year(locale: Locale, letter: str, width: int) -> Field | None:
    return _number(width, lambda moment: moment.timetuple().tm_yday) if width <= 3 else None


def _babel(locale: Locale, letter: str, width: int) -> Field | None:
    """Rare fields that Babel knows how to write: weeks and eras."""
    pattern = dates.parse_pattern(letter * width)
    return lambda moment: pattern.apply(moment, locale)


def _offset(locale: Locale, letter: str, width: int) -> Field | None:
    """Z, X and x. Times without a zone show none."""
    if width > 5:
        return None

    def text(moment: datetime) -> str:
        delta = moment.utcoffset()
        if delta is None:
            return ""
        minutes = int(delta.total_seconds()) // 60
        if (letter == "X" or (letter == "Z" and width == 5)) and not minutes:
            return "Z"
        hours, rest = divmod(abs(minutes), 60)
        sign = "-" if minutes < 0 else "+"
        if letter != "Z":
            if width == 1 and not rest:
                return f"{sign}{hours:02d}"
            return f"{sign}{hours:02d}{':' if width in {3, 5} else ''}{rest:02d}"
        if width == 4:
            return f"GMT{sign}{hours:02d}:{rest:02d}" if minutes else "GMT"
        return f"{sign}{hours:02d}{':' if width == 5 else ''}{rest:02d}"

    return text


def _zone_name(locale: Locale, letter: str, width: int) -> Field | None:
    return lambda moment: moment.tzname() or ""


_FAMILIES: dict[str, Callable[[Locale, str, int], Field | None]] = {
    "y": _year,
    "M": _month,
    "L": _month,
    "d": _clock(lambda moment: moment.day),
    "D": _day_of_year,
    "E": _weekday,
    "e": _weekday,
    "c": _weekday,
    "a": _period,
    "h": _clock(lambda moment: moment.hour % 12 or 12),
    "H": _clock(lambda moment: moment.hour),
    "K": _clock(lambda moment: moment.hour % 12),
    "k": _clock(lambda moment: moment.hour or 24),
    "m": _clock(lambda moment: moment.minute),
    "s": _clock(lambda moment: moment.second),
    "S": _fraction,
    "Q": _quarter,
    "q": _quarter,
    "w": _babel,
    "G": _babel,
    "Z": _offset,
    "X": _offset,
    "x": _offset,
    "z": _zone_name,
}
