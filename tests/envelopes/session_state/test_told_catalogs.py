"""What models are told of catalogs beside the standard's (`BEACH_A2UI_CATALOGS`)."""

from __future__ import annotations

from typing import Any

from a2ui import BEACH_CATALOG_1_0, for_prompt
from envelopes.checks.registered import inline_catalogs
from envelopes.session_state.engines import capabilities, engine_for, told_catalogs


def test_ours_is_there_and_nobody_is_told_by_default() -> None:
    engine = engine_for("en", "UTC")

    assert engine.catalogs.find(BEACH_CATALOG_1_0.id) is not None
    assert told_catalogs(engine) == []
    assert capabilities(engine) is None


def test_models_read_of_those_that_the_setting_names(settings: Any) -> None:
    settings.BEACH_A2UI_CATALOGS = [BEACH_CATALOG_1_0.id]

    assert told_catalogs(engine_for("en", "UTC")) == [for_prompt(BEACH_CATALOG_1_0)]
    assert inline_catalogs(None) == []


def test_a_name_that_is_no_catalog_is_told_at_the_start(settings: Any) -> None:
    settings.BEACH_A2UI_CATALOGS = ["https://nowhere.example/catalog.json"]

    (problem,) = inline_catalogs(None)
    assert problem.id == "envelopes.E007"
    assert "https://nowhere.example/catalog.json" in problem.msg
    assert told_catalogs(engine_for("en", "UTC")) == []
