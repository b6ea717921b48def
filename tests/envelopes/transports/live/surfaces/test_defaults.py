"""What a form shows where its data has nothing, a reader who knows no forms has in its data."""

from __future__ import annotations

from typing import Any

from a2ui.protocol.catalog_ids import BEACH
from envelopes.session_state.state import apply_to_surfaces
from envelopes.transports.live.surfaces import Mirror, Version
from envelopes.types import JsonObject
from tests.a2ui.own import engine
from tests.envelopes.transports.live.surfaces.material import exactly, reader_of
from tests.envelopes.transports.live.surfaces.test_mirror import ALL, components, edit, part, write

FIELDS = [
    {"id": "branch", "label": "Branch", "default": "main"},
    {"id": "jobs", "label": "Jobs", "type": "number", "default": 4},
    {"id": "tests", "label": "Tests", "type": "checkbox", "default": True},
    {"id": "note", "label": "Note"},
]


def form(fields: list[JsonObject] = FIELDS, at: str = "/run/with") -> JsonObject:
    action = {"event": {"name": "go"}}
    return {"id": "root", "component": "Form", "fields": fields, "value": {"path": at}, "action": action}


class Readers:
    """Ours, and one reader of each version that knows the Basic Catalog, and one that knows ours."""

    def __init__(self) -> None:
        self.ours = engine().surfaces()
        self.mirror = Mirror(self.ours)
        self.basic = {version: engine().surfaces() for version in ALL}
        self.whole = engine().surfaces()

    def take(self, row: Any) -> None:
        assert [one for one in apply_to_surfaces(self.ours, row) if one.refused] == []
        for update in self.mirror.follow(row):
            for version, reader in self.basic.items():
                reader_of(update.messages(version, basic=True), reader)
            reader_of(update.messages("1.0"), self.whole)
        (here,), (whole,) = self.ours, self.whole
        assert exactly(whole.data_model) == exactly(here.data_model)
        for version, reader in self.basic.items():
            anew = engine().surfaces()
            ((_, messages),) = self.mirror.initial(version, basic=True)
            reader_of(messages, anew)
            assert exactly(data(anew)) == exactly(data(reader))

    def told(self, version: Version = "0.9") -> Any:
        return data(self.basic[version])


def data(surfaces: Any) -> Any:
    (surface,) = surfaces
    return surface.data_model


def made(model: Any, *rows: JsonObject) -> Readers:
    there = Readers()
    body = {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BEACH}}
    there.take(part(1, body, components(*(rows or (form(),))), write("/", model)))
    return there


def test_defaults_stand_in_the_data_until_somebody_says_otherwise() -> None:
    there = made({"other": 1})
    shown = {"branch": "main", "jobs": 4, "tests": True}
    assert all(there.told(version) == {"other": 1, "run": {"with": shown}} for version in ALL)

    there.take(edit(2, {"op": "add", "path": "/run", "value": {"with": {"tests": False}}}))
    assert there.told()["run"]["with"] == {**shown, "tests": False}
    there.take(part(3, write("/run/with", {"branch": "", "jobs": None})))
    assert there.told()["run"]["with"] == {**shown, "branch": ""}
    there.take(part(4, write("/run", None, version="1.0")))
    assert there.told()["run"]["with"] == shown


def test_they_follow_the_definition_of_the_form() -> None:
    there = made({})
    there.take(part(2, components(form([{"id": "branch", "label": "Branch", "default": "next"}]))))
    assert there.told() == {"run": {"with": {"branch": "next"}}}
    there.take(part(3, components(form([{"id": "branch", "label": "Branch"}]))))
    assert there.told() == {}


def test_what_is_no_object_has_no_room_for_them() -> None:
    assert made({"run": "x"}).told() == {"run": "x"}
    assert made({"run": {"with": ["x"]}}).told() == {"run": {"with": ["x"]}}
    assert made({"l": [{}, {}]}, form(at="/l/1")).told()["l"] == [
        {},
        {"branch": "main", "jobs": 4, "tests": True},
    ]
    assert made({"l": [{}]}, form(at="/l/1")).told() == {"l": [{}]}
    assert made({"run": {}}, form(at="run")).told()["run"] == {}
