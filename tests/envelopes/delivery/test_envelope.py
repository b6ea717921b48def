"""The envelope builder: rows in, one message out."""

from __future__ import annotations

import itertools
import logging
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from envelopes.delivery.envelope import PLAIN, assemble, envelope_for
from envelopes.delivery.rules import Reader
from envelopes.errors import Conflict
from envelopes.protocol.rows import KINDS, Row
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.transports import Connection
from envelopes.types import Json, JsonObject
from tests import factories, shared

AT = datetime(2026, 5, 1, 10, 0, 0, 250_000, tzinfo=UTC)
PEER = Reader("peer", consumes=frozenset({"llm-context"}))


class Rows:
    """The rows of one turn, as they would stand in a log."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, kind: str, data: JsonObject, part_type: str = "", **fields: Any) -> Rows:
        fields.setdefault("audience", KINDS[kind])
        self.rows.append(Row(len(self.rows) + 1, kind, AT, data, part_type, "sally", 1, **fields))
        return self

    def part(
        self,
        part_type: Any,
        text: str | None = None,
        data: Json = None,
        *,
        state: str = "awaiting",
        **metadata: Json,
    ) -> Rows:
        part: JsonObject = {"metadata": {"partType": part_type, **metadata}}
        part |= {} if text is None else {"text": text}
        part |= {} if data is None else {"data": data}
        return self.add("part", {"part": part, "turnState": state}, str(part_type or ""))

    def result(self, result: Json, *, kind: str | None = "flights", state: str = "succeeded") -> Rows:
        return self.add("tool-result", {"callId": "c", "state": state, "result": result, "dataKind": kind})

    def settled(self, state: str = "complete", by: str = "") -> Rows:
        return self.add("settled", {"turnState": state, "finalizedBy": by or state})

    def envelope(self, reader: Reader = PLAIN, **how: Any) -> JsonObject:
        return assemble(self.rows, session_id="s1", turn_id="t1", reader=reader, **how)

    def parts(self, reader: Reader = PLAIN, **how: Any) -> list[JsonObject]:
        parts: list[JsonObject] = self.envelope(reader, **how)["parts"]
        return parts


def types(parts: list[JsonObject]) -> list[str]:
    return [part["metadata"]["partType"] for part in parts]


def test_the_shape_of_the_document() -> None:
    envelope = Rows().part("response", "Hi", state="complete").settled().envelope()

    assert envelope == {
        "role": "agent",
        "parts": [{"text": "Hi", "metadata": {"partType": "response"}}],
        "meta": {
            "sessionId": "s1",
            "turnId": "t1",
            "producedAt": "2026-05-01T10:00:00.250Z",
            "finalizedBy": "complete",
        },
    }


def test_what_a_buffered_reader_never_gets() -> None:
    rows = Rows().part("ack", "ok").part("thinking", "hm").part("progress", data={"id": "p"})
    rows.part("setState", data={"cart.status": "paid"}).part("reasoning-trace", data={"text": "secret"})
    rows.part("approval-response", data={"approvalId": "a"})
    rows.part("response", "Hi").settled()

    assert types(rows.parts(Reader(consumes=frozenset(part_types.names()), surfaces=True))) == ["response"]


def test_a_peer_gets_proposed_states_as_they_are() -> None:
    rows = Rows().part("setState", data={"cart.status": "paid"}).part("response", "Paid.").settled()

    assert types(rows.parts(Reader("peer"))) == ["setState", "response"]
    assert types(rows.parts(Reader("service"))) == ["response"]


def test_what_came_late_is_no_part_of_the_answer() -> None:
    rows = Rows().add(
        "part",
        {
            "part": {"text": "Late", "metadata": {"partType": "response"}},
            "turnState": "complete",
            "late": True,
        },
        "response",
    )

    assert rows.part("response", "In time").settled().parts() == [
        {"text": "In time", "metadata": {"partType": "response"}}
    ]


def test_a_question_of_a_suspension_was_told_when_it_came() -> None:
    rows = (
        Rows().part("approval-request", data={"approvalId": "a"}, state="suspended").part("response", "Done")
    )

    assert types(rows.settled().parts()) == ["response"]


def test_s10_whatever_else_is_said_during_a_suspension_is_part_of_the_answer() -> None:
    rows = Rows()
    for kind in ("error", "clarify", "response"):
        rows.part(kind, f"A job says: {kind}", state="suspended")

    assert types(rows.settled().parts()) == ["error", "clarify", "response"]


def test_text_of_one_part_id_is_one_part_in_order() -> None:
    rows = (
        Rows()
        .part("response", "Two ", partId="m1")
        .part("response", "Other")
        .part("response", "flights", partId="m1")
    )

    assert [part["text"] for part in rows.settled().parts()] == ["Two flights", "Other"]


def test_one_id_on_two_types_is_two_parts() -> None:
    rows = Rows().part("error", "Broken", partId="m1").part("response", "Half", partId="m1")

    assert types(rows.settled().parts()) == ["error", "response"]


def test_an_empty_turn_has_an_empty_envelope() -> None:
    assert Rows().settled().parts() == []


def test_an_open_turn_has_none() -> None:
    with pytest.raises(Conflict, match="not settled"):
        Rows().part("response", "Half").envelope()


@pytest.mark.parametrize("by", ["complete", "clarifying", "error", "cancelled", "timeout"])
def test_who_finalised_it_is_told(by: str) -> None:
    assert Rows().settled("error", by).envelope()["meta"]["finalizedBy"] == by


# -- data --------------------------------------------------------------------------------------------------------


def test_a_result_with_a_kind_is_data() -> None:
    parts = Rows().result({"flights": [1]}).settled().parts()

    assert parts == [
        {"data": {"flights": [1]}, "metadata": {"partType": "domain-data", "dataKind": "flights"}}
    ]


@pytest.mark.parametrize("state", ["failed", "unknown"])
def test_a_result_that_is_none_is_no_data(state: str) -> None:
    assert Rows().result({"flights": [1]}, state=state).settled().parts() == []


def test_a_result_without_a_kind_is_the_models_business() -> None:
    assert Rows().result({"flights": [1]}, kind=None).settled().parts() == []


@pytest.mark.parametrize("value", [[1, 2], "text", 7, None])
def test_a_result_that_is_no_object_is_wrapped(value: Json) -> None:
    assert Rows().result(value).settled().parts()[0]["data"] == {"result": value}


def test_data_for_one_slot_is_one_part() -> None:
    rows = Rows().result({"a": 1}).part("domain-data", data={"b": 2}, dataKind="flights")

    assert [part["data"] for part in rows.settled().parts()] == [{"b": 2}]


def test_a_slot_key_is_stronger_than_a_kind() -> None:
    rows = Rows().part("domain-data", data={"a": 1}, dataKind="city", slotKey="rome")
    rows.part("domain-data", data={"a": 2}, dataKind="city", slotKey="pisa")
    rows.part("domain-data", data={"a": 3}, dataKind="city", slotKey="rome")

    parts = rows.settled().parts()

    assert [(part["metadata"]["slotKey"], part["data"]) for part in parts] == [
        ("rome", {"a": 3}),
        ("pisa", {"a": 2}),
    ]


def test_data_without_slot_and_kind_stays_apart() -> None:
    rows = Rows().part("domain-data", data={"a": 1}).part("domain-data", data={"a": 2}).settled()

    assert [part["data"] for part in rows.parts()] == [{"a": 1}, {"a": 2}]


def test_the_strategy_is_that_of_the_rows() -> None:
    rows = (
        Rows()
        .part("domain-data", data={"l": [1], "x": 1}, slotKey="s", mergeStrategy="append")
        .part("domain-data", data={"l": [2]}, slotKey="s", mergeStrategy="append")
    )

    (part,) = rows.settled().parts()

    assert part["data"] == {"l": [1, 2], "x": 1}
    assert part["metadata"]["mergeStrategy"] == "append"


def test_rows_of_before_that_say_no_strategy_replace() -> None:
    rows = (
        Rows()
        .part("domain-data", data={"l": [1]}, slotKey="s")
        .part("domain-data", data={"l": [2]}, slotKey="s")
    )

    (part,) = rows.settled().parts()

    assert part == {"data": {"l": [2]}, "metadata": {"partType": "domain-data", "slotKey": "s"}}


def test_what_one_part_cannot_say_is_said_by_two() -> None:
    """A reader has a list there from an earlier turn: it goes, and then another one begins."""
    rows = Rows()
    for value in (None, [1]):
        rows.part("domain-data", data={"l": value}, slotKey="s", mergeStrategy="append")

    assert [part["data"] for part in rows.settled().parts()] == [{"l": None}, {"l": [1]}]


def test_a_result_that_is_shown_as_a_part_is_not_counted_twice() -> None:
    rows = Rows().add(
        "tool-result",
        {"callId": "c", "state": "succeeded", "result": {"l": [1]}, "dataKind": "k", "shown": True},
    )
    rows.part("domain-data", data={"l": [1]}, dataKind="k", mergeStrategy="append")

    assert [part["data"] for part in rows.settled().parts()] == [{"l": [1]}]


def _scribble(value: Json) -> None:
    if isinstance(value, dict):
        for inner in list(value.values()):
            _scribble(inner)
        value["scribble"] = 1
    elif isinstance(value, list):
        for inner in value:
            _scribble(inner)
        value.append("scribble")


def test_rows_are_not_changed() -> None:
    rows = (
        Rows()
        .part("response", "a", partId="m")
        .part("response", "b", partId="m")
        .result({"l": [1]})
        .result({"l": [2]})
    )
    rows.part("domain-data", data={"l": [3]}, dataKind="flights", mergeStrategy="append").settled()
    before = deepcopy(rows.rows)

    _scribble(rows.envelope())

    assert rows.rows == before


# -- citations, surfaces, other readers --------------------------------------------------------------------------


def test_citations_go_with_their_data() -> None:
    rows = Rows().part("citation", data={"path": "/a", "title": "T"}).part("response", "Hi").result({"a": 1})

    assert types(rows.settled().parts()) == ["response", "domain-data", "citation"]


def test_a_citation_without_data_is_not_lost() -> None:
    rows = Rows().part("citation", data={"path": "/a", "title": "T"}).part("response", "Hi")

    assert types(rows.settled().parts()) == ["citation", "response"]


def _message(verb: str, surface: str) -> JsonObject:
    return {"version": "v0.9", verb: {"surfaceId": surface}}


def test_surfaces_come_only_when_asked_for() -> None:
    rows = Rows().part("a2ui-surface", data=_message("createSurface", "s")).part("response", "Hi").settled()

    assert types(rows.parts()) == ["response"]
    assert types(rows.parts(Reader(surfaces=True))) == ["response", "a2ui-surface"]


def test_surfaces_come_in_their_final_state() -> None:
    create, change, gone = (
        _message("createSurface", "s"),
        _message("updateComponents", "s"),
        _message("createSurface", "g"),
    )
    rows = Rows().part("a2ui-surface", data={"messages": [create, gone]})
    rows.part("a2ui-surface", data=change).part("a2ui-surface", data=_message("deleteSurface", "g"))
    rows.part("a2ui-surface", data=_message("deleteSurface", "older"))

    parts = rows.settled().parts(Reader(surfaces=True))

    assert [part["data"]["messages"] for part in parts] == [
        [create, change],
        [_message("deleteSurface", "older")],
    ]


def test_a_deleted_surface_that_comes_back_is_deleted_first() -> None:
    messages = [_message(verb, "s") for verb in ("deleteSurface", "createSurface", "deleteSurface")]
    rows = Rows().part("a2ui-surface", data={"messages": messages})

    assert rows.settled().parts(Reader(surfaces=True))[0]["data"]["messages"] == [
        _message("deleteSurface", "s")
    ]


def test_data_that_is_no_surface_is_skipped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    rows = Rows().part("a2ui-surface", data={"messages": "no"}).part("response", "Hi").settled()

    assert types(rows.parts(Reader(surfaces=True))) == ["response"]
    assert "no surface messages" in caplog.text


def test_llm_context_only_for_those_who_consume_it() -> None:
    rows = Rows().part("llm-context", "Dense.").part("response", "Hi").settled()

    assert types(rows.parts()) == ["response"]
    assert types(rows.parts(PEER)) == ["llm-context", "response"]


def test_a_type_of_an_application_keeps_to_its_transports() -> None:
    kind = PartType("ta.board", frozenset({"actor"}), "flush", "once", data="required",
                    allowed_transports=frozenset({"sse", "a2a"}), requires_peer_consumes=True)  # fmt: skip
    rows = Rows().part("ta.board", data={"a": 1}).settled()
    asked = frozenset({"ta.board"})
    with part_types.including(kind):
        assert rows.parts() == []
        peer = Reader("peer", consumes=asked)
        assert types(rows.parts(peer, connection=Connection("a2a", "buffered"))) == ["ta.board"]
        assert types(rows.parts(peer, connection=Connection("live", "buffered"))) == ["ta.board"]
        assert rows.parts(peer, connection=Connection("email", "buffered")) == []


@pytest.mark.parametrize("state", ["clarifying", "error"])
def test_a_state_without_an_envelope_leaves_only_what_was_said(state: str) -> None:
    said = {"clarifying": "clarify", "error": "error"}[state]
    rows = Rows().result({"a": 1}).part("a2ui-surface", data=_message("createSurface", "s"))
    rows.part("llm-context", "Dense.").part(said, "Which one?", state=state).settled(state)

    assert types(rows.parts(Reader("peer", consumes=frozenset({"llm-context"}), surfaces=True))) == [said]


# -- the shared cases --------------------------------------------------------------------------------------------


def from_case(parts: list[list[Any]]) -> Rows:
    """Rows from ``[type, id, text or data]`` and ``[state, name]``."""
    rows = Rows()
    for name, *rest in parts:
        if name == "state":
            rows.settled(rest[0])
        elif isinstance(rest[1], str):
            rows.part(name, rest[1], partId=rest[0])
        else:
            rows.part(name, data=rest[1], partId=rest[0])
    return rows


@shared.needs_shared
@pytest.mark.parametrize(
    ("view", "reader"), [("peer without extension", PLAIN), ("peer consuming llm-context", PEER)]
)
def test_case_internal_parts_stay_internal(
    view: str, reader: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    case = shared.case("streaming/st-internal-parts-stay-internal.yaml")
    with caplog.at_level(logging.WARNING):
        envelope = from_case(case["input"]["parts"]).envelope(reader)

    expected = case["expected"]
    assert [part["text"] for part in envelope["parts"] if part["metadata"]["partType"] == "response"] == [
        expected["chat_text"]
    ]
    assert not [word for word in expected["absent_from"][view] if word in str(envelope)]
    assert not [word for word in expected["present_in"].get(view, []) if word not in str(envelope)]
    assert len(caplog.records) >= expected["warnings_logged_min"]


@shared.needs_shared
@pytest.mark.parametrize(
    "name", ["late_part", "settled_twice", "text_tool_text", "empty_complete", "only_a_progress_part"]
)
def test_case_nothing_after_settlement(name: str) -> None:
    case = shared.case("streaming/st-nothing-after-settlement-and-no-open-ends.yaml")
    envelope = from_case(case["input"]["variants"][name]["parts"]).envelope()

    text = "".join(part["text"] for part in envelope["parts"])
    first = next(itertools.chain(case["input"]["variants"][name]["parts"]))
    assert text == case["expected"]["variants"][name].get(
        "chat_text", first[2] if first[0] == "response" else ""
    )


# -- from the database -------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_envelope_of_a_stored_turn() -> None:
    session = factories.make_session()
    other = factories.make_turn(session)
    factories.add_part(other, "response", text="Another turn")
    factories.settle_turn(other)
    turn = factories.make_turn(session)
    factories.add_part(turn, "response", text="Hello ", partId="m")
    factories.add_part(turn, "reasoning-trace", data={"text": "x"}, audience="audit")
    factories.add_part(turn, "response", text="there", partId="m")
    factories.add_part(turn, "response", text="late", audience="audit")
    turn = factories.settle_turn(turn)

    envelope = envelope_for(turn)

    assert [part["text"] for part in envelope["parts"]] == ["Hello there"]
    assert envelope["meta"]["sessionId"] == session.public_id
    assert envelope["meta"]["turnId"] == turn.public_id


@pytest.mark.django_db
def test_an_open_stored_turn_has_no_envelope() -> None:
    with pytest.raises(Conflict):
        envelope_for(factories.make_turn(factories.make_session()))
