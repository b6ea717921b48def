"""Data stays data, directives are read (section 4 of the reading of 1.0)."""

from __future__ import annotations

from typing import Any

import pytest

from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0
from a2ui.functions.registry import Function, FunctionRegistry
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, C, D, button, context_of, fed, made, node, sent


class TestData:
    """A wrong value that is sent to an agent is a fault of the first rank (4.2)."""

    @pytest.mark.parametrize(
        "plain",
        [
            {"path": "/a"},
            {"call": "formatString", "args": {"value": "x"}},
            {"path": "/a", "call": "required"},
            [{"path": "/a"}],
            {"deep": {"er": [{"path": "/a"}]}},
            {},
            [],
            {"path": 5},
        ],
    )
    def test_what_looks_like_a_binding_is_data_in_1_0(self, plain):
        assert context_of(made(button({"k": plain}), TEXT, dataModel={"a": "A"})) == {"k": plain}
        # Any mark says that the whole message is written so.
        marked = made(button({"k": plain, "m": {"@path": "/a"}}), TEXT, version=C, dataModel={"a": "A"})
        assert context_of(marked) == {"k": plain, "m": "A"}

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"path": "/a"}, "A"),
            ({"call": "formatString", "args": {"value": "${/a}!"}}, "A!"),
            ({"call": "formatString", "args": {"value": "x"}, "returnType": "string"}, "x"),
            ([{"path": "/a"}, 1], ["A", 1]),
            ({"in": {"path": "/a"}}, {"in": "A"}),
            ({"path": "/a", "size": 1}, {"path": "/a", "size": 1}),
            ({"call": "me", "at": "noon"}, {"call": "me", "at": "noon"}),
            ({"call": "me", "args": {}, "at": {"path": "/a"}}, {"call": "me", "args": {}, "at": "A"}),
        ],
    )
    def test_the_candidate_knows_a_binding_by_its_exact_shape(self, given, expected):
        assert context_of(made(button({"k": given}), TEXT, version=C, dataModel={"a": "A"})) == {
            "k": expected
        }

    def test_marks_count_at_any_depth(self):
        given = {
            "a": [{"b": {"@path": "/a"}}],
            "c": {"@call": "formatString", "args": {"value": "${/a}"}},
            "d": 1,
        }

        assert context_of(made(button({"k": given}), TEXT, dataModel={"a": "A"})) == {
            "k": {"a": [{"b": "A"}], "c": "A", "d": 1}
        }

    def test_doubled_marks_are_single_ones(self):
        given = {"@@path": "/a", "in": [{"@@x": 1}], "@@@y": 2}

        assert context_of(made(button({"@@k": given}), TEXT)) == {
            "@k": {"@path": "/a", "in": [{"@x": 1}], "@@y": 2}
        }

    def test_data_models_are_plain_json(self):
        model = {"a": {"@path": "/b", "@@x": 1, "@odd": [{"call": "f"}]}}
        surfaces, problems = fed(made(button({"k": {"@path": "/a"}}), TEXT, dataModel=model))

        assert not problems
        assert surfaces.get("", "s").data_model == model
        assert sent(surfaces)["action"]["context"] == {"k": model["a"]}

    @pytest.mark.parametrize(
        ("value", "below"),
        [
            ({"@path": "/a", "k": 1}, "/@path"),
            ({"@path": 5}, "/@path"),
            ({"@call": "f", "@path": "/a"}, "/@path"),
            ({"@if": True}, "/@if"),
            ({"in": [{"@": 1}]}, "/in/0/@"),
            ({"@call": "required", "args": {"@path": "/a"}}, "/args/@path"),
            ({"@call": "required", "args": {"value": {"x": {"@y": 1}}}}, "/args/value/x/@y"),
        ],
    )
    def test_reserved_keys_refuse_the_message(self, value, below):
        surfaces, problems = fed(made(button({"k": value}), TEXT))

        assert [(one.path, one.refused) for one in problems if one.refused] == [
            (f"/components/0/action/event/context/k{below}", True)
        ]
        assert not len(surfaces)

    def test_data_too_deep_is_refused_and_not_cut(self):
        deep: Any = "x"
        for _ in range(150):
            deep = {"in": deep}
        _, problems = fed(made(button({"k": deep}), TEXT))

        assert [(one.code, one.refused) for one in problems] == [("budget_exceeded", True)]

    def test_arguments_of_any_value_may_be_data(self):
        echo = Function("echo", lambda args, env: args.get("value"))
        catalog = BASIC_CATALOG_1_0.extended("urn:own", functions=FunctionRegistry([echo]))
        plain = {"path": "/a", "in": {"call": "echo"}}
        message = {**made(button({"k": {"@call": "echo", "args": {"value": plain}}}), TEXT)}
        message["createSurface"]["catalogId"] = "urn:own"
        surfaces, problems = fed(message, catalogs=(catalog,))

        assert not problems
        assert sent(surfaces)["action"]["context"] == {"k": plain}

    @pytest.mark.parametrize(("version", "told"), [(D, 2), (C, 0)])
    def test_keys_without_a_mark_count_where_they_cannot_be_data(self, version, told):
        surfaces, problems = fed(
            made(
                row("root", "Column", children=["a", "b", "c"]),
                row("a", "Text", text={"path": "/n"}),
                row("b", "Text", text={"@path": "/n"}),
                row("c", "Text", text={"@call": "formatNumber", "args": {"value": {"path": "/n"}}}),
                version=version,
                dataModel={"n": 3},
            )
        )

        assert [node(surfaces, name)["props"]["text"] for name in "abc"] == [3, 3, "3"]
        assert [(one.path, one.refused) for one in problems] == [
            ("/components/1/text/path", False),
            ("/components/3/text/args/value/path", False),
        ][:told]

    def test_what_a_person_is_said_to_say(self):
        surfaces, _ = fed(made(button({}, userMessage={"@path": "/a"}), TEXT, dataModel={"a": "I say"}))
        assert sent(surfaces)["action"]["userMessage"] == "I say"

        _, (problem,) = fed(made(button({}, wantResponse=True), TEXT))
        assert (problem.path, problem.refused) == ("/components/0/action/event/wantResponse", False)

    def test_older_versions_read_as_before(self):
        old = {
            "version": "v0.9",
            "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id},
        }
        rows = [
            button({"k": {"path": "/a", "more": 1}, "m": {"@path": "/a"}, "@x": {"in": {"path": "/a"}}}),
            TEXT,
        ]
        surfaces, problems = fed(
            old,
            {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "value": {"a": "A"}}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}},
        )

        assert not problems
        assert sent(surfaces)["action"]["context"] == {
            "k": "A",
            "m": {"@path": "/a"},
            "@x": {"in": {"path": "/a"}},
        }
