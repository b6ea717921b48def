"""What a model reads of earlier turns."""

from __future__ import annotations

import json

import pytest

from envelopes.models import Turn
from envelopes.providers.scripted import Say, text
from envelopes.registries.part_types import PartType, part_types
from envelopes.turns import window
from envelopes.turns.history import opening_messages
from envelopes.types import JsonObject
from tests import factories
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


async def test_what_is_left_out_of_a_long_conversation_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """In lumps: then nothing more is left out for a while."""
    monkeypatch.setattr(window, "EARLIER_TURNS", 2)
    async with desk(replies([Say([text("response", "Yes.")])])) as d:
        for words in ("one", "two", "three"):
            await d.say(words)
        assert "leftOut" not in json.dumps(d.requests[-1].messages)
        for words in ("four", "five"):
            await d.say(words)
            read = json.dumps(d.requests[-1].messages)
            assert '\\"leftOut\\":2' in read
            assert '"three"' in read and '"two"' not in read
        await d.say("six")
        assert '\\"leftOut\\":4' in json.dumps(d.requests[-1].messages)


def _retold(*parts: tuple[str, JsonObject]) -> str:
    """What a model reads of an earlier turn that held these parts."""
    session = factories.make_session()
    turn = factories.make_turn(session)
    for name, more in parts:
        factories.add_part(turn, name, **more)
    factories.settle_turn(turn)
    following = Turn.objects.select_related("session").get(pk=factories.make_turn(session).pk)
    return str(opening_messages(following)[1]["content"][0]["text"])


def test_whatever_a_turn_said_or_showed_is_told() -> None:
    ref = {"artifactId": "f1", "mimeType": "text/csv", "sizeBytes": 3, "name": "prices.csv"}
    surface = {"version": "v0.9", "deleteSurface": {"surfaceId": "sights"}}
    offer = PartType("acme.offer", frozenset({"actor"}), "flush", "once", data="optional")
    with part_types.including(offer):
        assert _retold(("acme.offer", {"text": "Half price."})) == "Half price."
        assert _retold(("acme.offer", {"data": {"price": 5}})) == '[acme.offer shown: {"price":5}]'
    assert _retold(("artifact", {"data": ref})) == "[File shown: prices.csv, text/csv]"
    closed = "[Surface sights: closed]"
    assert _retold(("a2ui-surface", {"data": surface})) == closed
    assert _retold(("response", {"text": "Here."}), ("a2ui-surface", {"data": surface})) == f"Here.\n{closed}"


def test_what_an_application_cannot_retell_keeps_no_turn_waiting() -> None:
    broken = PartType(
        "acme.offer", frozenset({"actor"}), "flush", "once", retold=lambda part: str(part["price"])
    )
    with part_types.including(broken):
        assert _retold(("acme.offer", {"text": "x"}), ("response", {"text": "Here."})) == "Here."


def test_only_a_turn_that_said_nothing_ended_without_an_answer() -> None:
    unsaid = "[This turn ended without an answer: complete.]"
    assert _retold(("ack", {"text": "One moment."})) == unsaid
    assert _retold() == unsaid


def _begun_by(trigger: JsonObject) -> str:
    """What a model reads of what began its turn."""
    session = factories.make_session()
    turn = factories.make_turn(session)
    turn.trigger = trigger
    turn.save()
    return json.dumps(opening_messages(turn))


@pytest.mark.parametrize("name", ["a2uiRendererDataModel", "a2uiClientDataModel"])
def test_data_models_that_the_agent_asked_for_are_read_with_what_began_the_turn(name: str) -> None:
    model = {"version": "1.0", "surfaces": {"s": {"seat": "12A"}}}
    said: JsonObject = {"kind": "message", "text": "Go on", "metadata": {name: model}}
    clicked: JsonObject = {"kind": "action", "action": {"name": "go"}, "metadata": {name: model}}
    for trigger in (said, clicked):
        assert "12A" in _begun_by(trigger)
        assert "12A" not in _begun_by({**trigger, "metadata": {}})


def test_data_models_of_turns_before_1_0_are_read_as_well() -> None:
    model = {"version": "v0.9", "surfaces": {"s": {"seat": "12A"}}}
    assert "12A" in _begun_by({"kind": "message", "text": "Go on", "dataModel": model})


def test_d8_a_part_that_goes_on_is_one_text() -> None:
    said = _retold(
        ("response", {"text": "From Gat", "partId": "a"}),
        ("response", {"text": "Other.", "partId": "b"}),
        ("clarify", {"text": "Which", "partId": "a"}),
        ("response", {"text": "wick.", "partId": "a"}),
        ("clarify", {"text": " one?", "partId": "a"}),
    )
    assert said == "From Gatwick.\nOther.\nWhich one?"


def test_a_file_in_pieces_is_told_once() -> None:
    ref = {"artifactId": "f1", "mimeType": "text/csv", "sizeBytes": 3, "name": "prices.csv"}
    pieces = [{**ref, "append": bool(number), "lastChunk": number == 2} for number in range(3)]
    assert (
        _retold(*(("artifact", {"data": piece}) for piece in pieces)) == "[File shown: prices.csv, text/csv]"
    )
