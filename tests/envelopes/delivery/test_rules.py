"""The one place that decides how a part travels: every type on every class of connection, for every kind of reader."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import envelopes
from envelopes.delivery.rules import (
    Reader,
    audience,
    begins_turn,
    delivery_for,
    is_question,
    is_said,
    may_stream,
    streams_text,
)
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.transports import Connection

PANEL = Connection("panel", "streaming")
PERSON = Reader("person", surfaces=True)
SSE, MAIL, A2A = (
    Connection("sse", "streaming"),
    Connection("email", "buffered"),
    Connection("a2a", "buffered"),
)


def made(streaming: Any = "flush", buffered: Any = "once", **more: Any) -> PartType:
    return PartType("acme.board", frozenset({"actor"}), streaming, buffered, **more)


def test_a_late_part_reaches_only_who_streams_and_only_what_may_come_late() -> None:
    streamed = [kind.name for kind in part_types if delivery_for(kind, PANEL, PERSON, late=True) != "drop"]
    buffered = [kind.name for kind in part_types if delivery_for(kind, MAIL, PERSON, late=True) != "drop"]

    assert streamed == ["a2ui-surface", "approval-response"]
    assert buffered == []


def test_whoever_cannot_see_surfaces_gets_none_unless_they_ask_for_them() -> None:
    kind = part_types["a2ui-surface"]

    assert delivery_for(kind, SSE, Reader("service")) == "drop"
    assert delivery_for(kind, SSE, Reader("service", consumes=frozenset({"a2ui-surface"}))) == "flush"


@pytest.mark.parametrize(
    ("name", "carried"), [("panel", True), ("live", True), ("sse", True), ("a2a", False)]
)
def test_what_may_travel_by_sse_may_travel_to_pages_too(name: str, carried: bool) -> None:
    kind = made(allowed_transports=frozenset({"sse"}))

    assert (delivery_for(kind, Connection(name, "streaming"), PERSON) == "flush") is carried


def test_what_is_bound_to_the_panel_does_not_travel_by_sse() -> None:
    assert delivery_for(made(allowed_transports=frozenset({"panel"})), SSE, PERSON) == "drop"


def test_s11_a_type_that_only_buffered_readers_get_may_leave_the_server() -> None:
    kind = made("drop", "once")

    assert audience(kind) == "delivered"
    assert delivery_for(kind, PANEL, PERSON) == "drop"
    assert delivery_for(kind, MAIL, PERSON) == "once"


@pytest.mark.parametrize(
    ("streaming", "buffered"),
    [("drop", "drop"), ("audit-only", "audit-only"), ("drop", "audit-only")],
)
def test_what_nobody_gets_stays_on_the_server(streaming: str, buffered: str) -> None:
    assert audience(made(streaming, buffered)) == "audit"
    assert audience(made(streaming, buffered, verbatim_to_peers=True)) == "delivered"


def test_s12_text_that_a_peer_has_to_ask_for_streams_to_nobody_else() -> None:
    kind = made(streams_text=True, requires_peer_consumes=True)
    asked = frozenset({"acme.board"})

    assert may_stream(kind)
    assert not streams_text(kind, PANEL, PERSON)
    # A page cannot ask for it by name either.
    assert not streams_text(kind, PANEL, Reader("person", consumes=asked))
    assert not streams_text(kind, SSE, Reader("peer"))
    assert streams_text(kind, SSE, Reader("peer", consumes=asked))
    assert not streams_text(kind, A2A, Reader("peer", consumes=asked))


cells = st.sampled_from(["flush", "once", "accumulate", "drop", "audit-only", "inbound-only"])
kinds = st.builds(
    made,
    cells,
    cells,
    streams_text=st.booleans(),
    requires_peer_consumes=st.booleans(),
    requires_surfaces=st.booleans(),
    verbatim_to_peers=st.booleans(),
    allowed_late=st.booleans(),
    allowed_transports=st.none() | st.frozensets(st.sampled_from(["panel", "sse", "a2a", "live"])),
)
connections = st.builds(
    Connection,
    st.sampled_from(["", "panel", "sse", "live", "a2a", "email"]),
    st.sampled_from(["streaming", "buffered"]),
)
readers = st.builds(
    Reader,
    st.sampled_from(["person", "guest", "peer", "service"]),
    st.sampled_from([frozenset(), frozenset({"acme.board"})]),
    st.booleans(),
)


@given(kinds, connections, readers, st.booleans())
def test_one_answer_for_parts_and_for_text(
    kind: PartType, connection: Connection, reader: Reader, late: bool
) -> None:
    answer = delivery_for(kind, connection, reader, late=late)

    # Nothing leaves the server of which the row says that it does not.
    assert answer == "drop" or audience(kind) == "delivered"
    # What is late reaches nobody who would not have got it in time.
    assert not late or answer in ("drop", delivery_for(kind, connection, reader))
    # Text streams only to whoever gets the part at once, and only where the stream is made at all.
    if streams_text(kind, connection, reader):
        assert delivery_for(kind, connection, reader) == "flush"
        assert may_stream(kind)


def test_only_the_rules_read_the_delivery_table() -> None:
    """Of the packages, by name of the columns: a second reader would be a second rule."""
    columns = {
        "streaming",
        "buffered",
        "streams_text",
        "allowed_transports",
        "requires_peer_consumes",
        "requires_surfaces",
        "verbatim_to_peers",
        "allowed_late",
        "asks_person",
    }
    root = Path(envelopes.__file__).parent
    found = {
        f"{file.relative_to(root)}: {node.attr}"
        for file in root.rglob("*.py")
        if file != root / "delivery" / "rules.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in columns and ast.unparse(node.value) != "rules"
    }

    assert found == set()


def test_what_is_left_of_a_turn_without_an_envelope_is_what_was_said() -> None:
    assert [kind.name for kind in part_types if is_said(kind)] == [
        "ack",
        "thinking",
        "response",
        "clarify",
        "error",
        "approval-request",
    ]


def test_what_is_gathered_late_begins_a_turn_and_a_surface_only_where_it_is_new() -> None:
    assert [kind.name for kind in part_types if begins_turn(kind, new=False)] == [
        "domain-data",
        "llm-context",
        "artifact",
        "citation",
        "setState",
        "staff-message",
    ]
    assert {
        kind.name for kind in part_types if begins_turn(kind, new=True) > begins_turn(kind, new=False)
    } == {"a2ui-surface"}


def test_s10_only_a_question_is_told_when_it_comes() -> None:
    assert [kind.name for kind in part_types if is_question(kind)] == ["approval-request"]
