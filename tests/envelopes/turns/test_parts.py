"""Parts becoming rows: one place, the same checks for everybody, and the marks that a row gets there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import envelopes
from envelopes.errors import RespondRefused, ValidationFailed
from envelopes.log.append import writing
from envelopes.models import Event, Turn
from envelopes.protocol.parts import Metadata, Part
from envelopes.registries.part_types import PartType, part_types
from envelopes.turns import steps
from envelopes.turns.deciding import Prepared, ReplyEnd
from envelopes.turns.leases import Claim
from envelopes.turns.parts import append_parts
from envelopes.turns.reply import Respond
from envelopes.types import JsonObject
from tests import factories

PACKAGE = Path(envelopes.__file__).parent


def _makes_a_part_row(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in ("add", "NewRow")
        and any(isinstance(argument, ast.Constant) and argument.value == "part" for argument in node.args)
    )


def test_parts_become_rows_in_one_place_only() -> None:
    """And where a job's parts are stored without ``writing``, as the same rows (``part_row``)."""
    places = [
        str(file.relative_to(PACKAGE))
        for file in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if _makes_a_part_row(node)
    ]

    assert places == ["turns/parts.py", "turns/short_way.py"]


def _response(words: str) -> JsonObject:
    return {"text": words, "metadata": {"partType": "response"}}


def _append(turn: Turn, *parts: JsonObject | Part, origin: str = "actor", **more: object) -> list[Event]:
    """The rows that these parts became."""
    before = turn.session.events.count()
    with writing(turn.session_id) as writer:
        turn = Turn.objects.select_related("session").get(pk=turn.pk)
        append_parts(writer, turn, parts, origin, **more)  # type: ignore[arg-type]
    return list(turn.session.events.all())[before:]


@pytest.fixture
def turn(db: None) -> Turn:
    return factories.make_turn(factories.make_session())


def test_one_bad_part_keeps_all_of_them_out(turn: Turn) -> None:
    with pytest.raises(ValidationFailed) as caught:
        _append(turn, _response("first"), {"metadata": {"partType": "response"}})

    assert caught.value.facts["path"] == "/1/text"
    assert not turn.session.events.filter(kind="part").exists()


def test_a_part_comes_from_those_who_may_send_it(turn: Turn) -> None:
    data = {"approvalId": "a", "decision": "granted", "decidedAt": "2026-01-01T00:00:00Z"}
    decision = {"data": data, "metadata": {"partType": "approval-response"}}

    with pytest.raises(ValidationFailed):
        _append(turn, decision)
    with pytest.raises(ValidationFailed):
        _append(turn, _response("from outside"), origin="inbound")


def test_reserved_surfaces_are_refused_whoever_shows_them(turn: Turn) -> None:
    message = {"version": "v0.9", "deleteSurface": {"surfaceId": "beach:mine"}}

    with pytest.raises(RespondRefused):
        _append(turn, {"data": message, "metadata": {"partType": "a2ui-surface"}})


def test_a_part_carries_the_state_that_was_declared_or_that_the_turn_is_in(turn: Turn) -> None:
    Turn.objects.filter(pk=turn.pk).update(turn_state="")
    assert [row.data["turnState"] for row in _append(turn, _response("a"))] == ["awaiting"]
    assert [row.data["turnState"] for row in _append(turn, _response("a"), state="complete")] == ["complete"]
    Turn.objects.filter(pk=turn.pk).update(turn_state="clarifying")
    assert [row.data["turnState"] for row in _append(turn, _response("a"))] == ["clarifying"]


def test_what_comes_after_settlement_is_marked_and_no_matter_of_audience(turn: Turn) -> None:
    assert "late" not in _append(turn, _response("in time"))[0].data
    factories.settle_turn(turn)

    (row,) = _append(turn, _response("too late"))

    assert (row.data["late"], row.audience) == (True, "delivered")


def test_a_part_stays_on_the_server_only_if_no_reader_may_ever_get_it(turn: Turn) -> None:
    anyone = frozenset({"actor"})
    cells = [
        ("audit-only", "audit-only", "audit"),
        ("audit-only", "drop", "audit"),
        ("drop", "once", "delivered"),
        ("flush", "audit-only", "delivered"),
        ("drop", "drop", "audit"),
    ]
    for number, (streaming, buffered, audience) in enumerate(cells):
        kind = PartType(f"test.cell{number}", anyone, streaming, buffered)  # type: ignore[arg-type]
        with part_types.including(kind):
            (row,) = _append(turn, {"text": "x", "metadata": {"partType": kind.name}})
        assert row.audience == audience, (streaming, buffered)


def test_a_bubble_is_named_by_the_part_that_replaces_it(turn: Turn) -> None:
    rows = _append(turn, _response("a"), _response("b"), live={1: "L1-1"})

    assert [row.data.get("live") for row in rows] == [None, "L1-1"]


def test_a_part_that_was_cut_needs_not_be_whole(turn: Turn) -> None:
    kind = PartType("test.both", frozenset({"actor"}), "flush", "once", data="required", streams_text=True)
    cut = Part(text="Half a", metadata=Metadata(partType=kind.name))

    with part_types.including(kind):
        (row,) = _append(turn, cut)

    assert row.data["part"]["text"] == "Half a"


def test_what_was_prepared_for_the_end_stands_before_it(turn: Turn) -> None:
    context = Part(text="Between us.", metadata=Metadata(partType="llm-context"))
    claim = Claim(turn.pk, turn.session_id, turn.attempt)
    said = Respond("toolu_1", {"parts": [_response("Hello.")], "turnState": "complete"})

    following = steps.end_reply(claim, turn, ReplyEnd("end_turn"), said, prepared=Prepared([context]))

    assert following == "stop"
    last = [(row.kind, row.part_type, row.data.get("turnState")) for row in turn.session.events.all()][-2:]
    assert last == [("part", "llm-context", "complete"), ("settled", "", "complete")]


def test_every_call_that_ends_is_recorded_whoever_ends_it(turn: Turn) -> None:
    with factories.acting(factories.make_tool()):
        factories.make_call(turn, state="requested")
        factories.make_call(turn, state="running")
        factories.settle_turn(turn, "error", finalized_by="cancelled")

    rows = factories.log_of(turn.session, "tool-result")
    assert [(row.data["state"], row.data["error"]["code"]) for row in rows] == [
        ("failed", "not_run"),
        ("unknown", "outcome_unknown"),
    ]
    assert [call.state for call in turn.tool_calls.all()] == ["failed", "unknown"]
