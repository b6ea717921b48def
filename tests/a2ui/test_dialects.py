"""1.0 and its candidates, read straight into the engine's form (sections 1 to 6 of the reading of 1.0)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2ui import ActionError, Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0
from a2ui.catalog.icons import UI_ALERT, UI_INFO, UI_WARNING
from a2ui.catalog.kinds import literal_text, text
from a2ui.components import BaseComponent
from a2ui.errors import Diagnostic
from a2ui.functions.registry import Function, FunctionRegistry
from a2ui.programs.tree import tree
from a2ui.protocol import answers
from a2ui.protocol.catalog_ids import BASIC_1_0
from a2ui.protocol.dialects import BARE, LATE, MARKED, NOTATIONS, PLAIN, V0_9, dialect_of
from tests.a2ui.page import Page, parse, shown
from tests.a2ui.programs import row

D, C = "1.0", "v1.0"


def said(verb, version=D, **body):
    return {"version": version, verb: {"surfaceId": "s", **body}}


def made(*rows, version=D, **body):
    return said("createSurface", version, catalogId=BASIC_1_0, components=list(rows), **body)


def fed(*messages, **options):
    """A set after these messages, and all problems."""
    surfaces = Engine(EngineOptions(**options)).surfaces()
    problems = [problem for message in messages for problem in surfaces.apply(message)]
    return surfaces, problems


def node(surfaces, component_id):
    return next(one for one in tree(surfaces.get("", "s"))["nodes"] if one["id"] == component_id)


def button(context, **event):
    return row("root", "Button", child="t", action={"event": {"name": "go", "context": context, **event}})


TEXT = row("t", "Text", text="Go")


def sent(surfaces):
    """What a click on the only button tells the agent."""
    surfaces.flush()
    return surfaces.act("a1-0").message


def context_of(*messages):
    surfaces, problems = fed(*messages)
    assert not problems
    return sent(surfaces)["action"]["context"]


class TestVersions:
    @pytest.mark.parametrize("version", [D, C])
    def test_both_names_of_1_0_are_taken_and_answered(self, version):
        surfaces, problems = fed(made(button({}), TEXT, version=version))

        assert not problems
        assert sent(surfaces)["version"] == version

    def test_each_dialect_is_a_table(self):
        assert dialect_of("v0.9") is V0_9
        assert dialect_of(["v0.9"]) is None
        assert set(NOTATIONS.values()) == {PLAIN, BARE, LATE, MARKED}
        assert dialect_of(C).notation_of([{"id": "a"}]) is BARE
        assert dialect_of(C).notation_of([{"id": "a", "text": [{"@path": "/x"}]}]) is LATE
        assert dialect_of(C).notation_of([{"id": "a", "@checks": []}]) is LATE
        assert dialect_of(D).notation_of([{"id": "a"}]) is MARKED

    def test_a_surface_comes_whole_and_is_drawn_once(self):
        surfaces, problems = fed(made(row("root", "Text", text={"@path": "/a"}), dataModel={"a": "A"}))

        (change,) = surfaces.flush()
        assert not problems
        assert (change.kind, change.ops) == ("created", [])
        assert ">A<" in change.html
        assert surfaces.flush() == []

    @pytest.mark.parametrize(
        "body",
        [
            {"components": [{"id": "root"}]},
            {"components": [row("root", "Text", text="x"), row("a", "Surface")]},
            {"dataModel": 5},
            {"components": 5},
            {"odd": 1},
        ],
    )
    def test_all_of_it_or_nothing(self, body):
        surfaces, problems = fed(said("createSurface", catalogId=BASIC_1_0, **body))

        assert any(problem.refused for problem in problems)
        assert not len(surfaces)
        assert surfaces.snapshot()["counter"] == 0

    def test_a_theme_is_left_out(self):
        surfaces, (problem,) = fed(made(TEXT, theme={"primaryColor": "#ff0000"}))
        assert (problem.path, problem.refused) == ("/theme", False)
        assert surfaces.get("", "s").theme == {}

        _, problems = fed(made(TEXT, theme={}), strict=True)
        assert any(problem.path == "/theme" and problem.refused for problem in problems)

    def test_null_deletes_where_0_9_keeps_it(self):
        surfaces, problems = fed(
            made(TEXT, dataModel={"a": {"b": 1}, "c": None}),
            said("updateDataModel", path="/a/b", value=None),
            said("updateDataModel", path="/d", value={"e": None}),
        )

        assert not problems
        assert surfaces.get("", "s").data_model == {"a": {}, "c": None, "d": {"e": None}}

    def test_it_survives_a_snapshot(self):
        surfaces, _ = fed(
            made(
                row("root", "Column", children=["b", "c"]),
                row(
                    "b",
                    "Button",
                    child="t",
                    action={"event": {"name": "go", "context": {"k": {"path": "/a"}}}},
                ),
                row("c", "Text", text={"@call": "formatString", "args": {"value": "${/a}"}}),
                TEXT,
                dataModel={"a": "A"},
            ),
            said("updateComponents", C, components=[row("d", "Text", text={"path": "/a"})]),
        )
        surfaces.flush()

        again = Engine().restore(json.loads(json.dumps(surfaces.snapshot())))

        assert shown(again) == shown(surfaces)
        assert again.snapshot() == surfaces.snapshot()
        assert again.act("a1-1").message["action"]["context"] == {"k": {"path": "/a"}}

    def test_old_and_new_may_change_one_surface(self):
        surfaces, problems = fed(
            made(row("root", "Column", children=["a", "b"]), dataModel={"n": 1}),
            said("updateComponents", "v0.9", components=[row("a", "Text", text={"path": "/n"})]),
            said("updateComponents", components=[row("b", "Text", text={"@path": "/n"})]),
        )

        assert not problems
        assert [node(surfaces, name)["props"]["text"] for name in "ab"] == [1, 1]


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


class Note(BaseComponent):
    """A component with properties that are called like parts of the envelope."""

    name = "Note"
    properties = {"text": text, "metadata": literal_text}

    def build(self, build):
        shown_text = build.getter("text")
        start = f'<b id="{build.id}'
        build.done(lambda scope, context: f'{start}{context}">{shown_text(scope)}</b>')


OWN = BASIC_CATALOG_1_0.extended(
    "urn:own",
    components=[Note()],
    functions=FunctionRegistry([Function("shout", lambda args, env: str(args.get("value")).upper())]),
)
OLD = BASIC_CATALOG.extended("urn:old", components=[Note()])
CATALOGS = {"catalogs": (BASIC_CATALOG_1_0, OWN, OLD)}


class TestEnvelope:
    @pytest.mark.parametrize("mark", ["@", ""])
    def test_its_keys_with_and_without_a_mark(self, mark):
        surfaces, problems = fed(
            made(
                row("root", "Column", children=["f", "n"]),
                row(
                    "f",
                    "TextField",
                    label="L",
                    value={"@path": "/v"},
                    **{
                        f"{mark}accessibility": {"label": "Named"},
                        f"{mark}checks": [
                            {
                                "condition": {"@call": "required", "args": {"value": {"@path": "/v"}}},
                                "message": "Fill",
                            }
                        ],
                        f"{mark}metadata": {"extensions": {"vendor": {"a": 1}}},
                    },
                ),
                row("n", "Note", text="own", **{f"{mark}catalogId": "urn:own"}),
            ),
            **CATALOGS,
        )

        html = surfaces.flush()[0].html
        assert not problems
        assert all(part in html for part in ('aria-label="Named"', "Fill", ">own</b>"))
        assert node(surfaces, "f")["props"].keys() == {
            "label", "value", "accessibility", "isValid", "validationErrors", "severities",
        }  # fmt: skip

    def test_a_property_of_that_name_comes_first(self):
        _, problems = fed(
            made(row("root", "Note", text="x", metadata="mine", **{"@catalogId": "urn:own"})), **CATALOGS
        )
        assert not problems

    def test_with_and_without_a_mark_the_mark_counts(self):
        given = row(
            "root", "Text", text="x", accessibility={"label": "no"}, **{"@accessibility": {"label": "yes"}}
        )
        surfaces, (problem,) = fed(made(given))

        assert (problem.path, problem.refused) == ("/components/0/accessibility", False)
        assert 'aria-label="yes"' in surfaces.flush()[0].html

    def test_other_marks_refuse_the_message(self):
        _, problems = fed(made(row("root", "Text", text="x", **{"@odd": 1})))

        assert [(one.path, one.refused) for one in problems] == [("/components/0/@odd", True)]

    def test_checks_belong_to_what_can_be_checked(self):
        _, (problem,) = fed(made(row("root", "Text", text="x", **{"@checks": []})))

        assert (problem.path, problem.refused) == ("/components/0/@checks", False)

    @pytest.mark.parametrize(
        "metadata", [5, {"owner": 1}, {"extensions": {"has-dash": 1}}, {"extensions": {"1st": 1}}]
    )
    def test_metadata_is_carried_and_what_is_wrong_with_it_reported(self, metadata):
        given = made(row("root", "Text", text="x", **{"@metadata": metadata}))
        surfaces, problems = fed(given)

        assert [problem.refused for problem in problems] == [False]
        assert problems[0].path.startswith("/components/0/@metadata")
        assert ">x<" in surfaces.flush()[0].html
        assert any(problem.refused for problem in fed(given, strict=True)[1])

    @pytest.mark.parametrize("name", ["vendor", "a2ui_theme", "_private", "ünïcode"])
    def test_extensions_are_called_by_identifiers(self, name):
        given = made(row("root", "Text", text="x", **{"@metadata": {"extensions": {name: {"any": 1}}}}))

        assert not fed(given, strict=True)[1]


class TestCatalogs:
    def test_an_unknown_catalog_is_the_fault_of_that_component_alone(self):
        surfaces, (problem,) = fed(
            made(
                row("root", "Column", children=["a", "b"]),
                row("a", "Note", text="gone", **{"@catalogId": "urn:none"}),
                row("b", "Text", text="stays"),
            ),
            **CATALOGS,
        )

        assert (problem.code, problem.path, problem.refused) == (
            "CATALOG_NOT_FOUND",
            "/components/1/@catalogId",
            False,
        )
        assert "stays" in surfaces.flush()[0].html

    def test_an_unknown_catalog_is_the_fault_of_that_call_alone(self):
        def of(catalog_id):
            return {"@call": "shout", "catalogId": catalog_id, "args": {"value": "x"}}

        surfaces, problems = fed(
            made(
                row("root", "Column", children=["a", "b"]),
                row("a", "Text", text=of("urn:none")),
                row("b", "Text", text=of("urn:own")),
            ),
            **CATALOGS,
        )

        assert not problems
        assert ">X<" in surfaces.flush()[0].html
        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    def test_catalogs_of_one_surface_are_of_one_version(self):
        _, (problem,) = fed(made(row("root", "Note", text="x", **{"@catalogId": "urn:old"})), **CATALOGS)

        assert problem.code == "CATALOG_NOT_FOUND"

    def test_calls_inside_of_others_belong_to_the_surface(self):
        inner = {"@call": "shout", "args": {"value": "x"}}
        surfaces, _ = fed(
            made(
                row("root", "Text", text={"@call": "shout", "catalogId": "urn:own", "args": {"value": inner}})
            ),
            **CATALOGS,
        )
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    def test_a_row_without_a_type_keeps_its_catalog(self):
        surfaces, problems = fed(
            made(row("root", "Note", text="one", **{"@catalogId": "urn:own"})),
            said("updateComponents", components=[{"id": "root", "text": "two"}]),
            **CATALOGS,
        )
        html = surfaces.flush()[0].html
        again = Engine(EngineOptions(**CATALOGS)).restore(surfaces.snapshot())

        assert not problems
        assert ">two</b>" in html
        assert shown(again) == shown(surfaces)

    def test_catalogs_of_1_0_are_not_for_older_surfaces(self):
        _, (problem,) = fed({"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_1_0}})

        assert (problem.code, problem.refused) == ("CATALOG_NOT_FOUND", True)


def checked(*checks, kind="TextField", **props):
    given = (
        {"label": "L", "value": {"@path": "/v"}}
        if kind != "Button"
        else {"child": "t", "action": {"event": {"name": "go"}}}
    )
    return made(row("root", kind, **given, **props, **{"@checks": list(checks)}), TEXT, dataModel=MODEL)  # fmt: skip


MODEL = {
    "v": "",
    "bad": {"valid": False, "code": "X", "message": "From data", "severity": "warning"},
    "info": {"valid": False, "severity": "info"},
    "good": {"valid": True, "message": "unused"},
    "odd": {"valid": "yes", "message": "unused"},
}
REQUIRED = {"@call": "required", "args": {"value": {"@path": "/v"}}}


class TestChecks:
    @pytest.mark.parametrize(
        ("check", "said", "severity"),
        [
            ({"condition": REQUIRED, "message": "Fill in"}, "Fill in", "error"),
            ({"condition": REQUIRED}, "This value is not valid.", "error"),
            ({"condition": {"@path": "/bad"}, "message": "Rule"}, "From data", "warning"),
            ({"condition": {"@path": "/info"}, "message": "Rule"}, "Rule", "info"),
            ({"condition": {"@path": "/odd"}, "message": "Rule"}, "Rule", "error"),
            ({"condition": {"@path": "/none"}, "message": "Rule"}, "Rule", "error"),
            (
                {"condition": {"@call": "email", "args": {"value": "x"}}},
                "Please enter a valid email address (e.g. user@example.com).",
                "error",
            ),
            (
                {
                    "condition": {"@call": "and", "args": {"values": [True, {"@path": "/bad"}]}},
                    "message": "Both",
                },
                "Both",
                "error",
            ),
        ],
    )
    def test_what_fails_and_what_is_said(self, check, said, severity):
        surfaces, problems = fed(checked(check))

        assert not problems
        assert node(surfaces, "root")["props"] | {"label": "", "value": ""} == {
            "label": "", "value": "", "isValid": False, "validationErrors": [said], "severities": [severity],
        }  # fmt: skip
        drawn = {"error": UI_ALERT, "warning": UI_WARNING, "info": UI_INFO}[severity]
        assert f"{drawn}<span>{said}</span>" in surfaces.flush()[0].html

    @pytest.mark.parametrize(
        "condition",
        [
            {"@path": "/good"},
            {"@call": "not", "args": {"value": {"@path": "/bad"}}},
            {"@call": "or", "args": {"values": [{"@path": "/bad"}, {"@path": "/good"}]}},
            {"@call": "length", "args": {"value": {"@path": "/v"}, "max": 3}},
        ],
    )
    def test_what_passes(self, condition):
        surfaces, _ = fed(checked({"condition": condition, "message": "no"}))

        assert node(surfaces, "root")["props"]["isValid"] is True
        assert ">no<" not in surfaces.flush()[0].html

    def test_several_come_in_order_each_with_its_look(self):
        surfaces, _ = fed(
            checked({"condition": REQUIRED, "message": "First"}, {"condition": {"@path": "/bad"}})
        )
        html = surfaces.flush()[0].html

        assert html.index("First") < html.index("From data")
        assert 'aria-invalid="true"' in html
        assert '<p class="a2-error" role="alert">' in html
        assert '<p class="a2-error a2-error--warning" role="status">' in html

    def test_a_warning_alone_does_not_make_a_field_invalid(self):
        html = fed(checked({"condition": {"@path": "/bad"}}))[0].flush()[0].html

        assert "aria-invalid" not in html
        assert 'aria-describedby="a1-0-xe"' in html

    def test_whatever_fails_holds_a_button(self):
        surfaces, _ = fed(checked({"condition": {"@path": "/bad"}}, kind="Button"))
        assert 'disabled title="From data"' in surfaces.flush()[0].html
        with pytest.raises(ActionError, match="From data"):
            surfaces.act("a1-0")

        surfaces.apply(said("updateDataModel", path="/bad", value={"valid": True}))
        surfaces.flush()
        assert surfaces.act("a1-0").name == "go"

    def test_a_result_is_as_true_as_it_is_valid(self):
        surfaces, _ = fed(
            made(
                row("root", "Row", children=["a", "b"]),
                row("a", "CheckBox", label="A", value={"@path": "/bad"}),
                row("b", "CheckBox", label="B", value={"@path": "/good"}),
                dataModel=MODEL,
            )
        )
        boxes = list(parse(surfaces.flush()[0].html)[0].iter("input"))

        assert ["checked" in box.attrib for box in boxes] == [False, True]

    def test_in_0_9_an_object_is_as_good_as_true(self):
        rows = [
            row("root", "TextField", label="L", checks=[{"condition": {"path": "/bad"}, "message": "no"}])
        ]
        surfaces, _ = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "value": MODEL}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}},
        )

        assert node(surfaces, "root")["props"] == {"label": "L", "isValid": True, "validationErrors": []}


INDEX = {"@call": "@index"}


def listed(item, *more, items=(), version=D):
    return made(
        row("root", "List", children={"componentId": "item", "path": "/items"}),
        row("item", **item),
        *more,
        version=version,
        dataModel={"items": list(items)},
    )


def keyed(*names):
    return [{"id": name, "n": name.upper()} for name in names]


NUMBERED = {
    "kind": "Text",
    "text": {"@call": "formatString", "args": {"value": "${@index(offset: 1)}. ${n}"}},
}


class TestIndex:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (INDEX, ["0", "1"]),
            ({"@call": "@index", "args": {"offset": 1}}, ["1", "2"]),
            ({"@call": "@index", "args": {"offset": {"@path": "/by"}}}, ["2.5", "3.5"]),
            (
                {"@call": "formatString", "args": {"value": "No ${@index()}/${@index(offset: 2)}"}},
                ["No 0/2", "No 1/3"],
            ),
            ({"@call": "formatString", "args": {"value": {"@path": "/text"}}}, ["<0>", "<1>"]),
        ],
    )
    def test_the_position_of_an_item(self, value, expected):
        message = listed({"kind": "Text", "text": value}, items=keyed("a", "b"))
        message["createSurface"]["dataModel"] |= {"by": 2.5, "text": "<${@index()}>"}
        surfaces, problems = fed(message)
        page = parse(surfaces.flush()[0].html)[0]

        assert not problems
        assert ["".join(item.itertext()) for item in page[0]] == expected
        assert not surfaces.diagnostics()

    @pytest.mark.parametrize(
        "value",
        [
            {"@call": "@index", "args": {"offset": "x"}},
            {"@call": "@index", "args": {"step": 2}},
            {"@call": "@odd"},
        ],
    )
    def test_what_has_no_value(self, value):
        surfaces, _ = fed(listed({"kind": "Text", "text": value}, items=keyed("a")))
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    def test_it_belongs_to_no_catalog(self):
        value = {"@call": "@index", "catalogId": BASIC_1_0}
        _, (problem,) = fed(listed({"kind": "Text", "text": value}, items=keyed("a")))

        assert problem.path == "/components/1/text/catalogId"

    @pytest.mark.parametrize("value", [INDEX, {"@call": "formatString", "args": {"value": "${@index()}"}}])
    def test_outside_of_a_template_it_is_an_error(self, value):
        surfaces, _ = fed(made(row("root", "Text", text=value)))
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    def test_0_9_does_not_know_it(self):
        rows = [
            row("root", "List", children={"componentId": "item", "path": "/items"}),
            row("item", "Text", text={"call": "@index"}),
        ]
        surfaces, _ = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "value": {"items": [1]}}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}},
        )
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]

    @pytest.mark.parametrize(
        ("ops", "numbers"),
        [
            ([{"op": "add", "path": "/items/0", "value": {"id": "x", "n": "X"}}], 4),
            ([{"op": "add", "path": "/items/4", "value": {"id": "x", "n": "X"}}], 0),
            ([{"op": "add", "path": "/items/2", "value": {"id": "x", "n": "X"}}], 2),
            ([{"op": "remove", "path": "/items/1"}], 2),
            ([{"op": "move", "from": "/items/0", "path": "/items/1"}], 2),
            ([{"op": "move", "from": "/items/3", "path": "/items/0"}], 4),
            ([{"op": "replace", "path": "/items", "value": keyed("d", "c", "b", "a")}], 4),
            ([{"op": "replace", "path": "/items/1/n", "value": "new"}], 1),
        ],
    )
    def test_it_is_kept_right_and_nothing_else_is_drawn(self, ops, numbers):
        surfaces, _ = fed(listed(NUMBERED, items=keyed("a", "b", "c", "d")))
        page = Page()
        page.apply_changes(surfaces.flush())
        surfaces.patch("", "s", ops)
        changes = surfaces.flush()
        page.apply_changes(changes)

        told = [op for op in changes[0].ops if op[0] in "tr"]
        assert page.markup == shown(surfaces)
        assert len(told) == numbers

    def test_lists_inside_of_lists_count_each_for_itself(self):
        groups = [{"id": g, "items": keyed(*names)} for g, names in (("g", "ab"), ("h", "cd"))]
        message = made(
            row("root", "List", children={"componentId": "group", "path": "/groups"}),
            row("group", "Column", children=["title", "rows"]),
            row("title", "Text", text={"@call": "formatString", "args": {"value": "G${@index()}"}}),
            row("rows", "List", children={"componentId": "item", "path": "items"}),
            row("item", **NUMBERED),
            dataModel={"groups": groups},
        )
        surfaces, _ = fed(message)
        page = Page()
        page.apply_changes(surfaces.flush())
        for ops in (
            [{"op": "add", "path": "/groups/0/items/0", "value": {"id": "x", "n": "X"}}],
            [{"op": "move", "from": "/groups/1", "path": "/groups/0"}],
            [{"op": "move", "from": "/groups/1/items/2", "path": "/groups/1/items/0"}],
            [{"op": "remove", "path": "/groups/0"}, {"op": "remove", "path": "/groups/0/items/1"}],
        ):
            surfaces.patch("", "s", ops)
            page.apply_changes(surfaces.flush())
            assert page.markup == shown(surfaces)
        assert "G0" in page.markup

    def test_in_checks_and_in_what_is_sent(self):
        surfaces, _ = fed(
            listed(
                {
                    "kind": "Button",
                    "child": "t",
                    "action": {"event": {"name": "go", "context": {"at": INDEX}}},
                    "@checks": [{"condition": INDEX, "message": "Not the first"}],
                },
                TEXT,
                items=keyed("a", "b", "c"),
            )
        )
        page = Page()
        page.apply_changes(surfaces.flush())
        buttons = [e.get("id") for e in parse(surfaces.get("", "s").html())[0].iter("button")]
        with pytest.raises(ActionError, match="Not the first"):
            surfaces.act(buttons[0])
        assert [surfaces.act(one).message["action"]["context"] for one in buttons[1:]] == [
            {"at": 1},
            {"at": 2},
        ]

        surfaces.patch("", "s", [{"op": "move", "from": "/items/2", "path": "/items/0"}])
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
        assert surfaces.act(buttons[0]).message["action"]["context"] == {"at": 1}

    def test_an_undone_move_leaves_the_numbers(self):
        surfaces, _ = fed(listed(NUMBERED, items=keyed("a", "b", "c")))
        surfaces.flush()
        before = shown(surfaces)
        attempt = surfaces.attempt()
        surfaces.patch("", "s", [{"op": "move", "from": "/items/2", "path": "/items/0"}])
        surfaces.flush()
        attempt.undo()

        assert shown(surfaces) == before
        surfaces.patch("", "s", [{"op": "remove", "path": "/items/0"}])
        assert [op[0] for op in surfaces.flush()[0].ops] == ["d", "r", "r"]

    def test_the_tree_shows_it(self):
        surfaces, _ = fed(listed({"kind": "Text", "text": INDEX}, items=keyed("a", "b")))

        texts = [one["props"]["text"] for one in tree(surfaces.get("", "s"))["nodes"] if one["id"] == "item"]
        assert texts == [0, 1]


class TestProperties:
    def test_those_that_1_0_has_more(self):
        surfaces, problems = fed(
            made(
                row("root", "Column", children=["f", "v", "s"]),
                row("f", "TextField", label="L", placeholder={"@path": "/p"}),
                row("v", "Video", url="https://x.example/v.mp4", posterUrl="https://x.example/p.png"),
                row("s", "Slider", label="S", value={"@path": "/n"}, min=0, max=10, steps=4),
                dataModel={"p": 'Type "here"', "n": 3},
            ),
            image_hosts=frozenset({"x.example"}),
        )
        html = surfaces.flush()[0].html

        assert not problems
        assert 'placeholder="Type &quot;here&quot;"' in html
        assert 'poster="https://x.example/p.png"' in html
        assert 'step="2.5" value="3"' in html
        assert surfaces.edit("a1-3", 4).ops[0]["value"] == 5

    def test_0_9_does_not_have_them(self):
        _, problems = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateComponents": {
                "surfaceId": "s", "components": [row("root", "TextField", label="L", placeholder="P")],
            }},
        )  # fmt: skip

        assert [one.path for one in problems] == ["/components/0/placeholder"]


class Header(Note):
    """Stands in columns only."""

    name = "Header"
    allowed_parents = frozenset({"Column"})


class Box(type(BASIC_CATALOG_1_0.components["Column"])):
    """Holds texts only."""

    name = "Box"
    allowed_children = frozenset({"Text"})


RULED = BASIC_CATALOG_1_0.extended("urn:ruled", components=[Header(), Box()])


class TestComposition:
    def fed(self, *rows, **options):
        message = made(*rows)
        message["createSurface"]["catalogId"] = "urn:ruled"
        return fed(message, catalogs=(RULED,), **options)

    @pytest.mark.parametrize(
        ("rows", "code", "path"),
        [
            (
                [row("root", "Row", children=["a"]), row("a", "Header", text="x")],
                "UNALLOWED_PARENT",
                "/components/1",
            ),
            ([row("root", "Header", text="x")], "UNALLOWED_PARENT", "/components/0"),
            (
                [
                    row("root", "Box", children=["t", "a"]),
                    row("t", "Text", text="ok"),
                    row("a", "Image", url="/x", description="pic"),
                ],
                "UNALLOWED_CHILD",
                "/components/0/children/1",
            ),
            (
                [
                    row("root", "Box", children={"componentId": "a", "path": "/items"}),
                    row("a", "Image", url="/x"),
                ],
                "UNALLOWED_CHILD",
                "/components/0/children",
            ),
        ],
    )
    def test_a_breach_is_left_out_and_the_rest_stays(self, rows, code, path):
        surfaces, (problem,) = self.fed(*rows)
        assert (problem.code, problem.path, problem.refused) == (code, path, False)

        html = surfaces.flush()[0].html
        assert "pic" not in html
        assert ("ok" in html) is any(one["id"] == "t" for one in rows)
        _, problems = self.fed(*rows, strict=True)
        assert (code, True) in [(one.code, one.refused) for one in problems]

    def test_what_has_no_parent_is_not_judged(self):
        _, problems = self.fed(row("root", "Text", text="x"), row("a", "Header", text="x"))
        assert not problems

    def test_a_parent_of_another_type_makes_it_right(self):
        surfaces, problems = self.fed(row("root", "Row", children=["a"]), row("a", "Header", text="here"))
        page = Page()
        page.apply_changes(surfaces.flush())
        assert len(problems) == 1
        assert "here" not in page.markup

        assert not surfaces.apply(
            said("updateComponents", components=[row("root", "Column", children=["a"])])
        )
        page.apply_changes(surfaces.flush())
        assert "here" in page.markup
        assert page.markup == shown(surfaces)

        (problem,) = surfaces.apply(said("updateComponents", components=[row("root", "Row", children=["a"])]))
        page.apply_changes(surfaces.flush())
        assert (problem.code, problem.path) == ("UNALLOWED_PARENT", "/components/0/children/0")
        assert "here" not in page.markup
        assert page.markup == shown(surfaces)


class TestAnswers:
    def problem(self, code="VALIDATION_FAILED", surface_id="s", path="/components/0/text", **facts):
        return Diagnostic(code, "Wrong.", path, surface_id, refused=True, facts=facts)

    @pytest.mark.parametrize(
        ("problem", "expected"),
        [
            ({}, {"code": "VALIDATION_FAILED", "surfaceId": "s", "path": "/components/0/text", "message": "Wrong."}),
            ({"code": "UNALLOWED_CHILD", "path": ""}, {
                "code": "UNALLOWED_CHILD", "surfaceId": "s", "path": "/", "message": "Wrong.",
            }),
            ({"code": "CATALOG_NOT_FOUND", "component": "a"}, {
                "code": "VALIDATION_FAILED", "surfaceId": "s", "path": "/components/0/text", "message": "Wrong.",
            }),
            ({"code": "EXPRESSION_ERROR", "path": "", "component": "a"}, {
                "code": "EXPRESSION_ERROR", "surfaceId": "s", "message": "Wrong.", "component": "a",
            }),
            ({"code": "INVALID_FUNCTION_CALL", "path": "", "functionCallId": "c"}, {
                "code": "INVALID_FUNCTION_CALL", "functionCallId": "c", "message": "Wrong.",
            }),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("version", [D, C])
    def test_errors(self, problem, expected, version):
        assert answers.error(self.problem(**problem), version) == {"version": version, "error": expected}

    def test_what_belongs_to_nothing_cannot_be_said(self):
        assert answers.error(self.problem(surface_id=""), D) is None

    def test_older_versions_say_it_as_before(self):
        problem = self.problem("CATALOG_NOT_FOUND")

        assert answers.error(problem, "v0.9.1") == problem.as_message("v0.9.1")
        assert answers.error(problem, "v0.8") == {"error": problem.as_message()["error"]}

    def test_catalogs_that_are_known(self):
        offered = Engine().metadata()

        assert set(offered["a2uiClientCapabilities"]) == {"v0.9", "v0.9.1"}
        assert set(offered["a2uiRendererCapabilities"]) == {D, C}
        assert offered["a2uiRendererCapabilities"][D]["supportedCatalogIds"][0] == BASIC_1_0
        assert BASIC_1_0 not in offered["a2uiClientCapabilities"]["v0.9"]["supportedCatalogIds"]

    def test_data_models_go_by_the_version_of_their_surface(self):
        old = {"surfaceId": "o", "catalogId": BASIC_CATALOG.id, "sendDataModel": True}
        surfaces, _ = fed(
            {"version": "v0.9", "createSurface": old}, made(TEXT, sendDataModel=True, dataModel={"a": 1})
        )

        assert surfaces.data_models("") == {
            "a2uiClientDataModel": {"version": "v0.9", "surfaces": {"o": {}}},
            "a2uiRendererDataModel": {"version": D, "surfaces": {"s": {"a": 1}}},
        }
