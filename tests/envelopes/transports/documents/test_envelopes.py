"""The other envelopes: what is read, by which names, and what is said of what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.transports.documents.shapes.a2ui import A2UI_BYTES, A2uiEnvelope
from envelopes.transports.documents.shapes.common import without_nothing
from envelopes.transports.documents.shapes.message import MESSAGE_BYTES, MessageEnvelope
from envelopes.transports.documents.shapes.reading import checked, read_envelope
from tests.envelopes.transports.documents.tables import BLOCK

ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
A2UI: dict[str, Any] = {
    "v": 1,
    "id": ID,
    "surface": "chat",
    "patch": {"v": 1, "ops": [{"op": "add", "path": "/components/-", "value": None}]},
}
MESSAGE: dict[str, Any] = {
    "v": 1,
    "id": ID,
    "timestamp": "2026-11-29T03:38:48.5Z",
    "payload": {
        "origin": {"type": "channel", "sender": {"handle": "ada"}},
        "content": {"text": "Hello", "attachments": [{"kind": "file", "artifact_id": ID, "size_bytes": 3}]},
        "security": {"trust": "untrusted"},
    },
    "limits": {"max_payload_bytes": 4_096},
}


def op(**operation: Any) -> dict[str, Any]:
    return {**A2UI, "patch": {"v": 1, "ops": [operation]}}


def block(**changed: Any) -> dict[str, Any]:
    return {**A2UI, "experimental": {**BLOCK, **changed}}


@pytest.mark.parametrize(
    "value",
    [
        A2UI,
        op(op="remove", path="/a"),
        op(op="replace", path="", value={"v": 1}),
        {**A2UI, "limits": {"max_payload_bytes": 262_144}},
        block(),
        block(ambient_mode="push_to_talk", consent_required=True),
        block(rollout_stage="limited_preview", ambient_mode="disabled"),
    ],
)
def test_a_patch_of_a_surface_is_read_and_written_as_it_was(value: Any) -> None:
    assert without_nothing(read_envelope(A2uiEnvelope, json.dumps(value).encode(), A2UI_BYTES)) == value


@pytest.mark.parametrize(
    ("value", "reason", "path"),
    [
        ([], "NotAnObject", ""),
        ({**A2UI, "v": True}, "InvalidType", "v"),
        ({**A2UI, "v": 2}, "UnsupportedVersion", "v"),
        ({**A2UI, "id": ID.lower()}, "InvalidValue", "id"),
        ({key: A2UI[key] for key in ("v", "id", "patch")}, "MissingField", "surface"),
        ({**A2UI, "patch": {"v": True, "ops": A2UI["patch"]["ops"]}}, "InvalidType", "patch.v"),
        ({**A2UI, "surface": ""}, "EmptyField", "surface"),
        ({**A2UI, "surface": "s" * 129}, "InvalidValue", "surface"),
        ({**A2UI, "surface": 3}, "InvalidType", "surface"),
        ({**A2UI, "more": 1}, "InvalidValue", "additional_properties"),
        ({**A2UI, "patch": {"v": 1, "ops": []}}, "EmptyField", "patch.ops"),
        (
            {**A2UI, "patch": {"v": 1, "ops": [{"op": "remove", "path": "/a"}] * 513}},
            "InvalidValue",
            "patch.ops",
        ),
        (op(op="move", path="/a"), "InvalidValue", "patch.ops.0"),
        (op(op="add", path="/a"), "MissingField", "patch.ops.0.value"),
        (op(op="remove", path="/a", value=None), "InvalidValue", "patch.ops.0.additional_properties"),
        (op(op="remove", path="/" + "a" * 512), "InvalidValue", "patch.ops.0.path"),
        (block(track_id=""), "EmptyField", "experimental.track_id"),
        (block(security_review=[]), "EmptyField", "experimental.security_review"),
        (block(exit_criteria=["x" * 161]), "InvalidValue", "experimental.exit_criteria.0"),
        (block(rollout_stage="soon"), "InvalidValue", "experimental.rollout_stage"),
        (block(ambient_mode="push_to_talk"), "InvalidValue", "experimental"),
        ({**A2UI, "limits": {"max_payload_bytes": 262_145}}, "InvalidValue", "limits.max_payload_bytes"),
        ({**A2UI, "limits": {"max_payload_bytes": 10}}, "InvalidValue", "limits.max_payload_bytes"),
    ],
)
def test_what_is_wrong_with_a_patch_of_a_surface(value: Any, reason: str, path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_envelope(A2uiEnvelope, json.dumps(value).encode(), A2UI_BYTES)
    assert (refused.value.reason, refused.value.path) == (reason, path)


def test_an_envelope_that_is_too_large_is_not_read() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_envelope(A2uiEnvelope, b" " * (A2UI_BYTES + 1), A2UI_BYTES)
    assert refused.value.reason == "PayloadTooLarge"


def payload(**changed: Any) -> dict[str, Any]:
    return {**MESSAGE, "payload": {**MESSAGE["payload"], **changed}}


def test_a_message_is_read_by_the_names_of_the_seed_and_of_the_repository() -> None:
    theirs = {**MESSAGE, **MESSAGE["payload"], "ts": MESSAGE["timestamp"]}
    del theirs["payload"], theirs["timestamp"]

    read = read_envelope(MessageEnvelope, json.dumps(MESSAGE).encode(), MESSAGE_BYTES)
    assert without_nothing(read) == MESSAGE
    assert checked(MessageEnvelope, theirs) == read


@pytest.mark.parametrize(
    ("value", "reason", "path"),
    [
        ({**MESSAGE, "timestamp": "yesterday"}, "InvalidValue", "timestamp"),
        ({**MESSAGE, "timestamp": "2026-13-29T03:38:48Z"}, "InvalidValue", "timestamp"),
        ({**MESSAGE, "timestamp": 3}, "InvalidType", "timestamp"),
        ({**MESSAGE, "ts": MESSAGE["timestamp"]}, "InvalidValue", "additional_properties"),
        ({**MESSAGE, "content": {"text": "x"}}, "InvalidValue", "additional_properties"),
        ({key: value for key, value in MESSAGE.items() if key != "limits"}, "MissingField", "limits"),
        (payload(origin={"type": "phone"}), "InvalidValue", "payload.origin.type"),
        (payload(content={}), "MissingField", "payload.content.text"),
        (payload(content={"text": "x" * 32_769}), "InvalidValue", "payload.content.text"),
        (payload(content={"text": "", "attachments": [MESSAGE["payload"]["content"]["attachments"][0]] * 33}),
         "InvalidValue", "payload.content.attachments"),
        (payload(security={"trust": "much"}), "InvalidValue", "payload.security.trust"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_message(value: Any, reason: str, path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_envelope(MessageEnvelope, json.dumps(value).encode(), 10 * MESSAGE_BYTES)
    assert (refused.value.reason, refused.value.path) == (reason, path)
