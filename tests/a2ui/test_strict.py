"""Strict mode refuses what the official schemas refuse, and beside that only what is reported in any mode."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui import ActionError, Engine, EngineOptions, joined_data_models
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.strict import shapes_of
from a2ui.schema.dynamic import CALL_DEPTH
from tests.a2ui.programs import call, components, create, message, path, row, run, surface
from tests.a2ui.strategies import FUZZ
from tests.conformance.making import ROWS, broken
from tests.conformance.schemas import SPECIFICATION, valid, validator
from tests.shared import SHARED, needs_shared


def outcome(sent: dict[str, Any], *, strict: bool) -> tuple[bool, list[Any]]:
    """(refused, problems) of a message for a fresh surface."""
    surfaces = Engine(EngineOptions(strict=strict)).surfaces()
    if "createSurface" not in sent:
        surfaces.apply(create())
    problems = surfaces.apply(sent)
    return any(problem.refused for problem in problems), problems


def calls_within(value: Any) -> int:
    """How many levels of calls are inside of each other."""
    if isinstance(value, dict):
        return max(map(calls_within, value.values()), default=0) + isinstance(value.get("call"), str)
    return max(map(calls_within, value), default=0) if isinstance(value, list) else 0


@needs_shared
@pytest.mark.shared
class TestAgainstTheSchemas:
    @settings(max_examples=10 * FUZZ)
    @given(broken(ROWS))
    def test_components(self, rows):
        sent = {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}}
        refused, problems = outcome(sent, strict=True)
        _, lenient = outcome(sent, strict=False)

        if any("functionCall depth" in problem.message for problem in problems):
            # The one rule that no schema can say.
            assert refused
            assert calls_within(rows) > CALL_DEPTH
        else:
            assert refused == (not valid(sent) or bool(lenient)), problems

    @settings(max_examples=10 * FUZZ)
    @given(
        broken(
            st.fixed_dictionaries(
                {"surfaceId": st.just("s"), "catalogId": st.just("basic")},
                optional={
                    "sendDataModel": st.booleans(),
                    "theme": st.fixed_dictionaries(
                        {},
                        optional={
                            "primaryColor": st.sampled_from(["#00BFFF", "red", "#fff"]),
                            "iconUrl": st.sampled_from(["https://x.example/i.png", "i.png", "http:// x"]),
                            "agentDisplayName": st.just("A"),
                        },
                    ),
                },
            )
        )
    )
    def test_creation(self, body):
        sent = {"version": "v0.9", "createSurface": body}
        refused, problems = outcome(sent, strict=True)
        _, lenient = outcome(sent, strict=False)

        assert refused == (not valid(sent) or bool(lenient)), problems

    @pytest.mark.parametrize(
        "value",
        ["2026-09-04", "10:30:00+02:00", "10:30:00Z", "10:30", "2026-02-30", "2026-09-04T10:30:00Z", "2026-09-04 10:30",
         "2026-09-04T10:30:00", "2026-W01-1", "20260904", "x", "", "24:00:00Z", "2026-09-04t10:30:00z",],
    )  # fmt: skip
    def test_moments(self, value):
        sent = components(row("d", "DateTimeInput", value="", min=value))

        assert outcome(sent, strict=True)[0] == (not valid(sent))

    @pytest.mark.parametrize(
        "value",
        ["https://example.org/a?b=c#d", "mailto:a@example.org", "/a", "", "x", "https://ex ample.org", "https://example.org/%zz",
         "https://example.org/ü", "urn:a:b", "1x:y", "javascript:alert(1)"],
    )  # fmt: skip
    # No text ends in a line break here: the validators of Python overlook one (`$`), ours do not.
    def test_uris(self, value):
        action = {"functionCall": call("openUrl", url=value)}
        sent = components(row("b", "Button", child="t", action=action))

        assert outcome(sent, strict=True)[0] == (not valid(sent))

    def test_properties_and_what_is_required_are_those_of_the_schema(self):
        assert SHARED is not None
        catalog = json.loads((SHARED / SPECIFICATION / "v0_9/catalogs/basic/catalog.json").read_text())
        for name, schema in catalog["components"].items():
            own = next(part for part in schema["allOf"] if "properties" in part)
            kind = BASIC_CATALOG.components[name]
            checkable = (
                {"checks"} if any("Checkable" in str(part.get("$ref")) for part in schema["allOf"]) else set()
            )
            assert shapes_of(kind).keys() == own["properties"].keys() - {"component"} | checkable | {
                "accessibility",
                "weight",
            }
            assert kind.required == set(own["required"]) - {"component"}
        assert {f.name for f in BASIC_CATALOG.functions} == catalog["functions"].keys()


@needs_shared
@pytest.mark.shared
class TestWhatWeSend:
    """Our own messages are valid."""

    def test_actions(self):
        button = row(
            "root", "Button", child="t", action={"event": {"name": "go", "context": {"x": path("/none")}}}
        )
        surfaces, _ = surface(button, row("t", "Text", text="Go"))

        sent = surfaces.act("a1-0").message

        assert not list(validator("client_to_server.json").iter_errors(sent))

    def test_errors(self):
        surfaces = Engine().surfaces()
        for sent in (create(catalogId="x"), create(sendDataModel=1), message("updateDataModel", value=1), 5):
            for problem in surfaces.apply(sent):
                assert valid(problem.as_message(), "client_to_server.json")

    @pytest.mark.parametrize(("version", "key"), [("v0_9", "v0.9"), ("v0_9_1", "v0.9.1")])
    def test_capabilities(self, version, key):
        offered = Engine().capabilities()

        assert valid({key: offered[key]}, "client_capabilities.json", version=version)

    def test_data_models(self):
        surfaces = run(create(sendDataModel=True), message("updateDataModel", value={"a": 1}))

        assert valid(joined_data_models(surfaces.data_models("")), "client_data_model.json")


class TestStrictMode:
    def test_it_says_where(self):
        surfaces = run(create(), strict=True)
        rows = components(
            row("root", "Text", text=5),
            row("c", "Column", children={"componentId": "x", "path": "/p", "key": "id"}),
            row("b", "Button", child="t", action={"event": {"name": "n", "context": {"k": None}}}),
            row(
                "f", "TextField", label="L", checks=[{"condition": call("length", value="x"), "message": "m"}]
            ),
        )

        assert [problem.path for problem in surfaces.apply(rows)] == [
            "/components/0/text",
            "/components/1/children/key",
            "/components/2/action/event/context/k",
            "/components/3/checks/0/condition/args",
        ]

    def test_calls_are_nested_five_levels_deep_at_most(self):
        def nested(levels: int) -> dict[str, Any]:
            value: Any = True
            for _ in range(levels):
                value = call("not", value=value)
            return components(row("root", "CheckBox", label="L", value=value))

        assert not outcome(nested(5), strict=True)[0]
        refused, problems = outcome(nested(6), strict=True)
        assert refused
        assert "functionCall depth" in problems[0].message

    def test_nothing_of_a_refused_message_is_applied(self):
        surfaces = run(create(), strict=True)

        surfaces.apply(components(row("root", "Text", text="x"), row("a", "Text", text=None)))

        assert not surfaces.get("", "s").store.by_id

    def test_an_own_function_without_signature_takes_anything_but_null(self):
        from a2ui.functions.registry import Function

        catalog = BASIC_CATALOG.extended(
            "urn:own", functions=BASIC_CATALOG.functions.extend(Function("own", lambda args, env: "x"))
        )
        engine = Engine(EngineOptions(catalogs=(catalog,), strict=True))
        surfaces = run(create(catalogId="urn:own"), engine=engine)

        assert not surfaces.apply(components(row("root", "Text", text=call("own", anything={"a": 1}))))
        assert surfaces.apply(components(row("root", "Text", text=call("own", anything=None))))
        with pytest.raises(ActionError):
            surfaces.act("a1-0")
