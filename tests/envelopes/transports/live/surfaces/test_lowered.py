"""A reader who knows the Basic Catalog only gets our own catalog's components in its words, and what it does with them
reaches what they are made of."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from a2ui import ActionError, ClientAction, ComponentTarget, Engine, EngineOptions, InputError, SurfaceSet
from a2ui.protocol.catalog_ids import BASIC, BASIC_1_0, BEACH, BEACH_1_0
from envelopes.session_state.state import apply_to_surfaces
from envelopes.transports.live.surfaces import Dialect, Mirror, Version, dialect_for
from envelopes.types import JsonObject
from tests.a2ui.own import engine
from tests.envelopes.transports.live.surfaces.material import exactly
from tests.envelopes.transports.live.surfaces.test_mirror import ALL, components, edit, part, write

OWN = ("Markdown", "Table", "Form", "Chart")
MODEL: JsonObject = {
    "fares": [{"id": 1, "name": "BA 1", "price": 90}, {"id": 2, "name": "U2 7", "price": 75.5}],
    "days": [{"name": "Sat", "low": 21, "high": 29}, {"name": "Sun", "low": 22, "high": 31}],
    "who": {"name": "Ada", "seats": 2, "class": "a", "terms": True},
    "orders": [{"id": "x", "n": "one"}, {"id": "y", "n": "two"}],
}
FIELDS = [
    {"id": "name", "label": "Name", "required": True},
    {"id": "seats", "label": "Seats", "type": "number", "max": 4},
    {"id": "class", "label": "Class", "type": "select", "options": ["a", {"value": "b", "label": "B"}]},
    {"id": "terms", "label": "Terms", "type": "checkbox"},
    {"id": "send", "label": "A field with the name of a piece"},
]
ROWS: list[JsonObject] = [
    {"id": "root", "component": "Column", "children": ["words", "fares", "days", "form", "orders"]},
    {"id": "words", "component": "Markdown", "text": "# Guide"},
    {"id": "fares", "component": "Table", "rows": {"path": "/fares"}, "caption": "Fares", "columns": [
        {"label": "Flight", "value": {"path": "name"}},
        {"label": "Price", "value": {"path": "price"}, "type": "currency", "currency": "EUR"}]},
    {"id": "days", "component": "Chart", "type": "line", "data": {"path": "/days"}, "label": {"path": "name"},
     "title": "Weather", "series": [{"label": "Low", "value": {"path": "low"}},
                                    {"label": "High", "value": {"path": "high"}}]},
    {"id": "form", "component": "Form", "fields": FIELDS, "value": {"path": "/who"}, "title": "Who",
     "action": {"event": {"name": "book", "context": {"to": "Corfu"}}}, "submitLabel": "Book"},
    {"id": "orders", "component": "List", "children": {"path": "/orders", "componentId": "order"}},
    {"id": "order", "component": "Form", "fields": [{"id": "n", "label": "Note"}], "value": {"path": ""},
     "action": {"event": {"name": "note"}}},
]  # fmt: skip
SAID = ("Guide", "Fares", "BA 1", "€75.50", "Weather", "Sun", "31", "Who", "Seats", "Terms", "Book", "Note")
SOME = settings(
    max_examples=13,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Lowered:
    """Ours with all of our catalog, and a strict reader of each version with the Basic Catalog only."""

    def __init__(self) -> None:
        self.ours: SurfaceSet = engine().surfaces()
        self.mirror = Mirror(self.ours)
        self.readers = {version: Engine(EngineOptions(strict=True)).surfaces() for version in ALL}

    def take(self, row: Any) -> None:
        assert [found for found in apply_to_surfaces(self.ours, row) if found.refused] == []
        self.ours.skip()
        for update in self.mirror.follow(row):
            for version in ALL:
                self._hear(version, update.messages(version, basic=True))
        for version in ALL:
            anew = Engine(EngineOptions(strict=True)).surfaces()
            for _, messages in self.mirror.initial(version, basic=True):
                _tell(messages, anew)
            for reader in (self.readers[version], anew):
                (there,), (here,) = list(reader), list(self.ours)
                assert exactly(there.data_model) == exactly(here.data_model)
                assert there.catalog.id in (BASIC, BASIC_1_0)
            # Who was there all along shows what somebody sees who comes now.
            assert words(self.readers[version]) == words(anew)

    def _hear(self, version: Version, messages: list[JsonObject]) -> None:
        said = json.dumps(messages)
        assert BEACH not in said and BEACH_1_0 not in said
        assert not re.findall(f'"component": "(?:{"|".join(OWN)})"', said)
        _tell(messages, self.readers[version])


def _tell(messages: list[JsonObject], reader: SurfaceSet) -> None:
    for message in json.loads(json.dumps(messages)):
        assert reader.apply(message, owner="reader") == [], message
    reader.skip()
    assert reader.diagnostics() == []


def words(surfaces: SurfaceSet) -> str:
    (surface,) = surfaces
    return re.sub(r"<[^>]*>|\s", " ", re.sub(r' value="([^"]*)"', r">\1<", surface.html()))


def made(catalog: str = BEACH) -> Lowered:
    there = Lowered()
    body = {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": catalog}}
    there.take(part(1, body, components(*ROWS), write("/", MODEL)))
    return there


def test_each_component_is_said_in_the_words_of_the_basic_catalog() -> None:
    there = made()
    for version in ALL:
        found = words(there.readers[version])
        for word in SAID:
            assert word in found, (version, word)

    there.take(part(2, write("/fares/1/price", 80), write("/days/0/low", 5)))
    there.take(edit(3, {"op": "replace", "path": "/who/name", "value": "Grace"}))
    columns = [{"label": "Flight only", "value": {"path": "name"}}]
    there.take(
        part(
            4,
            components({"id": "fares", "component": "Table", "rows": {"path": "/fares"}, "columns": columns}),
        )
    )
    for version in ALL:
        found = words(there.readers[version])
        assert "Flight only" in found and "€" not in found and "Grace" in found


def test_so_is_a_single_component_that_names_our_catalog() -> None:
    there = Lowered()
    table = {
        "id": "root", "component": "Table", "@catalogId": BEACH_1_0, "rows": {"@path": "/fares"},
        "columns": [{"label": "Flight", "value": {"@path": "name"}}],
    }  # fmt: skip
    body = {"surfaceId": "s", "catalogId": BASIC_1_0, "components": [table], "dataModel": MODEL}
    there.take(part(1, {"version": "1.0", "createSurface": body}))
    assert all("U2 7" in words(reader) for reader in there.readers.values())


NAME = st.sampled_from(["", "x", "<b>", "a longer name"])
FARES = st.lists(
    st.builds(lambda n, p: {"id": n, "name": n, "price": p}, NAME, st.integers(0, 9)), max_size=4
)
WRITES = st.one_of(
    st.tuples(st.just("/fares"), FARES),
    st.tuples(
        st.just("/days"),
        st.lists(
            st.builds(lambda n, v: {"name": n, "low": v, "high": None}, NAME, st.integers(0, 40)), max_size=3
        ),
    ),
    st.tuples(st.just("/who"), st.dictionaries(st.sampled_from(["name", "seats", "class"]), NAME)),
    st.tuples(st.just("/who/name"), st.one_of(st.none(), NAME)),
)


@SOME
@given(st.lists(WRITES, min_size=1, max_size=4))
def test_whatever_is_written_a_lowered_reader_has_and_shows(written: list[tuple[str, Any]]) -> None:
    there = made()
    for seq, (path, value) in enumerate(written, 2):
        there.take(part(seq, write(path, value)))


def target(name: str, item: str = "") -> ComponentTarget:
    return ComponentTarget("agent", "s", name, item)


def test_what_is_done_with_the_pieces_of_a_form_reaches_the_form() -> None:
    ours = made().ours
    for name, value, stored in (
        ("form~name", "Grace", "Grace"),
        ("form~seats", "3", 3),
        # As a ChoicePicker has it, and as the form does.
        ("form~class", ["b"], "b"),
        ("form~class", "a", "a"),
        ("form~class", [], ""),
        ("form~terms", False, False),
        ("form~send", "hm", "hm"),
    ):
        done = ours.edit(target(name), value)
        assert done.ops[-1]["path"] == f"/who/{name.removeprefix('form~')}"
        assert done.ops[-1]["value"] == stored
        ours.apply_edit(done)
    done = ours.edit(target("order~n", "/orders/1"), "three")
    assert done.ops == [{"op": "replace", "path": "/orders/1/n", "value": "three"}]

    sent = ours.act(target("form~:send"))
    assert isinstance(sent, ClientAction)
    context = sent.message["action"]["context"]
    assert (sent.name, context["to"], context["values"]["seats"]) == ("book", "Corfu", 3)
    # What the form refuses is refused here as well.
    ours.apply_edit(ours.edit(target("form~seats"), 9))
    with pytest.raises(ActionError, match="4 or less"):
        ours.act(target("form~:send"))


@pytest.mark.parametrize(
    "name", ["form~gone", "form~", "~name", "fares~name", "form~:title", "gone~name", "form~~name", "order~n"]
)
def test_a_piece_that_there_is_not_is_refused(name: str) -> None:
    ours = made().ours
    with pytest.raises(InputError):
        ours.edit(target(name), "x")
    with pytest.raises(ActionError):
        ours.act(target(name))


def test_a_component_of_the_agents_own_goes_before_a_piece_of_its_name() -> None:
    there = made()
    own = {"id": "form~name", "component": "TextField", "label": "Mine", "value": {"path": "/mine"}}
    root = {"id": "root", "component": "Column", "children": ["form", "form~name"]}
    assert [one for one in apply_to_surfaces(there.ours, part(2, components(root, own))) if one.refused] == []
    assert there.ours.edit(target("form~name"), "x").ops[-1]["path"] == "/mine"


@pytest.mark.parametrize(
    ("catalogs", "basic"),
    [
        (None, False),
        ([], True),
        ([BASIC], True),
        (["x"], True),
        ([BEACH], False),
        ([BASIC_1_0, BEACH_1_0], False),
    ],
)
def test_who_says_which_catalogs_it_knows(catalogs: Any, basic: bool) -> None:
    assert dialect_for(["v0.9"], catalogs) == Dialect("0.9", basic)
