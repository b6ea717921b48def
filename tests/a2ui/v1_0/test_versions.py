"""What each version of the protocol is read as (section 1, 3 of the reading of 1.0)."""

from __future__ import annotations

import json

import pytest

from a2ui import Engine
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
