"""``/.well-known/agent-card.json``: the site's own card (envelope document, "Agent Card")."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from envelopes.protocol.agent_card_schema import agent_card_schema
from envelopes.protocol.agent_cards import EXTENSION, BeachExtension, extension_of, read_agent_card
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.transports import Transport, transports

PATH = "/.well-known/agent-card.json"


def shown(**headers: str) -> Any:
    answer = Client().get(PATH, headers=headers)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    return answer.json()


def test_it_is_a_card_that_whoever_reads_cards_takes() -> None:
    card = shown()
    Draft202012Validator(agent_card_schema()).validate(card)
    read = read_agent_card(card)
    assert [skill.name for skill in read.skills] == ["Sally"]
    extension = extension_of(card)
    assert extension is not None
    assert set(extension.model_dump()) == set(BeachExtension.model_fields)


def test_it_lists_only_doors_that_are_there() -> None:
    card = shown()
    bindings = {door["protocolBinding"]: door["url"] for door in card["supportedInterfaces"]}
    assert bindings == {
        f"{EXTENSION}/documents": "http://testserver/api/",
        f"{EXTENSION}/http": "http://testserver/api/",
        f"{EXTENSION}/live": "ws://testserver/ws/live/",
        f"{EXTENSION}/sse": "http://testserver/api/",
    }
    assert card["capabilities"]["streaming"] is True
    assert Client().get(card["documentationUrl"].removeprefix("http://testserver")).status_code == 200
    with (
        transports.including(Transport("sse", "streaming")),
        transports.including(Transport("live", "streaming")),
        transports.including(Transport("documents", "streaming")),
    ):
        less = shown()
    assert [door["protocolBinding"] for door in less["supportedInterfaces"]] == [f"{EXTENSION}/http"]
    assert "streaming" not in less["capabilities"] or less["capabilities"]["streaming"] is False


def test_it_says_what_may_come_in_and_what_goes_out() -> None:
    board = PartType("acme.board", frozenset({"actor"}), "flush", "drop", data="required")
    with part_types.including(board):
        params = card_params(shown())
    assert {"acme.board", "response", "approval-request"} <= set(params["envelopeProduces"])
    assert "reasoning-trace" not in params["envelopeProduces"], "it never leaves"
    assert "approval-response" not in params["envelopeProduces"]
    assert "approval-response" in params["envelopeConsumes"]
    assert "delegated" in params["turnStates"]
    assert params["catalogIds"][0] == "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"


def test_whoever_has_it_need_not_have_it_again() -> None:
    first = Client().get(PATH)
    assert first["Cache-Control"] == "public, max-age=300"
    assert "Host" in first["Vary"]
    for held in (first["ETag"], f'"other", {first["ETag"]}', f"W/{first['ETag']}", "*"):
        again = Client().get(PATH, headers={"if-none-match": held})
        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == first["ETag"]
    assert Client().get(PATH, headers={"if-none-match": '"other"'}).status_code == 200
    assert Client().head(PATH).status_code == 200
    assert Client().post(PATH).status_code == 405


@pytest.mark.django_db
def test_it_asks_nothing_of_the_database(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        Client().get(PATH)


def test_the_settings_say_who_it_is(settings: Any) -> None:
    settings.BEACH_AGENT_NAME, settings.BEACH_AGENT_ORGANIZATION = "Acme Travel", "Acme"
    settings.BEACH_AGENT_DESCRIPTION, settings.BEACH_AGENT_VERSION = "Sells journeys.", "2.1"
    card = shown()
    assert (card["name"], card["description"], card["version"]) == ("Acme Travel", "Sells journeys.", "2.1")
    assert card["provider"] == {"organization": "Acme", "url": "http://testserver/"}


def test_a_host_that_is_not_ours_gets_none() -> None:
    assert Client().get(PATH, headers={"host": "evil.example"}).status_code == 400


def card_params(card: Any) -> Any:
    return next(one["params"] for one in card["capabilities"]["extensions"] if one["uri"] == EXTENSION)
