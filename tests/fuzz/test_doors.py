"""What comes in through the doors: frames of a browser, respond() calls of a model."""

# ruff: noqa: PT017 - either answer is right, so there is nothing to expect with raises
from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.errors import BeachError
from envelopes.protocol.respond import check_respond
from envelopes.protocol.strict_json import parse_strict
from envelopes.protocol.surfaces import messages_of
from envelopes.runtime.respond_stream import RespondStream, SurfaceGrown
from envelopes.transports.panel.frames import parse_frame
from tests.a2ui.strategies import FUZZ
from tests.fuzz.cost import BOUND_MS, cost
from tests.fuzz.material import JSON, TEXTS, damaged

FEW = settings(
    max_examples=25 * FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
FRAMES = [
    {"type": "hello", "after": 3},
    {"type": "message", "id": "m1", "text": "Hello"},
    {"type": "edit", "id": "m2", "target": "a1-0", "value": ["x"]},
    {"type": "action", "id": "m3", "target": "a1-0"},
    {"type": "show", "id": "m4", "target": "a1-0"},
    {"type": "decide", "id": "m5", "approval": "ap", "decision": "granted", "reason": "r"},
    {"type": "stop", "id": "m6"},
    {"type": "ping"},
]
CALL = {
    "turnState": "complete",
    "parts": [
        {"metadata": {"partType": "response", "partId": "p"}, "text": "Hello"},
        {"metadata": {"partType": "domain-data", "dataKind": "k"}, "data": {"a": [1, 2]}},
        {
            "metadata": {"partType": "a2ui-surface"},
            "data": {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "basic"}},
        },
        {"metadata": {"partType": "citation"}, "data": {"path": "p", "title": "t", "url": "https://a.b"}},
        {
            "metadata": {"partType": "progress"},
            "data": {"id": "p", "current": 1, "total": 2, "status": "running"},
        },
    ],
}


def typed(run):
    """Runs it within the bound; only errors of the family may come."""

    def guarded():
        try:
            run()
        except BeachError as error:
            assert error.code
            json.dumps(error.as_dict())

    assert cost(guarded) <= BOUND_MS


@FEW
@given(st.sampled_from(FRAMES).flatmap(damaged) | JSON)
def test_frames(frame):
    typed(lambda: parse_frame(json.dumps(frame), None))


@FEW
@given(TEXTS | st.text())
def test_frames_that_are_no_json(text):
    typed(lambda: parse_frame(text, None))
    typed(lambda: parse_strict(text))


@FEW
@given(damaged(CALL) | JSON)
def test_respond_calls(call):
    typed(lambda: check_respond(call))


@FEW
@given(damaged(CALL["parts"][2]["data"]) | JSON)
def test_surface_parts(data):
    typed(lambda: messages_of(data))


@FEW
@given(damaged(CALL), st.lists(st.integers(1, 12), max_size=60), st.integers(0, 400))
def test_streamed_calls_in_pieces(call, sizes, cut):
    text = json.dumps(call, ensure_ascii=False)[: cut or None]
    stream = RespondStream()
    told = {}
    at = 0
    for size in [*sizes, len(text)]:
        for grown in stream.feed(text[at : at + size]):
            if isinstance(grown, SurfaceGrown):
                continue
            assert grown.offset == len(told.get(grown.part, ""))
            told[grown.part] = told.get(grown.part, "") + grown.text
        at += size
    typed(lambda: stream.close(text))
