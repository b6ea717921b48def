"""What may stand beside the properties of a component, and catalogs for each (sections 1, 5)."""

from __future__ import annotations

import pytest

from a2ui import Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0
from a2ui.functions.registry import Function, FunctionRegistry
from a2ui.protocol.catalog_ids import BASIC_1_0
from tests.a2ui.page import shown
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import Note, fed, made, node, said

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
