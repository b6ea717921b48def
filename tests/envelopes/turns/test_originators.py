"""Who began a turn, kept with it; and what came with their message, on the row and for the model."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes import artifacts, intake
from envelopes.access import NOBODY, Principal
from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.errors import Forbidden, ValidationFailed
from envelopes.log.append import writing
from envelopes.models import Injection, Session, Turn
from envelopes.protocol.originators import Originator
from envelopes.protocol.parts import check_part
from envelopes.turns.history import opening_messages
from envelopes.turns.lifecycle import hand_over, inject, open_turn, settle
from envelopes.turns.parts import append_parts
from envelopes.types import Json, JsonObject
from tests import factories

pytestmark = pytest.mark.django_db

PEER: Originator = {"principal": "peer:7", "kind": "peer", "consumes": ["llm-context"]}


@pytest.fixture
def owner() -> Principal:
    return factories.make_principal(factories.make_user())


@pytest.fixture
def session(owner: Principal) -> Session:
    return factories.make_session(owner)


def _newest(session: Session) -> Turn:
    return session.turns.select_related("session").order_by("-number")[0]


def test_a_turn_keeps_who_began_it(owner: Principal, session: Session) -> None:
    intake.post_message(session, owner, "m1", "Hello")
    visitor, _ = factories.make_visitor()
    other = factories.make_session(visitor)
    intake.post_message(other, visitor, "m1", "Hello")

    assert _newest(session).originators == [{"principal": owner.key, "kind": "person", "consumes": []}]
    assert _newest(other).originators == [{"principal": visitor.key, "kind": "guest", "consumes": []}]


def _types(envelope: JsonObject) -> list[str]:
    return [part["metadata"]["partType"] for part in envelope["parts"]]


def test_nobody_begins_a_turn() -> None:
    assert NOBODY.kind is None
    with pytest.raises(Forbidden):
        intake.originator(NOBODY)


def test_the_envelope_is_for_whoever_began_the_turn(session: Session) -> None:
    said = [{"text": "Hi", "metadata": {"partType": name}} for name in ("llm-context", "response")]
    parts = [check_part(part, origin="actor")[0] for part in said]
    whoever: list[Originator] = [PEER, {**PEER, "kind": "person"}, {**PEER, "consumes": []}]
    seen = {}
    with factories.acting(), writing(session.pk) as writer:
        for who in whoever:
            turn = open_turn(writer, {"kind": "message", "text": "Hello"}, originators=[who])
            append_parts(writer, turn, parts, "actor")
            settle(writer, turn, turn_state="complete", finalized_by="complete")
            writer.flush()
            seen[who["kind"], *who["consumes"]] = _types(envelope_for(turn))

    assert seen == {
        ("peer", "llm-context"): ["llm-context", "response"],
        ("person", "llm-context"): ["response"],
        ("peer",): ["response"],
    }
    assert _types(envelope_for(turn, Reader.of(PEER))) == ["llm-context", "response"]


@pytest.mark.parametrize("how", ["passed on", "a late result"])
def test_what_follows_of_it_is_still_theirs(session: Session, how: str) -> None:
    with factories.acting(), factories.acting(name="drafter"), writing(session.pk) as writer:
        turn = open_turn(writer, {"kind": "message", "text": "Hello"}, originators=[PEER])
        if how == "passed on":
            hand_over(writer, turn, "drafter")
        else:
            Turn.objects.filter(pk=turn.pk).update(status="settled")
            turn.refresh_from_db()
            inject(writer, turn, Injection.objects.create(turn=turn, kind="tool-result"))

    following = _newest(session)
    assert following.pk != turn.pk
    assert following.originators == [PEER]


def _part(name: str, data: Json) -> JsonObject:
    return {"data": data, "metadata": {"partType": name}}


def test_what_comes_with_a_message_is_on_its_row_and_read_by_the_model(
    owner: Principal, session: Session
) -> None:
    with factories.acting():
        intake.post_message(session, owner, "m1", "Book these", parts=[_part("domain-data", {"seats": [4]})])

    (row,) = factories.log_of(session, "message")
    assert row.data["text"] == "Book these"
    assert row.data["parts"] == [_part("domain-data", {"seats": [4]})]
    told = str(opening_messages(_newest(session)))
    assert '{"seats":[4]}' in told
    assert "Book these" in told


def test_parts_may_come_without_words(owner: Principal, session: Session) -> None:
    intake.post_message(session, owner, "m1", "", parts=[_part("domain-data", {"seats": [4]})])

    assert len(factories.log_of(session, "message")) == 1


@pytest.mark.parametrize(
    "part",
    [
        _part("approval-response", {"approvalId": "a", "decision": "granted", "decidedAt": "2026-01-01"}),
        _part("approval-request", {}),
        _part("a2ui-surface", {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}}),
        _part("domain-data", None),
        "text",
        {"metadata": 1},
    ],
)
def test_what_cannot_come_in_is_refused_and_leaves_nothing(
    owner: Principal, session: Session, part: Any
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        intake.post_message(session, owner, "m1", "Hello", parts=[_part("domain-data", {}), part])

    assert caught.value.facts["path"].startswith("/parts/1")
    assert factories.log_of(session) == []


def test_a_type_that_nobody_knows_here_is_left_out(
    owner: Principal, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    known = _part("domain-data", {"seats": [4]})
    intake.post_message(session, owner, "m1", "Hello", parts=[_part("other.board", {}), known])

    (row,) = factories.log_of(session, "message")
    assert row.data["parts"] == [known]
    assert "other.board" in caplog.text


def test_a_file_of_another_conversation_is_refused(owner: Principal, session: Session) -> None:
    other = factories.make_session(owner)
    with artifacts.stored(other.public_id, b"x") as there, writing(other.pk) as writer:
        elsewhere = artifacts.begin(writer.session, owner.key, artifacts.Chunk("a.txt", "text/plain"), there)
    with pytest.raises(ValidationFailed) as caught:
        intake.post_message(session, owner, "m1", "Look", parts=[elsewhere])

    assert caught.value.facts["path"] == "/parts/0/data/url"
    assert factories.log_of(session) == []
