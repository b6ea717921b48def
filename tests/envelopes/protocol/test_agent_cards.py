"""Agent Cards of others: what is one, and what it says of Beach (envelope document, "Agent Card advertising")."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from envelopes.errors import TooLarge, ValidationFailed
from envelopes.protocol.agent_card_schema import agent_card_schema
from envelopes.protocol.agent_cards import (
    EXTENSION,
    MAX_CARD_BYTES,
    consumed,
    extension_of,
    read_agent_card,
)
from tests.cards import agent_card


def with_params(params: object) -> dict[str, Any]:
    return agent_card(capabilities={"extensions": [{"uri": EXTENSION, "params": params}]})


def without(key: str) -> dict[str, Any]:
    card = agent_card()
    del card[key]
    return card


def test_a_card_says_what_its_agent_takes() -> None:
    card = agent_card("llm-context", "ta.itinerary-slot-state")
    assert read_agent_card(card).name == "Baxter"
    assert consumed(card) == {"llm-context", "ta.itinerary-slot-state"}
    assert card == agent_card("llm-context", "ta.itinerary-slot-state"), "what is read is left as it is"


def test_what_is_unknown_is_let_through() -> None:
    card = agent_card(
        "llm-context",
        zebra=1,
        signatures=[{"protected": "e30", "signature": "x", "header": {"alg": "ES256"}}],
    )
    card["capabilities"]["extensions"][0]["params"]["zebra"] = [1]
    read_agent_card(card)
    assert consumed(card) == {"llm-context"}


def test_a_card_of_a2a_0_3_is_read_in_todays_terms() -> None:
    older = without("supportedInterfaces") | {
        "url": "https://baxter.example/a2a",
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "additionalInterfaces": [{"url": "https://baxter.example/rest", "transport": "HTTP+JSON"}],
        "security": [{"token": []}],
        "securitySchemes": {"token": {"type": "http", "scheme": "Bearer"}},
    }
    card = read_agent_card(older)
    assert [door.protocol_binding for door in card.supported_interfaces] == ["JSONRPC", "HTTP+JSON"]
    assert card.security_schemes["token"].http_auth_security_scheme.scheme == "Bearer"


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (None, ""),
        ([], ""),
        ("card", ""),
        *((without(key), "") for key in ("name", "description", "version", "capabilities", "skills")),
        (without("supportedInterfaces"), ""),
        (agent_card(name=""), "/name"),
        (agent_card(name=7), "/name"),
        (agent_card(capabilities=[]), "/capabilities"),
        (agent_card(capabilities={"streaming": "yes"}), "/capabilities/streaming"),
        (agent_card(supportedInterfaces=[{"url": "https://x"}]), "/supportedInterfaces/0"),
        (agent_card(skills=[{"id": "plan"}]), "/skills/0"),
        (agent_card(skills={"id": "plan"}), "/skills"),
        (agent_card(securitySchemes={"a": 7}), "/securitySchemes/a"),
        (agent_card(defaultInputModes="text/plain"), "/defaultInputModes"),
        (with_params([]), "/capabilities/extensions/0/params"),
        (
            with_params({"envelopeConsumes": "llm-context"}),
            "/capabilities/extensions/0/params/envelopeConsumes",
        ),
        (with_params({"envelopeConsumes": [7]}), "/capabilities/extensions/0/params/envelopeConsumes/0"),
        (with_params({"envelopeConsumes": [""]}), "/capabilities/extensions/0/params/envelopeConsumes/0"),
        (with_params({"catalogIds": 1}), "/capabilities/extensions/0/params/catalogIds"),
        (with_params({"big": 10**400}), ""),
        (agent_card(name="\ud800"), ""),
    ],
)
def test_what_is_none_is_refused_with_where(document: Any, path: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        read_agent_card(document)
    assert refused.value.facts["path"] == path
    refused.value.message.encode()


def test_a_card_is_bounded() -> None:
    with pytest.raises(TooLarge, match=str(MAX_CARD_BYTES)):
        read_agent_card(agent_card(description="x" * MAX_CARD_BYTES))
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    with pytest.raises(ValidationFailed):
        read_agent_card(with_params({"deep": deep}))


def test_a_stored_card_that_is_none_says_nothing() -> None:
    for document in (
        None,
        [],
        {"capabilities": []},
        with_params([]),
        agent_card(capabilities={"extensions": [7]}),
    ):
        assert consumed(document) == frozenset()
    assert extension_of(agent_card(capabilities={})) is None


def test_the_schema_is_one_and_says_what_the_sdk_says() -> None:
    schema = agent_card_schema()
    Draft202012Validator.check_schema(schema)
    card = schema["$defs"]["lf.a2a.v1.AgentCard"]
    assert set(card["required"]) == {
        "name",
        "description",
        "supportedInterfaces",
        "version",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    }
    assert card["properties"]["securitySchemes"]["additionalProperties"]["$ref"].endswith("SecurityScheme")
