"""What a form says of a value that the tool refuses: what to enter, and no word of a program's."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import pytest
from django.utils import translation
from pydantic import (
    AfterValidator,
    AwareDatetime,
    Field,
    FutureDate,
    HttpUrl,
    Json,
    NaiveDatetime,
    PastDate,
    PastDatetime,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError, core_schema

from envelopes.approvals import input_words
from envelopes.approvals.input_words import in_words


class Cabin(StrEnum):
    COACH = "coach"
    FIRST = "first"


def refusing(message: str) -> Callable[[str], str]:
    def refuse(value: str) -> str:
        raise ValueError(message)

    return refuse


def no_address(value: str) -> str:
    """As pydantic's own type for addresses does, which needs a package more."""
    told = "value is not a valid email address: {reason}"
    raise PydanticCustomError("value_error", told, {"reason": "An email address must have an @-sign."})


REQUIRED = "This is required."
CASES: list[tuple[Any, Any, str]] = [
    (int, "two", "Enter a whole number."),
    (int, 2.5, "Enter a whole number."),
    (int, None, "Enter a whole number."),
    (float, "x", "Enter a number, with a point before decimals."),
    (Decimal, "12,50", "Enter a number, with a point before decimals."),
    (Fraction, "x", "Enter a number or a fraction, such as 3/4."),
    (Annotated[int, Field(ge=1, le=9)], 0, "Enter 1 or more."),
    (Annotated[int, Field(ge=1, le=9)], 99, "Enter 9 or less."),
    (Annotated[float, Field(gt=0)], -1, "Enter more than 0."),
    (Annotated[float, Field(lt=0.5)], 1, "Enter less than 0.5."),
    (Annotated[int, Field(multiple_of=5)], 3, "Enter a multiple of 5."),
    (Annotated[Decimal, Field(max_digits=4)], "12345", "Enter at most 4 digits."),
    (Annotated[Decimal, Field(decimal_places=2)], "1.234", "Enter at most 2 decimal places."),
    (Annotated[timedelta, Field(lt=timedelta(hours=1))], 8000, "Enter less than 1 hour."),
    (str, 3, "Enter text."),
    (Annotated[str, Field(min_length=1)], "", REQUIRED),
    (Annotated[str, Field(min_length=2)], "A", "Enter at least 2 characters."),
    (Annotated[str, Field(max_length=2)], "ABC", "Enter at most 2 characters."),
    (Annotated[str, Field(pattern="^[A-Z]{3}$")], "x", "This isn’t in the expected format."),
    (Annotated[str, AfterValidator(no_address)], "nobody", "Enter an email address, such as ada@example.org."),
    (HttpUrl, "x", "Enter a web address, such as https://example.org."),
    (HttpUrl, "ftp://x", "Start the address with one of these: http, https."),
    (UUID, "x", "Enter a UUID."),
    (date, "", "Enter a date, such as 2027-08-15."),
    (date, "15 August", "Enter a date, such as 2027-08-15."),
    (Annotated[date, Field(ge=date(2027, 1, 1))], "2026-01-01", "Enter 1 January 2027 or later."),
    (Annotated[time, Field(lt=time(9, 30))], "10:00", "This must be before 09:30."),
    (
        Annotated[datetime, Field(gt=datetime(2027, 1, 1, 9, tzinfo=UTC))],
        "2026-01-01T00:00Z",
        "This must be after 1 January 2027, 09:00.",
    ),
    (PastDate, "9999-01-01", "Enter a date in the past."),
    (FutureDate, "1999-01-01", "Enter a date in the future."),
    (PastDatetime, "9999-01-01T00:00", "Enter a date and time in the past."),
    (datetime, "soon", "Enter a date and time, such as 2027-08-15T14:30."),
    (AwareDatetime, "2027-08-15T14:30", "Add a time zone, such as +02:00."),
    (NaiveDatetime, "2027-08-15T14:30Z", "Leave out the time zone."),
    (time, "x", "Enter a time, such as 14:30."),
    (timedelta, "x", "Enter a length of time, such as 01:30:00."),
    (bool, "perhaps", "Enter true or false."),
    (Literal["a", "b"], "c", "Enter one of these: a, b."),
    (Cabin, "c", "Enter one of these: coach, first."),
    (list[int], "1, 2", "Enter a list in JSON, such as [1, 2]."),
    (Annotated[list[int], Field(min_length=1)], [], REQUIRED),
    (Annotated[list[int], Field(max_length=1)], [1, 2], "Enter at most 1 item."),
    (dict[str, int], 3, 'Enter an object in JSON, such as {"name": "Ada"}.'),
    (Json, "{", "Enter JSON."),
    # What a tool says itself is in its own words.
    (Annotated[str, AfterValidator(refusing("there is no flight 'X'; search first"))], "X",
     "There is no flight 'X'; search first."),
    (Annotated[str, AfterValidator(refusing("Is that so?"))], "X", "Is that so?"),
]  # fmt: skip


def problem_of(kind: Any, value: Any) -> Any:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(value)
    return refused.value.errors()[0]


@pytest.mark.parametrize(("kind", "value", "told"), CASES)
def test_a_form_says_what_to_enter(kind: Any, value: Any, told: str) -> None:
    assert in_words(problem_of(kind, value)) == told


def test_what_we_have_words_for_is_what_pydantic_says_and_the_rest_keeps_its_text() -> None:
    known = set(get_args(core_schema.ErrorType))
    assert {*input_words._PLAIN, *input_words._LIMITS} <= known
    # What no JSON value can be: objects of Python's, calls of functions, bytes. And what the tool says itself.
    ours = re.compile(
        r"argument|bytes|complex|counter|frozen_(field|instance)|get_attr|instance|subclass|callable"
    )
    rest = {kind for kind in known - {*input_words._PLAIN, *input_words._LIMITS} if not ours.search(kind)}
    assert rest == {
        "no_such_attribute", "needs_python_object", "invalid_key", "named_tuple_type", "dataclass_exact_type",
        "default_factory_not_called", "iteration_error", "string_unicode", "value_error", "assertion_error",
        "missing_sentinel_error", "ellipsis_error", "timezone_offset", "union_tag_invalid",
        "union_tag_not_found", "set_item_not_hashable",
    }  # fmt: skip


def test_a_limit_is_written_in_the_readers_language() -> None:
    with translation.override("de"):
        told = in_words(problem_of(Annotated[date, Field(ge=date(2027, 1, 1))], "2026-01-01"))
    assert "Januar" in told
