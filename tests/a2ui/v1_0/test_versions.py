"""What each version of the protocol is read as (section 1, 3 of the reading of 1.0)."""

from __future__ import annotations

import json

import pytest

from a2ui import Engine
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.protocol.catalog_ids import BASIC_1_0
from a2ui.protocol.dialects import BARE, LATE, MARKED, NOTATIONS, PLAIN, V0_9, dialect_of
from tests.a2ui.page import shown
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, C, D, button, fed, made, node, said, sent


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


class TestSurfaceIds:
    def test_one_that_comes_again_after_deletion_is_told_once(self):
        surfaces, _ = fed(made(TEXT))
        told = []
        for _ in range(3):
            surfaces.apply(said("deleteSurface"))
            told.append([(one.code, one.path, one.refused) for one in surfaces.apply(made(TEXT))])

        assert told == [[("SURFACE_ID_REUSED", "/surfaceId", False)], [], []]

    def test_it_is_told_of_its_owner_only_and_not_in_0_9(self):
        surfaces, _ = fed(made(TEXT), said("deleteSurface"))
        old = {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}

        assert not surfaces.apply(made(TEXT), owner="other")
        assert not surfaces.apply({"version": "v0.9", "createSurface": old})

    def test_it_is_known_in_a_snapshot_and_undone_with_an_attempt(self):
        surfaces, _ = fed(made(TEXT))
        surfaces.flush()
        before = surfaces.snapshot()
        attempt = surfaces.attempt()
        surfaces.apply(said("deleteSurface"))
        assert [one.code for one in surfaces.apply(made(TEXT))] == ["SURFACE_ID_REUSED"]
        attempt.undo()
        assert surfaces.snapshot() == before

        surfaces.apply(said("deleteSurface"))
        surfaces.flush()
        restored = Engine().restore(surfaces.snapshot())
        assert [one.code for one in restored.apply(made(TEXT))] == ["SURFACE_ID_REUSED"]

    def test_only_the_last_few_hundred_are_remembered(self):
        surfaces, _ = fed()
        for number in range(300):
            for message in (made(TEXT), said("deleteSurface")):
                (body,) = [message[key] for key in message if key != "version"]
                body["surfaceId"] = f"s{number}"
                surfaces.apply(message)
        surfaces.flush()

        assert len(surfaces.snapshot()["former"]) == 200


class TestMetadata:
    def test_extensions_of_a_surface_are_carried_also_into_a_snapshot(self):
        extensions = {"extensions": {"größe": {"a": [1]}, "a2ui_x": None}}
        surfaces, problems = fed(made(TEXT, metadata=extensions))
        surfaces.flush()

        assert not problems
        assert surfaces.get("", "s").metadata == extensions
        assert Engine().restore(surfaces.snapshot()).get("", "s").metadata == extensions

    @pytest.mark.parametrize(
        ("given", "path"),
        [
            ({"extensions": {"a:b": 1}}, "/metadata/extensions/a:b"),
            ({"extensions": []}, "/metadata/extensions"),
            ({"more": 1}, "/metadata/more"),
            (5, "/metadata"),
        ],
    )
    def test_what_is_wrong_with_them_is_told_and_refused_by_strict_mode(self, given, path):
        surfaces, (problem,) = fed(made(TEXT, metadata=given))
        assert (problem.path, problem.refused) == (path, False)
        assert surfaces.get("", "s") is not None

        assert any(
            one.path == path and one.refused for one in fed(made(TEXT, metadata=given), strict=True)[1]
        )

    @pytest.mark.parametrize("many", [["x"] * 30_000, "x" * 30_000, {f"k{n}": {} for n in range(10_000)}])
    def test_they_are_bounded(self, many):
        given = {"extensions": {"vendor": many}}
        surfaces, (problem,) = fed(made(TEXT, metadata=given))
        assert (problem.code, problem.refused, problem.facts["limit"]) == (
            "budget_exceeded",
            True,
            "metadata_size",
        )
        assert surfaces.get("", "s") is None

        _, (problem,) = fed(made(row("root", "Text", text="x", **{"@metadata": given})))
        assert (problem.code, problem.path, problem.refused) == (
            "budget_exceeded",
            "/components/0/@metadata",
            True,
        )
