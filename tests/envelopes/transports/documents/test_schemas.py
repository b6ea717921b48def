"""The published schemas are those of what is read, and are fetched again only when they have changed."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from envelopes.transports.documents.schemas import SCHEMAS, schema
from envelopes.transports.documents.shapes.common import canonical_id
from tests.envelopes.transports.documents.test_envelopes import A2UI, MESSAGE, block, op
from tests.envelopes.transports.documents.test_webhooks_received import GOOD


def is_valid(name: str, value: Any) -> bool:
    return bool(Draft202012Validator(schema(name)).is_valid(value))


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_a_schema_of_a_closed_object_with_a_version(name: str) -> None:
    made = schema(name)
    Draft202012Validator.check_schema(made)

    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert made["$id"] == f"/schemas/{name}"
    assert made["properties"]["v"]["const"] == 1
    closed = [made, *made["$defs"].values()]
    assert {one["additionalProperties"] for one in closed if one.get("type") == "object"} == {False}


@pytest.mark.parametrize(
    ("name", "value", "good"),
    [
        ("a2ui-envelope.v1.json", A2UI, True),
        ("a2ui-envelope.v1.json", op(op="remove", path="/a"), True),
        ("a2ui-envelope.v1.json", op(op="remove", path="/a", value=1), False),
        ("a2ui-envelope.v1.json", op(op="add", path="/a"), False),
        ("a2ui-envelope.v1.json", op(op="move", path="/a"), False),
        ("a2ui-envelope.v1.json", block(), True),
        ("a2ui-envelope.v1.json", block(ambient_mode="push_to_talk"), False),
        ("a2ui-envelope.v1.json", block(ambient_mode="push_to_talk", consent_required=False), False),
        ("a2ui-envelope.v1.json", block(ambient_mode="push_to_talk", consent_required=True), True),
        ("a2ui-envelope.v1.json", {**A2UI, "id": "x"}, False),
        ("message-envelope.v1.json", MESSAGE, True),
        ("message-envelope.v1.json", {**MESSAGE, "limits": {}}, False),
        ("webhook-envelope.v1.json", GOOD, True),
        ("webhook-envelope.v1.json", {**GOOD, "more": 1}, False),
        ("webhook-envelope.v1.json", {**GOOD, "id": canonical_id(1, "x")}, True),
    ],
)
def test_it_says_what_is_read(name: str, value: Any, good: bool) -> None:
    assert is_valid(name, value) is good


def test_the_bounds_of_a_message_are_those_of_the_source() -> None:
    made = schema("message-envelope.v1.json")["$defs"]

    assert made["Content"]["properties"]["attachments"]["maxItems"] == 32
    assert made["Attachment"]["properties"]["size_bytes"]["anyOf"][0]["maximum"] == 104_857_600
    assert made["Security"]["properties"]["trust"]["enum"] == ["untrusted", "user-trusted", "system"]
    assert set(made["Sender"]["properties"]) == {"display", "handle", "verified"}


def test_one_is_fetched_once(client: Client) -> None:
    first = client.get("/schemas/a2ui-envelope.v1.json")
    assert first.json() == schema("a2ui-envelope.v1.json")
    assert first["Content-Type"] == "application/schema+json"
    assert set(first["Cache-Control"].split(", ")) == {"public", "max-age=3600"}

    again = client.get("/schemas/a2ui-envelope.v1.json", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_list_names_each(client: Client) -> None:
    for address in client.get("/schemas/").json()["schemas"]:
        assert client.get(address).status_code == 200
    assert client.get("/schemas/other.json").status_code == 404
    assert client.post("/schemas/").status_code == 405
