"""The JSON doors describe themselves, as OpenAPI 3.1 has it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient, Client
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


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("GET", "/api/sessions", "POST"),
        ("OPTIONS", "/api/sessions", "POST"),
        ("PUT", "/api/sessions/nowhere/documents", "GET, POST"),
        ("DELETE", "/api/artifacts/nothing", "GET"),
        ("POST", "/api/openapi.json", "GET, HEAD"),
    ],
)
def test_a_method_that_an_address_does_not_know_is_refused_in_json(
    method: str, path: str, known: str
) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, path)

    assert (answer.status_code, answer.headers["Allow"]) == (405, known)
    assert answer.json() == {
        "code": "method_not_allowed",
        "message": f"{method} is not for this address, which knows {known}.",
    }


async def test_asked_asynchronously_it_is_refused_in_the_same_way() -> None:
    answer = await AsyncClient().get("/api/sessions")

    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", ["/api/", "/api/nowhere", "/api/sessions/", "/api/sessions/a/b/c"])
def test_where_the_api_has_nothing_it_says_so_in_json(method: str, path: str) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, path)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_elsewhere_a_page_says_that_there_is_nothing() -> None:
    answer = Client().get("/apiary")

    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
