"""Surfaces of a session as front ends of each version get them: from nothing, and row by row."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from a2ui import Surface, SurfaceSet
from a2ui.compose import restated
from a2ui.programs.tree import tree
from envelopes.protocol.rows import Row
from envelopes.session_state.state import apply_to_surfaces
from envelopes.transports.live.presenter.deliveries import CHANNEL_CHARACTERS, surface_channel
from envelopes.transports.live.surfaces import VERSIONS, Mirror, Version, initial
from envelopes.transports.live.surfaces.versions import version_for
from envelopes.types import JsonObject
from tests.envelopes.transports.live.surfaces.material import BASIC, BASIC_1_0, ENGINE, exactly, reader_of
from tests.shared import SHARED, needs_shared

ALL: tuple[Version, ...] = ("0.9", "0.9.1", "1.0")
AT = datetime(2026, 11, 29, tzinfo=UTC)


def part(seq: int, *messages: JsonObject, actor: str = "agent") -> Row:
    data = {"part": {"data": {"messages": list(messages)}, "metadata": {"partType": "a2ui-surface"}}}
    return row(seq, "part", {**data, "turnState": "complete"}, part_type="a2ui-surface", actor=actor)


def edit(seq: int, *ops: JsonObject, surface: str = "s") -> Row:
    return row(seq, "edit", {"owner": "agent", "surfaceId": surface, "ops": list(ops)})


def row(seq: int, kind: str, data: JsonObject, **more: Any) -> Row:
    return Row(seq=seq, kind=kind, data=data, at=AT, audience="delivered", **more)


def create(surface: str = "s", **more: Any) -> JsonObject:
    return {"version": "v0.9", "createSurface": {"surfaceId": surface, "catalogId": BASIC, **more}}


def components(*rows: JsonObject, surface: str = "s", version: str = "v0.9") -> JsonObject:
    return {"version": version, "updateComponents": {"surfaceId": surface, "components": list(rows)}}


def write(path: str, value: Any, surface: str = "s", version: str = "v0.9") -> JsonObject:
    return {"version": version, "updateDataModel": {"surfaceId": surface, "path": path, "value": value}}


def text(name: str, path: str) -> JsonObject:
    return {"id": name, "component": "Text", "text": {"path": path}}


COLUMN = {"id": "root", "component": "Column", "children": {"componentId": "item", "path": "/l"}}


class Elsewhere:
    """Ours, and a reader of each version that hears of every row."""

    def __init__(self) -> None:
        self.ours: SurfaceSet = ENGINE.surfaces()
        self.mirror = Mirror(self.ours)
        self.readers = {version: ENGINE.surfaces() for version in ALL}
        self.heard: list[JsonObject] = []

    def take(self, row: Row) -> None:
        assert [found for found in apply_to_surfaces(self.ours, row) if found.refused] == []
        self.ours.skip()
        self.heard = []
        for update in self.mirror.follow(row):
            for version, reader in self.readers.items():
                messages = update.messages(version)
                assert {message["version"] for message in messages} <= {VERSIONS[version].name}
                reader_of(messages, reader)
            self.heard += update.messages("0.9")
        self.agree()

    def agree(self) -> None:
        for version, reader in self.readers.items():
            assert {one.id for one in reader} == {one.id for one in self.ours}
            for surface in self.ours:
                there = reader.get("reader", surface.id)
                assert there is not None
                assert exactly(there.data_model) == exactly(surface.data_model)
                form = VERSIONS[version].form
                assert _by_id(restated(there, form).components) == _by_id(restated(surface, form).components)


def _by_id(rows: list[JsonObject]) -> dict[str, JsonObject]:
    return {row["id"]: row for row in rows}


def verbs(messages: list[JsonObject]) -> list[str]:
    return [next(key for key in message if key != "version") for message in messages]


def test_a_surface_from_its_making_to_its_end() -> None:
    there = Elsewhere()
    model = {"l": [{"n": "one"}, {"n": "two"}], "name": ""}

    there.take(part(1, create(sendDataModel=True), write("/", model), components(COLUMN, text("item", "n"))))
    assert verbs(there.heard) == ["createSurface", "updateDataModel", "updateComponents"]
    assert there.heard[0]["createSurface"]["sendDataModel"] is True

    there.take(edit(2, {"op": "replace", "path": "/name", "value": "Ada"}))
    assert there.heard == [write("/name", "Ada")]

    there.take(edit(3, {"op": "remove", "path": "/l/0"}))
    assert there.heard == [write("/l", [{"n": "two"}])]

    there.take(part(4, components(text("item", "m")), write("/l/0/m", "three")))
    assert there.heard == [write("/l/0/m", "three"), components(text("item", "m"))]

    there.take(part(5, {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}}))
    assert verbs(there.heard) == ["deleteSurface"]


def test_a_surface_that_is_made_again_goes_first() -> None:
    there = Elsewhere()
    there.take(part(1, create(), write("/a", 1)))
    gone = {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}}
    there.take(part(2, gone, create(), write("/b", 2)))

    assert verbs(there.heard) == ["deleteSurface", "createSurface", "updateDataModel"]


def test_one_that_comes_and_goes_in_a_row_is_never_told() -> None:
    there = Elsewhere()
    there.take(part(1, create(), {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}}))

    assert there.heard == []


def test_rows_that_change_nothing_say_nothing() -> None:
    there = Elsewhere()
    there.take(part(1, create(), write("/a", 1)))
    there.take(edit(2, {"op": "replace", "path": "/a", "value": 1}))
    assert there.heard == []
    there.take(row(3, "message", {"text": "hello"}))
    assert there.heard == []


def test_what_1_0_says_is_lowered_for_those_that_are_older() -> None:
    there = Elsewhere()
    rows = [
        {"id": "root", "component": "Column", "children": ["name", "go"]},
        {"id": "name", "component": "TextField", "label": "Name", "value": {"@path": "/name"},
         "placeholder": "Ada", "@accessibility": {"label": "Your name", "live": "polite"}},
        {"id": "go", "component": "Button", "child": "t", "action": {"event": {"name": "go", "userMessage": "Going",
         "context": {"who": {"@path": "/name"}, "raw": {"@@path": "x"}}}}},
        {"id": "t", "component": "Text", "text": "# Go"},
    ]  # fmt: skip
    made = {
        "surfaceId": "s",
        "catalogId": BASIC_1_0,
        "components": rows,
        "dataModel": {"name": "Ada", "x": None},
    }
    there.take(part(1, {"version": "1.0", "createSurface": made}))

    create_there, data, define = there.heard
    assert create_there["createSurface"] == {"surfaceId": "s", "catalogId": BASIC}
    assert data["updateDataModel"]["value"] == {"name": "Ada", "x": None}
    named = _by_id(define["updateComponents"]["components"])
    assert named["name"] == {
        "id": "name",
        "component": "TextField",
        "label": "Name",
        "value": {"path": "/name"},
        "accessibility": {"label": "Your name"},
    }

    there.take(part(2, write("/name", None, version="1.0")))
    assert there.heard == [{"version": "v0.9", "updateDataModel": {"surfaceId": "s", "path": "/name"}}]


def test_what_v0_8_says_is_said_again_in_whole() -> None:
    there = Elsewhere()
    told = [
        {"surfaceUpdate": {"surfaceId": "s", "components": [
            {"id": "root", "component": {"Text": {"text": {"path": "/a"}}}}]}},
        {"dataModelUpdate": {"surfaceId": "s", "contents": [{"key": "a", "valueString": "one"}]}},
        {"beginRendering": {"surfaceId": "s", "root": "root"}},
    ]  # fmt: skip
    there.take(part(1, *told))
    assert verbs(there.heard)[0] == "createSurface"
    there.take(
        part(2, {"dataModelUpdate": {"surfaceId": "s", "contents": [{"key": "a", "valueString": "two"}]}})
    )

    assert there.heard[0]["updateDataModel"]["value"] in ({"a": "two"}, "two")


def test_surfaces_that_were_built_anew_are_the_same_ones() -> None:
    there = Elsewhere()
    there.take(part(1, create(), write("/", {"a": 1, "b": [1, 2]}), components(text("root", "/a"))))
    there.ours = ENGINE.restore(there.ours.snapshot())
    there.mirror.moved_to(there.ours)

    there.take(edit(2, {"op": "replace", "path": "/a", "value": 2}))
    assert verbs(there.heard) == ["updateDataModel"]


def test_two_agents_with_one_id() -> None:
    there = Elsewhere()
    apply_to_surfaces(there.ours, row_one := part(1, create(), write("/a", 1)))
    apply_to_surfaces(there.ours, row_two := part(2, create(), write("/a", 2), actor="other"))

    assert [update.owner for update in there.mirror.follow(row_one)] == ["agent"]
    (update,) = there.mirror.follow(row_two)
    assert update.owner == "other" and update.messages("0.9")[1] == write("/a", 2)
    assert [surface.owner for surface, _ in there.mirror.initial("0.9")] == ["agent", "other"]


def test_messages_are_made_once_for_all_readers_of_a_version() -> None:
    there = Elsewhere()
    made = part(1, create(), write("/a", 1))
    apply_to_surfaces(there.ours, made)
    (update,) = there.mirror.follow(made)

    assert update.messages("1.0") is update.messages("1.0")
    assert update.messages("1.0") != update.messages("0.9")


def test_what_is_asked_for_later_is_said_as_it_was_then() -> None:
    there = Elsewhere()
    rows = [
        part(1, create(), write("/", {"a": 1, "b": 2}), components(text("root", "/a"))),
        part(2, components(text("root", "/b")), write("/a", 2)),
        part(3, write("/b", None, version="1.0")),
    ]
    then = there.ours, there.mirror
    kept = []
    for row in rows:
        assert [one for one in apply_to_surfaces(then[0], row) if one.refused] == []
        kept += then[1].follow(row)
    for row in (part(4, create("t")), part(5, components(text("root", "/c")), write("/", {"c": 3}))):
        apply_to_surfaces(then[0], row)
        then[1].follow(row)

    assert kept[0].messages("0.9")[1:] == [
        write("/a", 1),
        write("/b", 2),
        components(text("root", "/a")),
    ] or kept[0].messages("0.9")[1:] == [write("/", {"a": 1, "b": 2}), components(text("root", "/a"))]
    assert kept[1].messages("0.9") == [write("/a", 2), components(text("root", "/b"))]
    assert kept[2].messages("0.9") == [
        {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "path": "/b"}}
    ]
    assert kept[2].messages("1.0") == [write("/b", None, version="1.0")]


@pytest.mark.parametrize(
    ("offered", "version"),
    [
        ([], "1.0"),
        (["v0.9"], "0.9"),
        (["v0.9", "v0.9.1"], "0.9.1"),
        (["1.0", "v0.9"], "1.0"),
        (["v1.0"], "1.0"),
        ([3, "2.0"], "1.0"),
    ],
)
def test_the_version_of_a_reader(offered: list[object], version: Version) -> None:
    assert version_for(offered) == version


@needs_shared
@pytest.mark.parametrize("version", ALL)
def test_the_official_examples_look_the_same_there(version: Version) -> None:
    """Each is played by ours; a reader that gets nothing but the surface as it is shows the same tree.

    Where it reads another form, properties may be said in other words (tests/a2ui/test_conversion.py), so all but these
    is compared.
    """
    assert SHARED is not None
    examples = sorted((SHARED / "spec" / "a2ui" / "specification").glob("v*/catalogs/*/examples/*.json"))
    assert len(examples) > 40
    compared = [different for path in examples if (different := _differences(path, version)) is not None]

    assert len(compared) > 40
    assert [found for found in compared if found] == []


def _differences(path: Path, version: Version) -> list[str] | None:
    """The surfaces that look different; None where the version cannot say all of it."""
    found = json.loads(path.read_text(encoding="utf-8"))
    ours, there = ENGINE.surfaces(), ENGINE.surfaces()
    for message in found if isinstance(found, list) else found.get("messages", []):
        ours.apply(message, owner="agent")
    if any(
        note.kind == "lost" for surface in ours for note in restated(surface, VERSIONS[version].form).notes
    ):
        return None
    for surface in ours:
        reader_of(initial(surface, version), there)
    different = []
    for surface in ours:
        other = there.get("reader", surface.id)
        whole = VERSIONS[version].together == (surface.version in ("1.0", "v1.0"))
        if other is None or _nodes(other, whole=whole) != _nodes(surface, whole=whole):
            different.append(f"{path.parent.parent.name}/{path.name}: {surface.id}")
    return different


def _nodes(surface: Surface, *, whole: bool) -> list[JsonObject]:
    nodes: list[JsonObject] = tree(surface)["nodes"]
    told = ("at", "id", "scope", "type", "state", "action")
    return nodes if whole else [{key: node.get(key) for key in told} for node in nodes]


def test_no_two_surfaces_have_one_channel_however_long_their_ids_are() -> None:
    long = "x" * 600
    given = ["s", "a/b", "a%2Fb", long, long + "y", long.upper(), "\u00e9" * 200]
    # And those whose ids are what became of others.
    ids = {*given, *(surface_channel("agent", name).split("/", 2)[2] for name in given)}
    channels = {surface_channel("agent", name) for name in ids}
    assert len(channels) == len(ids)
    assert all(len(made) <= CHANNEL_CHARACTERS for made in channels)
