"""The JSON doors describe themselves, as OpenAPI 3.1 has it."""

from __future__ import annotations

from typing import Any

from django.test import Client
from openapi_spec_validator import OpenAPIV31SpecValidator, validate


def described() -> Any:
    answer = Client().get("/api/openapi.json")
    assert answer.status_code == 200
    return answer.json()


def test_the_description_is_valid() -> None:
    validate(described(), cls=OpenAPIV31SpecValidator)


def test_it_names_every_operation_what_it_takes_and_what_it_answers() -> None:
    found = {
        operation["operationId"]: (method, path, operation)
        for path, operations in described()["paths"].items()
        for method, operation in operations.items()
    }
    assert {name: (method, path) for name, (method, path, _) in found.items()} == {
        "beginSession": ("post", "/api/sessions"),
        "say": ("post", "/api/sessions/{session_id}/messages"),
        "act": ("post", "/api/sessions/{session_id}/actions"),
        "answer": ("get", "/api/sessions/{session_id}/turns/{turn_id}"),
        "follow": ("get", "/api/sessions/{session_id}/parts"),
        "keepFile": ("post", "/api/sessions/{session_id}/artifacts"),
        "download": ("get", "/api/artifacts/{artifact_id}"),
        "sendMessageEnvelope": ("post", "/api/sessions/{session_id}/message-envelopes"),
        "followMessageEnvelopes": ("get", "/api/sessions/{session_id}/message-envelopes"),
        "patchDocument": ("post", "/api/sessions/{session_id}/documents"),
        "followDocuments": ("get", "/api/sessions/{session_id}/documents"),
        "document": ("get", "/api/sessions/{session_id}/documents/{surface}"),
        "liveToken": ("post", "/api/sessions/{session_id}/live-token"),
    }
    for name, (_, _, operation) in found.items():
        assert {"401", "403"} <= operation["responses"].keys(), name
        assert all("PeerToken" in word or "SignedIn" in word for word in operation["security"]), name
    say = found["say"][2]
    assert {parameter["name"] for parameter in say["parameters"]} == {
        "session_id",
        "Idempotency-Key",
        "Prefer",
    }
    assert {"200", "202", "413"} <= say["responses"].keys()
    follow = found["follow"][2]
    assert "text/event-stream" in follow["responses"]["200"]["content"]
    assert {parameter["name"] for parameter in follow["parameters"]} == {
        "session_id",
        "after",
        "surfaces",
        "Last-Event-ID",
    }
