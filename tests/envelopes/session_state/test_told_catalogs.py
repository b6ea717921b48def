"""Which catalogs models are told of (`BEACH_A2UI_CATALOGS`, `Actor.catalogs`)."""

from __future__ import annotations

from typing import Any

from a2ui import BASIC_CATALOG_1_0, BEACH_CATALOG_1_0
from envelopes.checks.registered import inline_catalogs
from envelopes.registries.catalogs import Own, catalogs
from envelopes.session_state.engines import capabilities, engine_for, taught_catalogs

ACME = BASIC_CATALOG_1_0.extended("https://acme.example/catalog.json")
OLDER = BASIC_CATALOG_1_0.extended("https://acme.example/older.json", protocol="0.9")


def test_ours_is_there_and_nobody_is_told_by_default() -> None:
    engine = engine_for("en", "UTC")

    assert engine.catalogs.find(BEACH_CATALOG_1_0.id) is not None
    assert taught_catalogs(engine) == (BASIC_CATALOG_1_0,)
    assert capabilities(engine) is None


def test_models_read_of_those_that_the_setting_names_and_of_applications(settings: Any) -> None:
    settings.BEACH_A2UI_CATALOGS = [BEACH_CATALOG_1_0.id]
    with catalogs.including(Own(ACME.id, ACME)), catalogs.including(Own(OLDER.id, OLDER)):
        engine = engine_for("en", "UTC")

        assert taught_catalogs(engine) == (BEACH_CATALOG_1_0, ACME, BASIC_CATALOG_1_0)
        assert taught_catalogs(engine, [ACME.id, "https://nowhere.example/"]) == (ACME,)
    assert inline_catalogs(None) == []


def test_a_name_that_is_no_catalog_is_told_at_the_start(settings: Any) -> None:
    settings.BEACH_A2UI_CATALOGS = ["https://nowhere.example/catalog.json"]

    (problem,) = inline_catalogs(None)
    assert problem.id == "envelopes.E007"
    assert "https://nowhere.example/catalog.json" in problem.msg
    assert taught_catalogs(engine_for("en", "UTC")) == (BASIC_CATALOG_1_0,)
