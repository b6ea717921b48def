"""Values of parts that are taken from what a tool gave."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from envelopes.errors import RespondRefused
from envelopes.protocol.references import MOST, Results, resolved

FLIGHTS = {
    "flights": [{"id": "EJ1", "price": 94}, {"id": "BA2", "price": 187}],
    "a/b": {"~": 1},
    "none": None,
}


def results() -> Results:
    found = Results()
    found.add("search", {"flights": "older"}, "call_0")
    found.add("search", FLIGHTS, "call_1")
    found.miss("search", "call_2", "failed")
    found.miss("book", "call_3", "awaiting_approval")
    return found


def call(*data: Any) -> dict[str, Any]:
    parts = [{"metadata": {"partType": "domain-data"}, "data": one} for one in data]
    return {"parts": parts, "turnState": "complete"}


def taken(value: Any, *, limit: int = 1_000_000) -> Any:
    made: Any = resolved(call({"here": value}), results, limit=limit)
    return made["parts"][0]["data"]["here"]


def refusal(*data: Any, limit: int = 1_000_000) -> RespondRefused:
    with pytest.raises(RespondRefused) as caught:
        resolved(call(*data), results, limit=limit)
    assert caught.value.code == "VALIDATION_FAILED" and caught.value.message.endswith(".")
    return caught.value


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ({"fromCall": "call_1"}, FLIGHTS),
        ({"fromCall": "call_0", "path": ""}, {"flights": "older"}),
        ({"fromCall": "search", "path": "/flights"}, FLIGHTS["flights"]),
        ({"fromCall": "search", "path": "/flights/1/price"}, 187),
        ({"fromCall": "call_1", "path": "/a~1b/~0"}, 1),
        ({"fromCall": "call_1", "path": "/none"}, None),
        ([{"deep": {"fromCall": "call_1", "path": "/flights/0/id"}}], [{"deep": "EJ1"}]),
    ],
)
def test_a_reference_becomes_what_it_leads_to(reference: Any, value: Any) -> None:
    assert taken(reference) == value


def test_all_of_the_data_of_a_part_may_be_one_and_text_is_none() -> None:
    given = call({"fromCall": "search"})
    given["parts"].append({"metadata": {"partType": "response"}, "text": '{"fromCall": "search"}'})
    before = copy.deepcopy(given)
    made: Any = resolved(given, results, limit=10_000)

    assert made["parts"][0]["data"] == FLIGHTS
    assert made["parts"][1] == before["parts"][1]
    assert given == before


@pytest.mark.parametrize("value", [None, 5, [], {}, {"parts": 5}, call({"fromCall": 7}, {"from": "search"})])
def test_without_one_nothing_is_asked_and_nothing_changed(value: Any) -> None:
    def never() -> Results:
        raise AssertionError("asked")

    assert resolved(value, never, limit=10) is value


@pytest.mark.parametrize(
    ("data", "path", "reason", "allowed"),
    [
        ({"a": {"fromCall": "serach"}}, "/parts/0/data/a/fromCall", "unknown_call", ["search"]),
        ({"a": {"fromCall": "call_9"}}, "/parts/0/data/a/fromCall", "unknown_call", ["search"]),
        ({"a": {"fromCall": "call_2"}}, "/parts/0/data/a/fromCall", "no_result", None),
        ({"a": {"fromCall": "book"}}, "/parts/0/data/a/fromCall", "no_result", None),
        (
            {"a": [{"fromCall": "search", "path": "/fights"}]},
            "/parts/0/data/a/0/path",
            "unknown_path",
            ["flights", "a/b", "none"],
        ),
        ({"fromCall": "search", "path": "/flights/2"}, "/parts/0/data/path", "unknown_path", []),
        (
            {"fromCall": "search", "path": "/flights/0/cost"},
            "/parts/0/data/path",
            "unknown_path",
            ["id", "price"],
        ),
        ({"fromCall": "search", "path": "flights"}, "/parts/0/data/path", "unknown_path", None),
        ({"x/y": {"fromCall": "search", "path": 5}}, "/parts/0/data/x~1y", "not_a_reference", None),
        ({"a": {"fromCall": "search", "path": "", "first": 3}}, "/parts/0/data/a", "not_a_reference", None),
    ],
)
def test_a_wrong_one_is_refused_with_its_place_and_what_is_allowed(
    data: Any, path: str, reason: str, allowed: Any
) -> None:
    facts = refusal(data).facts

    assert (facts["path"], facts["reason"], facts.get("allowed")) == (path, reason, allowed)


def test_there_are_bounds() -> None:
    one = {"fromCall": "call_1", "path": "/flights/0/id"}
    assert taken([one] * MOST) == ["EJ1"] * MOST
    many = refusal({"a": [one] * MOST}, {"b": one})
    assert (many.facts["reason"], many.facts["limit"], many.facts["path"]) == (
        "too_many",
        MOST,
        "/parts/1/data/b",
    )

    assert taken([one] * 2, limit=10) == ["EJ1"] * 2
    large = refusal({"a": [one] * 3}, limit=10)
    assert (large.facts["reason"], large.facts["limit"], large.facts["path"]) == (
        "too_large",
        10,
        "/parts/0/data/a/2",
    )
