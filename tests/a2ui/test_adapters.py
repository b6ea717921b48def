"""Messages of v0.8 and v1.0, through their adapters (rulebook 20, 22)."""

from __future__ import annotations

import json

import pytest

from a2ui import Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.kinds import text
from a2ui.components import BaseComponent
from a2ui.functions.registry import Function, FunctionRegistry
from a2ui.programs.tree import tree
from a2ui.protocol.adapters import outgoing
from tests.a2ui.page import Page, parse, shown
from tests.a2ui.programs import BASIC, components, create, row


def fed(*messages, **options):
    """A set after these messages, and all problems."""
    surfaces = Engine(EngineOptions(**options)).surfaces()
    problems = [problem for message in messages for problem in surfaces.apply(message)]
    return surfaces, problems


def node(surfaces, component_id, surface="s"):
    nodes = tree(surfaces.get("", surface))["nodes"]
    return next(one for one in nodes if one["id"] == component_id)


class TestVersions:
    @pytest.mark.parametrize("version", ["v0.7", "v1.1", "v2", "1.0.0", "v1", "1", 1, 1.0, None, ""])
    def test_unknown_ones_are_refused_with_the_known_ones(self, version):
        _, (problem,) = fed({**create(), "version": version})

        assert problem.refused
        assert problem.path == "/version"
        assert problem.facts["known"] == ["v0.8", "v0.9", "v0.9.1", "v1.0", "1.0"]
        assert "v0.8, v0.9, v0.9.1, v1.0, 1.0" in problem.message

    def test_v08_verbs_under_another_version_are_refused(self):
        _, problems = fed({"version": "v0.9", "beginRendering": {"surfaceId": "s", "root": "r"}})

        assert problems[0].refused

    def test_v08_cannot_change_a_surface_of_another_version(self):
        surfaces, (problem,) = fed(
            create(), {"dataModelUpdate": {"surfaceId": "s", "contents": [{"key": "n", "valueNumber": 3}]}}
        )

        assert problem.refused
        assert "this surface speaks v0.9" in problem.message
        assert surfaces.get("", "s").data_model == {}


def v08(verb, **body):
    return {verb: {"surfaceId": "s", **body}}


def update(*rows):
    return v08("surfaceUpdate", components=list(rows))


def wrapped(component_id, kind, **props):
    return {"id": component_id, "component": {kind: props}}


BEGIN = v08("beginRendering", root="r")


class TestV08:
    def test_nothing_shows_before_it_begins(self):
        surfaces, problems = fed(update(wrapped("root", "Text", text={"literalString": "early"})))
        page = Page()
        page.apply_changes(surfaces.flush())

        assert not problems
        assert "early" not in page.markup
        surfaces.apply(v08("beginRendering", root="root"))
        page.apply_changes(surfaces.flush())
        assert "early" in page.markup
        assert page.markup == shown(surfaces)

    def test_begin_can_come_first_with_styles(self):
        begin = v08("beginRendering", root="r", styles={"primaryColor": "#00ff00"})
        surfaces, problems = fed(begin, update(wrapped("r", "Text", text={"literalString": "x"})))

        assert not problems
        assert surfaces.get("", "s").theme == {"primaryColor": "#00ff00"}
        assert node(surfaces, "r")["props"]["text"] == "x"

    def test_styles_after_the_content_keep_the_content(self):
        begin = v08("beginRendering", root="r", styles={"primaryColor": "#00ff00"})
        surfaces, problems = fed(
            update(wrapped("r", "Text", text={"path": "/n"})),
            v08("dataModelUpdate", contents=[{"key": "n", "valueNumber": 3}]),
            begin,
        )

        assert not problems
        assert surfaces.get("", "s").theme == {"primaryColor": "#00ff00"}
        assert node(surfaces, "r")["props"]["text"] == 3

    def test_data(self):
        surfaces, problems = fed(
            v08(
                "dataModelUpdate",
                contents=[
                    {"key": "s", "valueString": "x"},
                    {"key": "n", "valueNumber": 1.5},
                    {"key": "b", "valueBoolean": False},
                    {"key": "m", "valueMap": [{"key": "a", "valueString": "A"}]},
                    {"key": "items", "valueMap": [{"key": f"item{n}", "valueMap": []} for n in (1, 2)]},
                    {"key": "map", "valueMap": [{"key": f"day{n}", "valueString": "x"} for n in (1, 2)]},
                ],
            ),
            v08("dataModelUpdate", path="/m", contents=[{"key": "b", "valueString": "B"}]),
            v08("dataModelUpdate", path="/s", contents=[{"key": ".", "valueString": "y"}]),
        )

        assert not problems
        assert surfaces.get("", "s").data_model == {
            "s": "y",
            "n": 1.5,
            "b": False,
            "m": {"a": "A", "b": "B"},
            "items": [{}, {}],
            "map": {"day1": "x", "day2": "x"},
        }

    @pytest.mark.parametrize(
        "contents",
        [None, 5, [5], [{"valueString": "x"}], [{"key": "a"}], [{"key": "a", "valueMap": [{"key": 5}]}]],
    )
    def test_bad_contents_change_nothing(self, contents):
        surfaces, problems = fed(BEGIN, v08("dataModelUpdate", contents=contents))

        assert [problem.refused for problem in problems] == [True]
        assert surfaces.get("", "s").data_model == {}

    def test_a_path_with_a_literal_starts_with_it(self):
        value = {"path": "/n", "literalString": "first"}
        surfaces, _ = fed(BEGIN, update(wrapped("r", "Text", text=value)))
        assert surfaces.get("", "s").data_model == {"n": "first"}

        surfaces.apply(v08("dataModelUpdate", contents=[{"key": "n", "valueString": "later"}]))
        surfaces.apply(update(wrapped("r", "Text", text=value)))
        assert surfaces.get("", "s").data_model == {"n": "later"}

    @pytest.mark.parametrize(
        ("given", "kind", "props"),
        [
            (
                wrapped("r", "Text", text={"literalString": "x"}, usageHint="h2"),
                "Text",
                {"text": "x", "variant": "h2"},
            ),
            (
                wrapped("r", "Image", url={"literalString": "/i.png"}, usageHint="avatar", fit="scale-down"),
                "Image",
                {"url": "/i.png", "variant": "avatar", "fit": "scaleDown"},
            ),
            (wrapped("r", "Icon", name={"literalString": "add"}), "Icon", {"name": "add"}),
            (
                wrapped(
                    "r",
                    "TextField",
                    label={"literalString": "L"},
                    text={"path": "/v"},
                    textFieldType="longText",
                ),
                "TextField",
                {"label": "L", "variant": "longText"},
            ),
            (
                wrapped("r", "TextField", label={"literalString": "L"}, textFieldType="date"),
                "TextField",
                {"label": "L"},
            ),
            (
                wrapped("r", "CheckBox", label={"literalString": "L"}, value={"literalBoolean": True}),
                "CheckBox",
                {"label": "L", "value": True},
            ),
            (
                wrapped("r", "Slider", value={"literalNumber": 3}, minValue=1, maxValue=5),
                "Slider",
                {"value": 3, "min": 1, "max": 5},
            ),
            (
                wrapped(
                    "r",
                    "MultipleChoice",
                    selections={"literalArray": ["a"]},
                    options=[{"label": {"literalString": "A"}, "value": "a"}],
                    maxAllowedSelections=1,
                ),
                "ChoicePicker",
                {"value": ["a"], "options": [{"label": "A", "value": "a"}], "variant": "mutuallyExclusive"},
            ),
            (
                wrapped("r", "DateTimeInput", value={"literalString": "2026-09-04"}, enableDate=True),
                "DateTimeInput",
                {"value": "2026-09-04", "enableDate": True},
            ),
            (wrapped("r", "Video", url={"literalString": "/v"}), "Video", {"url": "/v"}),
            (wrapped("r", "Divider", axis="vertical"), "Divider", {"axis": "vertical"}),
        ],
    )
    def test_properties(self, given, kind, props):
        surfaces, problems = fed(BEGIN, update(given))

        found = node(surfaces, "r")
        assert not problems
        assert found["type"] == kind
        assert {key: value for key, value in found["props"].items() if value is not None} == props

    def test_structure(self):
        surfaces, problems = fed(
            BEGIN,
            update(
                wrapped(
                    "r",
                    "Column",
                    children={"explicitList": ["row", "l", "c", "tabs", "m", "root"]},
                    alignment="center",
                ),
                wrapped("row", "Row", children={"explicitList": []}, distribution="end"),
                wrapped("l", "List", children={"template": {"componentId": "t", "dataBinding": "/items"}}),
                {**wrapped("t", "Text", text={"path": "name"}), "weight": 2},
                wrapped("c", "Card", child="t"),
                wrapped("tabs", "Tabs", tabItems=[{"title": {"literalString": "T"}, "child": "t"}]),
                wrapped("m", "Modal", entryPointChild="t", contentChild="root"),
                wrapped("root", "Text", text={"literalString": "called root"}),
            ),
            v08(
                "dataModelUpdate",
                contents=[
                    {
                        "key": "items",
                        "valueMap": [{"key": "0", "valueMap": [{"key": "name", "valueString": "Ada"}]}],
                    }
                ],
            ),
        )

        nodes = {one["at"]: one for one in tree(surfaces.get("", "s"))["nodes"]}
        top = "root/children/0"
        assert not problems
        assert nodes[top]["props"]["align"] == "center"
        assert nodes[f"{top}/children/0"]["props"]["justify"] == "end"
        assert nodes[f"{top}/children/1/children/0"]["props"] == {"text": "Ada", "weight": 2}
        assert nodes[f"{top}/children/2/child"]["type"] == "Text"
        assert nodes[f"{top}/children/3/tabs/0/child"]["type"] == "Text"
        assert nodes[f"{top}/children/4/content"]["props"]["text"] == "called root"
        assert nodes[f"{top}/children/5"]["props"]["text"] == "called root"

    def test_actions_go_out_as_user_actions(self):
        action = {
            "name": "go",
            "context": [{"key": "k", "value": {"path": "/n"}}, {"key": "l", "value": {"literalNumber": 1}}],
        }
        surfaces, _ = fed(
            v08("beginRendering", root="root"),
            v08("dataModelUpdate", contents=[{"key": "n", "valueString": "N"}]),
            update(
                wrapped("root", "Button", child="t", primary=True, action=action),
                wrapped("t", "Text", text={"literalString": "Go"}),
            ),
        )
        surfaces.flush()
        target = next(e.get("id") for e in parse(surfaces.get("", "s").html())[0].iter("button"))

        sent = outgoing(surfaces.act(target).message)

        assert list(sent) == ["userAction"]
        assert sent["userAction"] | {"timestamp": ""} == {
            "name": "go",
            "surfaceId": "s",
            "sourceComponentId": "root",
            "timestamp": "",
            "context": {"k": "N", "l": 1},
        }
        assert node(surfaces, "v0.8:root")["props"]["variant"] == "primary"

    def test_errors_go_out_without_version(self):
        _, (problem,) = fed(update({"id": "x"}))

        assert outgoing(problem.as_message("v0.8")) == {"error": problem.as_message()["error"]}

    def test_surfaces_are_deleted(self):
        surfaces, problems = fed(BEGIN, {"deleteSurface": {"surfaceId": "s"}})
        assert not problems
        assert not len(surfaces)

        assert not surfaces.apply({"deleteSurface": {"surfaceId": "s"}})
        surfaces.apply(create())
        assert surfaces.apply({"deleteSurface": {"surfaceId": "s"}})[0].path == "/version"

    @pytest.mark.parametrize(
        "broken",
        [
            v08("beginRendering"),
            v08("beginRendering", root="r", x=1),
            v08("beginRendering", root="r", styles=5),
            v08("beginRendering", root="r", catalogId="urn:unknown"),
            {"beginRendering": []},
            {"beginRendering": {"root": "r"}},
            {**BEGIN, "surfaceUpdate": {}},
            {**BEGIN, "x": 1},
            update({"id": "a", "component": {"Text": {}, "Row": {}}}),
            update({"id": "a", "component": "Text"}),
            update({"component": {"Text": {}}}),
            update({"id": "a", "component": {"Text": 5}}),
            v08("surfaceUpdate", components=5),
            v08("dataModelUpdate", path=5, contents=[]),
        ],
    )
    def test_what_is_wrong_makes_no_surface(self, broken):
        surfaces, problems = fed(broken)

        assert [problem.refused for problem in problems] == [True]
        assert not len(surfaces)

    def test_it_survives_a_snapshot(self):
        surfaces, _ = fed(BEGIN, update(wrapped("r", "Text", text={"literalString": "x"})))
        surfaces.flush()

        again = Engine().restore(json.loads(json.dumps(surfaces.snapshot())))

        assert shown(again) == shown(surfaces)
        assert not again.apply(update(wrapped("r", "Text", text={"literalString": "y"})))


class Badge(BaseComponent):
    """A component of another catalog."""

    name = "Badge"
    properties = {"text": text}

    def build(self, build):
        shown_text = build.getter("text")
        start = f'<b id="{build.id}'
        build.done(lambda scope, context: f'{start}{context}">{shown_text(scope)}</b>')


OTHER = BASIC_CATALOG.extended(
    "urn:other",
    components=[Badge()],
    functions=FunctionRegistry([Function("shout", lambda args, env: str(args.get("value")).upper())]),
)


def v1(verb, **body):
    return {"version": "v1.0", verb: {"surfaceId": "s", **body}}


def made(*rows, data=None, catalog=BASIC, **more):
    body = {"catalogId": catalog, "components": list(rows), **more}
    return v1("createSurface", **body, **({} if data is None else {"dataModel": data}))


class TestV10:
    def test_a_surface_comes_with_components_and_data(self):
        surfaces, problems = fed(made(row("root", "Text", text={"@path": "/a"}), data={"a": "A"}))

        assert not problems
        assert node(surfaces, "root")["props"]["text"] == "A"
        assert surfaces.get("", "s").version == "v1.0"

    def test_all_of_it_or_nothing(self):
        surfaces, problems = fed(made({"component": "Text"}, data={"a": 1}))

        assert problems[0].refused
        assert not len(surfaces)
        assert not surfaces.flush()

    @pytest.mark.parametrize(
        ("body", "path"),
        [({"odd": {}}, "/odd"), ({"dataModel": 5}, "/dataModel"), ({"catalogId": 5}, "/catalogId")],
    )
    def test_what_createSurface_does_not_take(self, body, path):  # noqa: N802 - the verb's name
        surfaces, problems = fed(v1("createSurface", **body))

        assert [(problem.path, problem.refused) for problem in problems] == [(path, True)]
        assert not len(surfaces)

    @pytest.mark.parametrize("names", [("@path", "@call"), ("path", "call")])
    def test_dynamic_values_of_both_drafts(self, names):
        path, call = names
        surfaces, problems = fed(
            made(
                row("root", "Text", text={call: "formatString", "args": {"value": "${/n} ${f}"}}),
                row(
                    "b", "Button", child="f", action={"event": {"name": "x", "context": {"k": {path: "/n"}}}}
                ),
                row(
                    "f",
                    "TextField",
                    label="L",
                    value={path: "/n"},
                    checks=[{"condition": {call: "required", "args": {"value": {path: "/none"}}}}],
                ),
                row("l", "List", children={"componentId": "root", "path": "/items"}),
                data={"n": 1},
            )
        )

        assert not problems
        assert node(surfaces, "root")["props"]["text"] == "1 "
        surfaces.apply(v1("updateComponents", components=[row("root", "Column", children=["f", "b"])]))
        assert node(surfaces, "f")["props"]["validationErrors"] == ["This value is not valid."]

    def test_null_deletes_and_value_is_required(self):
        surfaces, problems = fed(
            made(row("root", "Divider"), data={"a": 1, "b": 2}),
            v1("updateDataModel", path="/a", value=None),
            v1("updateDataModel", path="/b"),
        )

        assert surfaces.get("", "s").data_model == {"b": 2}
        assert [(problem.path, problem.refused) for problem in problems] == [("/value", True)]

    def test_keys_with_an_at_sign(self):
        action = {"event": {"name": "x", "context": {"@@k": {"@@path": 1}}}}
        surfaces, problems = fed(
            made(row("root", "Button", child="t", action=action), row("t", "Text", text="x"))
        )
        assert not problems
        assert node(surfaces, "root")["action"]["context"] == {"@k": {"@path": 1}}

        (problem,) = surfaces.apply(
            v1("updateComponents", components=[row("root", "Text", text={"@foo": 1})])
        )
        assert problem.refused
        assert problem.path == "/components/0/text/@foo"

    def test_catalogs_mix(self):
        surfaces, problems = fed(
            made(
                row("root", "Column", children=["a", "b", "c"]),
                row("a", "Badge", catalogId="urn:other", text="one"),
                row("b", "Text", text={"@call": "shout", "catalogId": "urn:other", "args": {"value": "two"}}),
                row("c", "Text", text={"@call": "formatString", "args": {"value": "${/n}"}}),
                data={"n": 3},
            ),
            catalogs=(BASIC_CATALOG, OTHER),
        )

        html = surfaces.flush()[0].html
        assert not problems
        assert all(part in html for part in (">one</b>", "TWO", ">3<"))
        again = Engine(EngineOptions(catalogs=(BASIC_CATALOG, OTHER))).restore(surfaces.snapshot())
        assert shown(again) == shown(surfaces)

    def test_without_a_default_every_component_names_its_catalog(self):
        surfaces, problems = fed(
            v1(
                "createSurface",
                components=[row("root", "Text", catalogId=BASIC, text="x"), row("a", "Text", text="y")],
            )
        )

        assert [(problem.code, problem.refused) for problem in problems] == [
            ("UNKNOWN_COMPONENT_TYPE", False)
        ]
        assert ">x<" in surfaces.flush()[0].html

    def test_unknown_catalogs(self):
        _, (problem,) = fed(made(row("root", "Text", text="x"), catalog="urn:none"))
        assert (problem.code, problem.refused) == ("CATALOG_NOT_FOUND", True)
        assert problem.message == "Catalog not found: urn:none"

        _, (problem,) = fed(made(row("root", "Text", text="x", catalogId="urn:none")))
        assert (problem.code, problem.path) == ("CATALOG_NOT_FOUND", "/components/0/catalogId")

    def test_the_v1_basic_catalog_is_the_basic_catalog(self):
        _, problems = fed(
            made(
                row("root", "Divider"),
                catalog="https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json",
            )
        )

        assert not problems

    def test_user_messages_go_out(self):
        action = {
            "event": {"name": "go", "userMessage": {"@path": "/n"}, "context": {"k": 1}, "metadata": {}}
        }
        surfaces, _ = fed(
            made(
                row("root", "Button", child="t", action=action),
                row("t", "Text", text="Go"),
                data={"n": "I say"},
            )
        )
        surfaces.flush()

        sent = outgoing(surfaces.act("a1-0").message)

        assert sent["version"] == "v1.0"
        assert sent["action"]["userMessage"] == "I say"
        assert sent["action"]["context"] == {"k": 1}

    def test_an_answer_that_nobody_waits_for_is_refused(self):
        _, (problem,) = fed(
            {"version": "v1.0", "agentFunctionResponse": {"functionCallId": "c1", "value": 1}}
        )

        assert (problem.code, problem.refused) == ("INVALID_FUNCTION_CALL", True)
        assert problem.facts["functionCallId"] == "c1"

    def test_the_surface_type_is_reserved(self):
        _, (problem,) = fed(made(row("root", "Surface", child="x")))

        assert (problem.path, problem.refused) == ("/components/0/component", True)

    @pytest.mark.parametrize(
        "broken",
        [
            {"version": "v1.0"},
            {"version": "v1.0", "createSurface": 5},
            {**made(row("root", "Divider")), "x": 1},
            {**made(row("root", "Divider")), "deleteSurface": {"surfaceId": "s"}},
            v1("updateComponents", components=[]),
            v1("updateDataModel", value=1),
            {"version": "v1.0", "createSurface": {"catalogId": BASIC}},
        ],
    )
    def test_what_is_wrong_is_refused(self, broken):
        _, problems = fed(broken)

        assert [problem for problem in problems if problem.refused]

    def test_versions_may_be_mixed_on_a_surface(self):
        surfaces, problems = fed(
            create(),
            v1("updateComponents", components=[row("root", "Text", text={"@path": "/n"})]),
            components(row("x", "Divider")),
            v1("deleteSurface"),
        )

        assert not problems
        assert not len(surfaces)
