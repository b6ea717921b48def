"""What a form sends is held against its fields: a client is not believed."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.submitted import field_key, submitted

FIELDS = [
    {"id": "name", "required": True},
    {"id": "count", "type": "number", "min": 1, "max": 9, "default": 4},
    {"id": "level", "type": "select", "options": [{"value": "low"}, {"value": "high"}]},
    {"id": "sure", "type": "checkbox", "required": True},
]
FORM = normalise(
    {"v": 1, "surface": "s", "components": [{"id": "f", "type": "form", "props": {"fields": FIELDS}}]}
).document
GOOD = {"name": "Ada", "count": 2, "level": "high", "sure": True}


def values(**changed: Any) -> Any:
    sent = {field_key(name): value for name, value in {**GOOD, **changed}.items()}
    return submitted(FORM, {"componentId": "f", "values": sent})["values"]


def test_values_come_as_what_they_are() -> None:
    assert values() == GOOD
    assert values(count="3", level=["low"], other="dropped") == {**GOOD, "count": 3, "level": "low"}
    assert values(count="")["count"] == values(count="many")["count"] == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", " "), ("name", 3), ("name", None), ("count", 10), ("count", "0"), ("count", True), ("count", None),
        ("count", "nan"),
        ("count", 2.5), ("level", "other"), ("level", ["low", "high"]), ("level", []),
        ("sure", False), ("sure", "true"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_names_its_field(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        values(**{name: value})
    assert refused.value.path == name


@pytest.mark.parametrize("context", [{}, {"componentId": "g"}, {"componentId": ["f"]}])
def test_there_has_to_be_such_a_form(context: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        submitted(FORM, context)
    assert refused.value.path == "componentId"
