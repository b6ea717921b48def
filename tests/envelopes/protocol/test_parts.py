"""One part against the registry: types, origins, presence, payloads, cleaning."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from envelopes.errors import RegistrationError, ValidationFailed
from envelopes.part_types.progress import Progress
from envelopes.protocol.parts import check_part
from envelopes.protocol.text import clean_json, clean_text
from envelopes.registries.part_types import Origin, PartType, PartTypeRegistry, part_types
from envelopes.transports.panel.reader import gets
from tests.shared import case, needs_shared

VALID: dict[str, dict[str, Any]] = {
    "ack": {"text": "On it."},
    "thinking": {"text": "Hm."},
    "response": {"text": "Done."},
    "clarify": {"text": "Which?", "data": {"choices": ["A", "B"]}},
    "error": {"text": "No.", "data": {"code": "x", "retry": True}},
    "domain-data": {"data": {"flights": []}},
    "llm-context": {"text": "Between us."},
    "a2ui-surface": {"data": {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}}},
    "artifact": {"data": {"artifactId": "a", "mimeType": "text/plain", "sizeBytes": 0}},
    "reasoning-trace": {"data": {"text": "Secret.", "model": "m"}},
    "citation": {"data": {"path": "/flights/0", "title": "Timetable"}},
    "progress": {"data": {"id": "p", "current": 1, "total": 3}},
    "staff-message": {"text": "Until noon.", "data": {"name": "Grace Hopper"}},
    "setState": {"data": {"cart.status": "paid"}},
    "approval-request": {
        "data": {"approvalId": "a", "toolName": "pay", "toolCallId": "c", "args": {}, "handler": "h"}
        | {"turn": "t", "session": "s"}
    },
    "approval-response": {
        "data": {"approvalId": "a", "decision": "granted", "decidedAt": "2026-01-01T00:00:00Z"}
    },
}


def part(part_type: Any, **content: Any) -> dict[str, Any]:
    return {"metadata": {"partType": part_type}, **content}


def refusal(value: Any, *, origin: Origin = "actor") -> ValidationFailed:
    with pytest.raises(ValidationFailed) as caught:
        check_part(value, origin=origin, path="/parts/0")
    json.dumps(caught.value.as_dict()).encode()
    return caught.value


def test_every_registered_type_has_a_valid_example() -> None:
    assert VALID.keys() == {kind.name for kind in part_types if kind.canonical}


@pytest.mark.parametrize("name", VALID)
def test_valid_parts(name: str) -> None:
    value = part(name, **VALID[name])
    origin = min(part_types[name].origins)

    checked, kind = check_part(value, origin=origin)

    assert kind is part_types[name]
    assert checked.as_json() == value


@pytest.mark.parametrize("origin", ["actor", "runtime", "inbound"])
@pytest.mark.parametrize("name", VALID)
def test_origins(name: str, origin: Origin) -> None:
    anyone = {"actor", "runtime", "inbound"}
    ours = {
        "approval-request": {"runtime"},
        "approval-response": {"inbound"},
        "staff-message": {"runtime"},
    }
    allowed = ({"domain-data": anyone, "artifact": anyone, "setState": anyone} | ours).get(
        name, {"actor", "runtime"}
    )
    value = part(name, **VALID[name])

    if origin in allowed:
        check_part(value, origin=origin)
        return
    error = refusal(value, origin=origin)
    assert error.facts["path"] == "/parts/0/metadata/partType"
    assert name not in error.facts["allowed"]


@pytest.mark.parametrize("name", ["no-such-part", "__proto__", "Ack", "ack ", "", "re\x00sponse"])
def test_unknown_types_name_the_known_ones(name: str) -> None:
    error = refusal(part(name, text="UNKNOWN"))

    assert error.facts["path"] == "/parts/0/metadata/partType"
    assert "response" in error.facts["allowed"]
    assert "approval-request" not in error.facts["allowed"]


@pytest.mark.parametrize("part_type", [None, 7, ["ack"], {}])
def test_a_type_is_text(part_type: Any) -> None:
    assert refusal(part(part_type, text="NOTYPE")).facts["path"] == "/parts/0/metadata/partType"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("text", "/parts/0"),
        (None, "/parts/0"),
        ({}, "/parts/0/metadata"),
        ({"metadata": {}}, "/parts/0/metadata/partType"),
        ({"metadata": "ack", "text": "x"}, "/parts/0/metadata"),
        (part("ack"), "/parts/0/text"),
        (part("ack", text=7), "/parts/0/text"),
        (part("ack", text="x", data={}), "/parts/0/data"),
        (part("domain-data"), "/parts/0/data"),
        (part("domain-data", data=[]), "/parts/0/data"),
        (part("ack", text="x", extra=1), "/parts/0/extra"),
        (part("ack", text="x", **{"a/b\x00": 1}), "/parts/0/a~1b\ufffd"),
        ({"partType": "ack", "text": "x", "partId": "p"}, "/parts/0/partId"),
        ({"partType": "ack", "metadata": {"partType": "ack"}, "text": "x"}, "/parts/0/partType"),
        ({"metadata": {"partType": "ack", "partId": 7}, "text": "x"}, "/parts/0/metadata/partId"),
        (part("domain-data", data={"x": math.nan}), "/parts/0"),
        (part("artifact", data={"artifactId": "a"}), "/parts/0/data/mimeType"),
        (
            part("artifact", data={"artifactId": "a", "mimeType": "x", "sizeBytes": -1}),
            "/parts/0/data/sizeBytes",
        ),
        (part("progress", data={}), "/parts/0/data/id"),
        (part("progress", data={"id": "p", "status": "40%"}), "/parts/0/data/status"),
        (part("setState", data={"a.b": 1}), "/parts/0/data/a.b"),
        (part("clarify", text="?", data={"choices": ["x"] * 13}), "/parts/0/data/choices"),
    ],
)
def test_refusals_point_at_the_place(value: Any, path: str) -> None:
    error = refusal(value)

    assert error.facts["path"] == path
    assert error.message.endswith(".")


def test_too_deep() -> None:
    value: Any = 1
    for _ in range(70):
        value = [value]

    assert refusal(part("domain-data", data={"x": value})).facts["path"] == "/parts/0"


def test_the_flat_shape_is_normalised() -> None:
    checked, _ = check_part({"partType": "response", "text": "Hi"}, origin="actor")

    assert checked.as_json() == part("response", text="Hi")


def test_metadata_of_our_own_is_kept() -> None:
    value = {
        "metadata": {"partType": "domain-data", "dataKind": "flights", "slotKey": "out", "mine": [1]},
        "data": {},
    }

    assert check_part(value, origin="actor")[0].as_json() == value


def test_the_input_is_not_changed() -> None:
    value = {"partType": "response", "text": "nul \x00"}

    check_part(value, origin="actor")

    assert value == {"partType": "response", "text": "nul \x00"}


@needs_shared
def test_st_unencodable_and_control_characters() -> None:
    loaded = case("streaming/st-unencodable-and-control-characters.yaml")
    stored = []
    for line in loaded["input"]["lines"]:
        checked, _ = check_part(json.loads(line), origin="actor")
        stored.append(json.dumps(checked.as_json(), ensure_ascii=False).encode().decode())

    reloaded = [json.loads(line) for line in stored]
    texts = " ".join(value.get("text", "") for value in reloaded)
    assert len(reloaded) == 7
    for expected in loaded["expected"]["text_contains"]:
        assert expected in texts
    for unwanted in loaded["expected"]["text_lacks"]:
        assert unwanted not in texts
    assert reloaded[3]["data"] == {"ke\ufffdy": "v\ufffd", "\ufffd": 1}


@needs_shared
def test_st_internal_parts_that_an_actor_may_not_emit_are_refused_alone() -> None:
    outcomes: dict[str | None, object] = {}
    for name, _, content in (
        p for p in case("streaming/st-internal-parts-stay-internal.yaml")["input"]["parts"] if len(p) == 3
    ):
        field = "text" if isinstance(content, str) else "data"
        try:
            kind = check_part(part(name, **{field: content}), origin="actor")[1]
            outcomes[name] = gets(kind)
        except ValidationFailed:
            outcomes[name] = "refused"

    assert outcomes == {
        "response": True,
        "llm-context": False,
        "reasoning-trace": False,
        "setState": False,
        "domain-data": True,
        "ta.custom-part": "refused",
        "no-such-part": "refused",
        "__proto__": "refused",
        None: "refused",
    }


# -- progress ------------------------------------------------------------------------------------------------------


@needs_shared
def test_st_progress_values_are_all_accepted() -> None:
    for name, progress_id, content in (
        p for p in case("streaming/st-progress-values.yaml")["input"]["parts"] if len(p) == 3
    ):
        checked, _ = check_part(part(name, data={"id": progress_id, **content}), origin="actor")
        assert checked.data is not None
        assert Progress.model_validate(checked.data).id == progress_id


@pytest.mark.parametrize("odd", ["40%", "3", None, True, [], {}, math.nan, math.inf, 10**400])
def test_what_is_no_number_counts_as_not_given(odd: Any) -> None:
    read = Progress.model_validate({"id": "p", "current": odd, "total": odd})

    assert (read.current, read.total, read.status) == (None, None, "running")


def test_numbers_are_kept() -> None:
    read = Progress.model_validate({"id": "p", "current": -5, "total": 0, "percent": "40%"})

    assert (read.current, read.total) == (-5, 0)


# -- cleaning ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("tab\tline\nreturn\r", "tab\tline\nreturn\r"),
        ("\x00\x1b[31m\x7f\x85", "\ufffd\ufffd[31m\ufffd\ufffd"),
        ("\ud83d \udc00", "\ufffd \ufffd"),
        ("\ufdd0\ufffe\uffff", "\ufffd\ufffd\ufffd"),
        ("\U0001f600 \\u0000", "\U0001f600 \\u0000"),
    ],
)
def test_clean_text(text: str, clean: str) -> None:
    assert clean_text(text) == clean


def test_clean_json_copies() -> None:
    value = {"a": [1, (2, "\x00")], "b": {"c": None}}

    assert clean_json(value) == {"a": [1, [2, "\ufffd"]], "b": {"c": None}}
    assert clean_json({"k\x00": 1, "k\x01": 2, "k\ufffd": 3}) == {
        "k\ufffd": 1,
        "k\ufffd\ufffd": 2,
        "k\ufffd\ufffd\ufffd": 3,
    }
    with pytest.raises(ValidationFailed, match="set is not a JSON type"):
        clean_json({"a": {1}})


def test_an_integer_that_no_text_can_hold_is_refused_before_it_is_stored() -> None:
    assert clean_json(-(10**4299)) == -(10**4299)
    for number in (10**4300, -(10**5000)):
        with pytest.raises(ValidationFailed, match="beyond all bounds"):
            clean_json({"a": [number]})


def test_a_file_has_a_size_that_a_file_can_have() -> None:
    data = {"artifactId": "a", "mimeType": "text/plain", "sizeBytes": 10**400}
    with pytest.raises(ValidationFailed, match="less than or equal"):
        check_part({"metadata": {"partType": "artifact"}, "data": data}, origin="actor")


# -- registration --------------------------------------------------------------------------------------------------


@pytest.fixture
def registry() -> PartTypeRegistry:
    return PartTypeRegistry("part type")


def kind(name: str) -> PartType:
    return PartType(name, frozenset({"actor"}), "flush", "once")


def test_a_name_is_registered_once(registry: PartTypeRegistry) -> None:
    registry.register(kind("acme.board"))

    with pytest.raises(RegistrationError, match="registered already"):
        registry.register(kind("acme.board"))


def test_names_need_a_prefix_unless_allowed(registry: PartTypeRegistry, settings: Any) -> None:
    settings.BEACH_ALLOW_UNPREFIXED = False
    with pytest.raises(RegistrationError, match=r"acme\.board"):
        registry.register(kind("board"))

    settings.BEACH_ALLOW_UNPREFIXED = True
    registry.register(kind("board"))
    assert registry.names() == ("board",)


@pytest.mark.parametrize("name", ["", "Board", "acme..board", "acme.", "acme/board", "__proto__"])
def test_names_that_are_none(registry: PartTypeRegistry, name: str) -> None:
    with pytest.raises(RegistrationError, match="is not a name"):
        registry.register(kind(name))
