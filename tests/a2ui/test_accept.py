"""Stage one: what a message may be, what is refused, what is tolerated and reported."""

from __future__ import annotations

import pytest

from a2ui import Engine, EngineOptions, Limits, joined_data_models
from a2ui.protocol import catalog_ids
from tests.a2ui.programs import BASIC, call, components, create, data, message, path, row, run, surface


def refused(problems):
    return [problem for problem in problems if problem.refused]


def fresh(**options):
    return Engine(EngineOptions(**options)).surfaces()


class TestEnvelope:
    @pytest.mark.parametrize(
        ("broken", "paths"),
        [
            (None, [""]),
            ([], [""]),
            ({}, ["/version", ""]),
            ({"version": "v0.9"}, [""]),
            ({"version": "0.9", "deleteSurface": {"surfaceId": "s"}}, ["/version"]),
            ({"version": "v1.1", "deleteSurface": {"surfaceId": "s"}}, ["/version"]),
            ({"version": "v0.9", "deleteSurface": {"surfaceId": "s"}, "x": 1}, ["/x"]),
            ({"version": "v0.9", "deleteSurface": []}, ["/deleteSurface"]),
            ({"version": "v0.9", "deleteSurface": {"surfaceId": 5, "y~/z": 1}}, ["/surfaceId", "/y~0~1z"]),
            ({"version": "v0.9", "deleteSurface": {"surfaceId": ""}}, ["/surfaceId"]),
            ({"version": "v0.9", "createSurface": {"surfaceId": "s"}}, ["/catalogId"]),
            (create(sendDataModel="yes"), ["/sendDataModel"]),
            (message("updateComponents", components={}), ["/components"]),
            (message("updateDataModel", path=None), ["/path"]),
            ({**create(), "deleteSurface": {"surfaceId": "s"}}, [""]),
        ],
    )
    def test_every_problem_is_reported(self, broken, paths):
        problems = fresh().apply(broken)

        assert [problem.path for problem in problems] == paths
        assert {problem.code for problem in problems} == {"VALIDATION_FAILED"}
        assert all(problem.refused for problem in problems)

    @pytest.mark.parametrize("verb", ["beginRendering", "surfaceUpdate", "dataModelUpdate"])
    def test_v08_is_named(self, verb):
        problems = fresh().apply({"version": "v0.9", verb: {}})

        assert f"{verb} belongs to v0.8" in problems[0].message

    @pytest.mark.parametrize("version", ["v0.9", "v0.9.1"])
    def test_known_versions(self, version):
        surfaces = fresh()

        assert not surfaces.apply({**create(), "version": version})
        assert surfaces.get("", "s").version == version

    def test_a_refused_message_does_not_stop_the_next(self):
        surfaces = fresh()

        assert refused(surfaces.apply(components(row("root", "Text", text="x"))))
        assert not surfaces.apply(create())

    def test_an_error_message_has_exactly_the_fields_of_the_schema(self):
        (problem,) = fresh().apply(create(sendDataModel=1))

        assert problem.as_message() == {
            "version": "v0.9",
            "error": {
                "code": "VALIDATION_FAILED",
                "surfaceId": "s",
                "path": "/sendDataModel",
                "message": "`sendDataModel` must be true or false; got 1.",
            },
        }


class TestLifecycle:
    def test_twice(self):
        surfaces = run(create(theme={"primaryColor": "#112233"}))

        (problem,) = surfaces.apply(create(theme={"primaryColor": "#445566"}))

        assert problem.code == "STATE_ERROR"
        assert surfaces.get("", "s").theme == {"primaryColor": "#112233"}

    def test_owners_do_not_see_each_other(self):
        surfaces = run(create())

        assert not surfaces.apply(create(), owner="other")
        assert refused(surfaces.apply(data(1), owner="third"))
        surfaces.apply(data({"a": 1}), owner="other")
        assert surfaces.get("", "s").data_model == {}
        assert len({surface.dom_id for surface in surfaces}) == 2

    def test_delete_and_create_again(self):
        surfaces, _ = surface(row("root", "Text", text="x"))

        surfaces.apply(message("deleteSurface"))
        surfaces.apply(create())

        assert [(change.kind, change.dom_id) for change in surfaces.flush()] == [
            ("deleted", "a1"),
            ("created", "a2"),
        ]

    def test_delete_of_something_the_page_never_saw(self):
        surfaces = run(create(), message("deleteSurface"), message("deleteSurface", "unknown"))

        assert surfaces.flush() == []
        assert len(surfaces) == 0

    def test_unknown_catalog(self):
        (problem,) = fresh().apply(create(catalogId="https://example.org/mine.json"))

        assert problem.code == "CATALOG_NOT_FOUND"
        assert problem.facts["supported"][0] == BASIC

    @pytest.mark.parametrize(
        "alias", [*catalog_ids.BASIC_ALIASES, catalog_ids.BASIC.replace("https", "HTTP").upper()]
    )
    def test_aliases(self, alias):
        surfaces = run(create(catalogId=alias))

        assert surfaces.get("", "s").catalog_id == alias

    def test_the_minimal_catalog_has_five_components_and_capitalize(self):
        surfaces = run(
            create(catalogId=catalog_ids.MINIMAL),
            components(
                row("root", "Text", text=call("capitalize", value="abc")), row("x", "Slider", max=1, value=1)
            ),
        )

        assert "Abc" in surfaces.flush()[0].html

    def test_number_of_surfaces(self):
        surfaces = fresh(limits=Limits(surfaces=1))
        surfaces.apply(create("one"))

        (problem,) = surfaces.apply(create("two"))

        assert (problem.code, problem.facts["limit"]) == ("budget_exceeded", "surfaces")


class TestComponents:
    @pytest.mark.parametrize(
        ("entry", "where"),
        [
            ("x", "/components/1"),
            ({"component": "Text"}, "/components/1/id"),
            ({"id": "", "component": "Text"}, "/components/1/id"),
            ({"id": 3, "component": "Text"}, "/components/1/id"),
            ({"id": "new"}, "/components/1/component"),
            ({"id": "new", "component": 3}, "/components/1/component"),
        ],
    )
    def test_one_bad_entry_refuses_the_message(self, entry, where):
        surfaces, only = surface(row("root", "Text", text="before"))

        problems = refused(surfaces.apply(components(row("root", "Text", text="after"), entry)))

        assert [problem.path for problem in problems] == [where]
        assert "before" in only.html()

    def test_all_bad_entries_are_listed(self):
        surfaces = run(create())

        problems = surfaces.apply(components({}, {"id": "a"}, "x"))

        assert sorted(p.path for p in problems) == [
            "/components/0/id",
            "/components/1/component",
            "/components/2",
        ]

    def test_an_empty_list_is_fine(self):
        assert not run(create()).apply(components())

    def test_known_id_without_type_keeps_it_and_loses_the_other_properties(self):
        surfaces, only = surface(row("root", "Text", text="x", variant="h1"))

        assert not refused(surfaces.apply(components({"id": "root", "text": "y"})))
        assert only.html() == '<div id="a1" class="a2-surface"><div id="a1-0" class="a2-t">y</div></div>'

    def test_the_last_of_two_with_one_id_wins(self):
        surfaces = run(create())

        (problem,) = surfaces.apply(components(row("root", "Text", text="1"), row("root", "Text", text="2")))

        assert (problem.code, problem.path, problem.refused) == (
            "VALIDATION_FAILED",
            "/components/1/id",
            False,
        )
        assert ">2</div>" in surfaces.flush()[0].html

    def test_unknown_type_is_reported_once_per_id(self):
        surfaces = run(create())

        (problem,) = surfaces.apply(components(row("root", "Sparkline")))
        again = surfaces.apply(components(row("root", "Sparkline")))

        assert (problem.code, problem.path) == ("UNKNOWN_COMPONENT_TYPE", "/components/0/component")
        assert again == []
        assert "Sparkline" not in surfaces.flush()[0].html

    def test_developers_see_the_unknown_type(self):
        surfaces = run(create(), components(row("root", "<b>")), debug=True)

        assert "&lt;b&gt;" in surfaces.flush()[0].html

    @pytest.mark.parametrize(
        ("definition", "where"),
        [
            (row("root", "Text", text="x", colour="red"), "/components/0/colour"),
            (row("root", "Text", text="x", variant="h9"), "/components/0/variant"),
            (row("root", "Text"), "/components/0/text"),
            (row("root", "Text", text=None), ""),
            (row("root", "Text", text={"literalString": "x"}), "/components/0/text"),
            (row("root", "Column", children=5), "/components/0/children"),
            (row("root", "Column", children=["a", 1]), "/components/0/children/1"),
            (row("root", "Column", children={"path": "/a"}), "/components/0/children"),
            (row("root", "Tabs", tabs="x"), "/components/0/tabs"),
            (row("root", "Tabs", tabs=[{"title": "a"}]), "/components/0/tabs/0"),
            (row("root", "ChoicePicker", options=[1], value=[]), "/components/0/options/0"),
            (
                row("root", "CheckBox", label="a", value=True, checks=[{"message": "m"}]),
                "/components/0/checks/0",
            ),
            (row("root", "Button", child="a", action={"event": {}}), "/components/0/action/event"),
            (row("root", "Text", text=path("/a~2")), "/components/0/text"),
            (row("root", "Text", text=path("/__proto__/x")), "/components/0/text"),
        ],
    )
    def test_bad_properties_are_tolerated_and_reported(self, definition, where):
        surfaces = run(create())

        problems = surfaces.apply(components(definition))

        assert [problem.path for problem in problems] == ([where] if where else [])
        assert not refused(problems)
        assert 'id="a1-0"' in surfaces.flush()[0].html

    def test_strict_refuses_them(self):
        surfaces = run(create(), strict=True)

        assert refused(surfaces.apply(components(row("root", "Text", text="x", colour="red"))))
        assert len(surfaces.get("", "s").store.by_id) == 0

    def test_number_of_components(self):
        surfaces = run(create(), limits=Limits(components=2))

        problems = surfaces.apply(components(*[row(name, "Divider") for name in "abc"]))

        assert [(p.code, p.facts["limit"]) for p in refused(problems)] == [("budget_exceeded", "components")]

    def test_many_problems_are_capped(self):
        surfaces = run(create(), limits=Limits(errors=5))

        problems = surfaces.apply(components(*[row(f"c{n}", "Divider", x=1) for n in range(20)]))

        assert len(problems) == 6
        assert "15 more problems" in problems[-1].message


class TestCycles:
    @pytest.mark.parametrize(
        "rows",
        [
            [row("root", "Card", child="root")],
            [row("root", "Column", children=["a"]), row("a", "Card", child="root")],
            [row("root", "List", children={"path": "/l", "componentId": "root"})],
            [
                row("a", "Column", children={"path": "k", "componentId": "b"}),
                row("b", "List", children={"path": "/l", "componentId": "a"}),
            ],
            [
                row("x", "Column", children={"path": "k", "componentId": "x"}),
                row("y", "Row", children=["x", "y"]),
            ],
        ],
    )
    def test_refused(self, rows):
        (problem,) = refused(run(create()).apply(components(*rows)))

        assert problem.code == "VALIDATION_FAILED"
        assert problem.facts["cycle"][0] == problem.facts["cycle"][-1]

    @pytest.mark.parametrize(
        "rows",
        [
            [row("root", "Column", children=["x", "x"]), row("x", "Text", text="twice")],
            [row("root", "Column", children={"path": "kids", "componentId": "root"})],
            [
                row("root", "Column", children={"path": "kids", "componentId": "a"}),
                row("a", "Card", child="b"),
                row("b", "Row", children=["root", "root"]),
            ],
        ],
    )
    def test_accepted(self, rows):
        assert not run(create()).apply(components(*rows))

    def test_a_refused_cycle_leaves_the_surface_as_it_was(self):
        surfaces, only = surface(row("root", "Card", child="b"), row("b", "Text", text="first"))
        before = only.html()

        surfaces.apply(components(row("b", "Card", child="root")))

        assert surfaces.flush() == []
        assert only.html() == before


class TestData:
    def test_reserved_names_inside_values_are_dropped_and_reported(self):
        surfaces = run(create())

        (problem,) = surfaces.apply(data({"a": {"__proto__": 1, "b": 2}}))

        assert (problem.path, problem.refused) == ("/a/__proto__", False)
        assert surfaces.get("", "s").data_model == {"a": {"b": 2}}

    @pytest.mark.parametrize(
        ("where", "code"),
        [
            ("/a/b", "DATA_ERROR"),
            ("/constructor", "VALIDATION_FAILED"),
            ("/x~2", "VALIDATION_FAILED"),
            ("/l/99999", "budget_exceeded"),
        ],
    )
    def test_refused_writes(self, where, code):
        surfaces = run(create(), data({"a": 1, "l": []}))

        (problem,) = surfaces.apply(data(1, where))

        assert (problem.code, problem.refused) == (code, True)
        assert surfaces.get("", "s").data_model == {"a": 1, "l": []}

    def test_null_is_stored_and_absent_deletes(self):
        surfaces = run(
            create(), data({"a": 1, "b": 2}), data(None, "/a"), message("updateDataModel", path="/b")
        )

        assert surfaces.get("", "s").data_model == {"a": None}

    def test_client_data_model(self):
        surfaces = run(create("a", sendDataModel=True), create("b"), data({"x": 1}, surface="a"))

        assert joined_data_models(surfaces.data_models("")) == {
            "version": "v0.9",
            "surfaces": {"a": {"x": 1}},
        }
        assert joined_data_models(surfaces.data_models("other")) is None
