from __future__ import annotations

from datetime import date

import pytest

from beachsite.demo.script.dates import find_day, say_day

FRIDAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("on 15 August for 2", date(2027, 8, 15)),
        ("28 November", date(2026, 11, 28)),
        ("27 nov", date(2026, 11, 27)),
        ("the 3rd of May", date(2027, 5, 3)),
        ("August 15", date(2027, 8, 15)),
        ("august 15th, 2028", date(2028, 8, 15)),
        ("15 August 2026", date(2026, 8, 15)),
        ("2027-02-03", date(2027, 2, 3)),
        ("today", FRIDAY),
        ("tomorrow morning", date(2026, 11, 28)),
        ("the day after tomorrow", date(2026, 11, 29)),
        ("next Friday", date(2026, 12, 4)),
        ("on Friday", date(2026, 12, 4)),
        ("on Sunday", date(2026, 11, 29)),
        ("Thurs", date(2026, 12, 3)),
        ("in two weeks", date(2026, 12, 11)),
        ("in 10 days", date(2026, 12, 7)),
        ("in a week", date(2026, 12, 4)),
        ("this weekend", date(2026, 11, 28)),
        ("next week", date(2026, 12, 4)),
        ("29 February", date(2028, 2, 29)),
    ],
)
def test_days_as_people_write_them(words: str, day: date) -> None:
    assert find_day(words, FRIDAY) == day


@pytest.mark.parametrize(
    "words", ["", "31 February", "2027-13-01", "for 2", "to Monaco", "in may be weeks", "sunny"]
)
def test_no_day(words: str) -> None:
    assert find_day(words, FRIDAY) is None


def test_the_year_is_said_where_it_is_not_obvious() -> None:
    assert say_day(date(2026, 12, 4), FRIDAY) == "Friday 4 December"
    assert say_day(date(2027, 8, 15), FRIDAY) == "Sunday 15 August 2027"
