"""The last line (`EngineOptions.contained`): a fault of ours costs one surface its place, and nothing else."""

from __future__ import annotations

import json

import pytest

from a2ui import ActionError, Engine, EngineOptions, InputError
from a2ui.catalog.basic.text import Text
from a2ui.rendering.repaint import Repaint
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import components, create, data, path, row

NOTICE = "This card could not be shown."
ROWS = (
    row("root", "Column", children=["t", "f"]),
    row("t", "Text", text=path("/t")),
    row("f", "TextField", label="F", value=path("/f")),
)


class Twin:
    """Two surfaces, `s` with a text and `other` without, and a page."""

    def __init__(self, *, contained=True):
        self.engine = Engine(EngineOptions(contained=contained))
        self.surfaces, self.page = self.engine.surfaces(), Page()
        self.say(create(), data({"t": "T", "f": "F"}), components(*ROWS))
        self.say(create("other"), components(row("root", "Divider"), surface="other"))

    def say(self, *messages):
        for one in messages:
            assert not [problem for problem in self.surfaces.apply(one) if problem.refused]
        self.page.apply_changes(self.surfaces.flush())
        assert self.page.markup == shown(self.surfaces)
        kept = self.engine.restore(json.loads(json.dumps(self.surfaces.snapshot())))
        assert [one.html() for one in kept] == [one.html() for one in self.surfaces]


def broken(self, *_):
    raise RuntimeError("no")


@pytest.fixture
def faulty(monkeypatch):
    """Breaks what draws texts, in both ways, and mends it."""

    def toggle(on):
        if on:
            monkeypatch.setattr(Text, "build", broken)
            monkeypatch.setattr(Text, "draw", broken)
        else:
            monkeypatch.undo()

    return toggle


def test_one_surface_shows_a_notice_until_it_can_be_drawn(faulty, caplog):
    faulty(on=True)
    twin = Twin()
    assert twin.page.markup.count(NOTICE) == 1
    assert "<hr" in twin.page.markup
    assert "cannot be shown" in caplog.text
    twin.say(data("T2", "/t"), components(row("f", "TextField", label="G", value=path("/f"))))
    assert twin.page.markup.count(NOTICE) == 1
    with pytest.raises(ActionError):
        twin.surfaces.act("a1-1")
    with pytest.raises(InputError):
        twin.surfaces.edit("a1-2", "x")
    faulty(on=False)
    twin.say(data("T3", "/t"))
    assert NOTICE not in twin.page.markup
    assert ">T3<" in twin.page.markup
    twin.say(data("T4", "/t"))
    assert ">T4<" in twin.page.markup


def test_a_surface_that_was_shown_goes_down_and_comes_back(faulty):
    twin = Twin()
    faulty(on=True)
    twin.say(data("T2", "/t"), components(row("t", "Text", text=path("/t"), variant="h1")))
    assert twin.page.markup.count(NOTICE) == 1
    faulty(on=False)
    twin.say(data("T3", "/t"))
    assert ">T3<" in twin.page.markup


def test_what_only_an_update_cannot_do_is_drawn_whole(monkeypatch):
    twin = Twin()
    twin.say(data("T2", "/t"))
    monkeypatch.setattr(Repaint, "run", broken)
    twin.say(data("T3", "/t"))
    assert NOTICE not in twin.page.markup
    assert ">T3<" in twin.page.markup


def test_an_attempt_that_brings_it_down_is_undone(faulty):
    twin = Twin()
    twin.say(data("T2", "/t"))
    before = twin.page.markup
    attempt = twin.surfaces.attempt()
    faulty(on=True)
    twin.surfaces.apply(components(row("t", "Text", text="x")))
    twin.surfaces.flush()
    attempt.undo()
    faulty(on=False)
    assert shown(twin.surfaces) == before
    twin.say(data("T3", "/t"))
    assert ">T3<" in twin.page.markup


def test_without_it_faults_are_raised(faulty):
    faulty(on=True)
    with pytest.raises(RuntimeError):
        Twin(contained=False)


def test_what_there_is_no_memory_for_is_raised(monkeypatch):
    def full(self, *_):
        raise MemoryError

    monkeypatch.setattr(Text, "build", full)
    monkeypatch.setattr(Text, "draw", full)
    with pytest.raises(MemoryError):
        Twin()
