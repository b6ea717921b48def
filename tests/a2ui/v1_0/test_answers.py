"""What a renderer says, in the version of its surface (section 3 of the reading of 1.0)."""

from __future__ import annotations

import pytest

from a2ui import MEDIA_TYPE, Engine, is_media_type, joined_data_models
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.errors import Diagnostic
from a2ui.protocol import answers
from a2ui.protocol.catalog_ids import BASIC_1_0
from tests.a2ui.v1_0.messages import TEXT, C, D, fed, made
from tests.conformance.schemas import valid
from tests.shared import needs_shared


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


class TestMediaTypes:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (MEDIA_TYPE, True),
            ("application/json+a2ui", True),
            ("Application/A2UI+JSON; charset=utf-8", True),
            ("application/json", False),
            ("", False),
        ],
    )
    def test_both_names_are_known(self, text, expected):
        assert is_media_type(text) is expected


class TestMetadataOfMessages:
    @needs_shared
    def test_it_fits_the_schemas(self):
        surfaces, _ = fed(made(TEXT, sendDataModel=True, dataModel={"a": 1}, version=C))
        engine = Engine()
        which = {"version": "v1_0"}

        found = engine.metadata() | surfaces.data_models("")
        assert valid(found["a2uiRendererCapabilities"], "renderer_capabilities.json", **which)
        assert valid(found["a2uiRendererDataModel"], "renderer_data_model.json", **which)
        (offered,) = engine.agent_capabilities().values()
        assert valid({"v1.0": offered}, "agent_capabilities.json", **which)

    def test_data_models_of_several_versions_are_one_for_who_reads_them_together(self):
        old = {"surfaceId": "o", "catalogId": BASIC_CATALOG.id, "sendDataModel": True}
        surfaces, _ = fed(
            {"version": "v0.9", "createSurface": old}, made(TEXT, sendDataModel=True, dataModel={"a": 1})
        )

        joined = joined_data_models(surfaces.data_models(""))
        assert joined is not None
        assert joined["surfaces"].keys() == {"o", "s"}
        assert joined_data_models({}) is None
