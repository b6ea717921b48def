"""`@accessibility` as the standard lists it, in Chromium's own accessibility tree; and what is read out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from a2ui.protocol.catalog_ids import BASIC_1_0
from tests.browser.axe import findings
from tests.browser.conftest import Desk
from tests.browser.hearing import LISTENER, spoken, tree_node
from tests.browser.stage import FAKE_SOCKET, Stage, render, serving
from tests.envelopes.transports.panel.talk import Talk

GO = {"event": {"name": "go"}}


def row(component_id: str, kind: str, heard: dict[str, Any] | None = None, **props: Any) -> dict[str, Any]:
    return {"id": component_id, "component": kind, **props, **({"@accessibility": heard} if heard else {})}


def made(*rows: dict[str, Any], **model: Any) -> dict[str, Any]:
    body = {"surfaceId": "s1", "catalogId": BASIC_1_0, "components": list(rows), "dataModel": model}
    return {"version": "1.0", "createSurface": body}


def set_(path: str, value: Any) -> dict[str, Any]:
    return {"version": "1.0", "updateDataModel": {"surfaceId": "s1", "path": path, "value": value}}


def defined(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"version": "1.0", "updateComponents": {"surfaceId": "s1", "components": list(rows)}}


@contextmanager
def shown(desk: Desk, surface: dict[str, Any]) -> Iterator[Stage]:
    """The page of a conversation with this surface in it."""
    page = desk.page()
    page.add_init_script(LISTENER)
    talk = Talk()
    talk.me("Show me")
    talk.turn(1)
    talk.part("a2ui-surface", data=surface)
    with serving(lambda: render(talk)) as url:
        stage = Stage(page, url, talk)
        stage.open()
        stage.settle()
        yield stage


@pytest.fixture
def desk(open_desk: Any) -> Desk:
    """Without the page's policy, since axe tries out styles on the page."""
    found: Desk = open_desk(bypass_csp=True, reduced_motion="reduce")
    found.allow("mark.svg")
    found.context.add_init_script(FAKE_SOCKET)
    return found


def held(condition: Any, heard: dict[str, Any] | None = None, message: str = "") -> dict[str, Any]:
    checks = {"@checks": [{"condition": condition, "message": message}]}
    return row("c", "Button", heard, child="t", action=GO) | checks


MUTE = {"label": "Mute Notifications", "description": "Silences notifications about this conversation"}
BOTH = {"label": "Named", "description": "More"}
NAMED = {"name": "Named", "description": "More"}
RULES = [
    # The suite of the standard.
    (row("c", "Button", MUTE, child="t", action=GO), "", {
        "role": "button", "name": "Mute Notifications",
        "description": "Silences notifications about this conversation",
    }),
    (row("c", "Text", {"live": "polite"}, text="Status: Active"), "", {"live": "polite"}),
    (row("c", "Text", {"label": "Critical Alert", "live": "assertive"}, text="Connection Lost!"), "", {
        "role": "group", "name": "Critical Alert", "live": "assertive",
    }),
    (row("c", "Column", {"hidden": True}, children=["t", "i"]), "", {"hidden": True}),
    (row("c", "Button", child="t", action=GO), "", {"role": "button", "name": "Go"}),
    # Label and description on every component.
    (row("c", "Text", BOTH, text="x"), "", {"role": "group", **NAMED}),
    (row("c", "Text", BOTH, text="x", variant="h2"), "", {"role": "heading", **NAMED}),
    (row("c", "Image", BOTH, url="/static/beach/mark.svg", description="A beach"), "", {"role": "image", **NAMED}),
    (row("c", "Image", BOTH, url="https://elsewhere.example/x.png"), "", {"role": "image", **NAMED}),
    (row("c", "Icon", BOTH, name="star"), "", {"role": "image", **NAMED}),
    (row("c", "Row", BOTH, children=["t"]), "", {"role": "group", **NAMED}),
    (row("c", "Column", BOTH, children=["t"]), "", {"role": "group", **NAMED}),
    (row("c", "List", BOTH, children=["t"]), "", {"role": "list", **NAMED}),
    (row("c", "Card", BOTH, child="t"), "", {"role": "group", **NAMED}),
    (row("c", "Tabs", BOTH, tabs=[{"title": "T", "child": "t"}]), " [role=tablist]", {"role": "tablist", **NAMED}),
    (row("c", "Divider", BOTH), "", {"role": "separator", **NAMED}),
    (row("c", "TextField", BOTH, label="L", value={"@path": "/v"}), " input", {"role": "textbox", **NAMED}),
    (row("c", "CheckBox", BOTH, label="L", value={"@path": "/b"}), " input", {"role": "checkbox", **NAMED}),
    (row("c", "ChoicePicker", BOTH, options=[{"label": "A", "value": "a"}], value={"@path": "/l"}), "", {
        "role": "radiogroup", **NAMED,
    }),
    (row("c", "DateTimeInput", BOTH, value={"@path": "/v"}, enableDate=True), " input", {"role": "Date", **NAMED}),
    (row("c", "Slider", BOTH, max=10, value={"@path": "/n"}), " input", {"role": "slider", **NAMED}),
    # A bound one.
    (row("c", "Text", {"label": {"@path": "/name"}, "live": "polite"}, text="x"), "", {
        "role": "group", "name": "From data", "live": "polite",
    }),
    # Names from what is to be seen.
    (row("c", "Image", url="/static/beach/mark.svg", description="A beach"), "", {"role": "image", "name": "A beach"}),
    (row("c", "Button", child="i", action=GO), "", {"role": "button", "name": "star"}),
    (row("c", "TextField", label="Airport", value={"@path": "/v"}), " input", {"role": "textbox", "name": "Airport"}),
    (row("c", "CheckBox", label="Agree", value={"@path": "/b"}), " input", {"role": "checkbox", "name": "Agree"}),
    (row("c", "Icon", name="star"), "", {"hidden": True}),
    # Hidden, also by the data; what can take focus is not.
    (row("c", "Text", {"hidden": {"@path": "/yes"}}, text="x"), "", {"hidden": True}),
    (row("c", "Text", {"hidden": {"@path": "/no"}, "label": "L"}, text="x"), "", {"role": "group", "name": "L"}),
    (row("c", "Card", {"hidden": True}, child="t"), " div", {"hidden": True}),
    (row("c", "Button", {"hidden": True}, child="t", action=GO), "", {"role": "button", "name": "Go"}),
    (row("c", "Column", {"hidden": True, "label": "L"}, children=["f"]), "", {"role": "group", "name": "L"}),
    # Messages of an input are announced as it says.
    (row("c", "TextField", {"live": "assertive"}, label="L", value={"@path": "/v"}) | {
        "@checks": [{"condition": {"@path": "/no"}, "message": "Wrong"}],
    }, " .a2-errors", {"live": "assertive"}),
    # Why a button is held: an error as its title, what is none in its name, or beside a name that was given.
    (held({"@path": "/no"}, message="Wrong"), "", {"role": "button", "name": "Go", "description": "Wrong"}),
    (held({"@path": "/few"}), "", {"role": "button", "name": "Go Few left"}),
    (held({"@path": "/few"}, {"label": "Book"}), "", {"role": "button", "name": "Book", "description": "Few left"}),
]  # fmt: skip
OTHERS = [
    row("t", "Text", text="Go"),
    row("i", "Icon", name="star"),
    row("f", "TextField", label="Field", value={"@path": "/v"}),
]
MODEL: dict[str, Any] = {"v": "", "b": False, "l": [], "n": 1, "name": "From data", "yes": True, "no": False,
         "few": {"valid": False, "severity": "warning", "message": "Few left"}}  # fmt: skip


def test_the_accessibility_tree_has_what_the_surface_says(desk: Desk) -> None:
    root = row("root", "Column", children=["c"])
    wrong: list[Any] = []
    with shown(desk, made(root, *OTHERS, **MODEL)) as stage:
        for definition, inside, expected in RULES:
            stage.row(stage.talk.part("a2ui-surface", data=defined(definition)))
            # Behind the surface and its root, the first one that the message names.
            dom_id = stage.page.locator(".a2-surface > * > *").first.get_attribute("id")
            seen = tree_node(stage.page, f"#{dom_id}{inside}")
            if seen | expected != seen:
                wrong.append((definition, expected, seen))
            rules = ("button-name", "aria-")
            found = findings(stage.page, "cat.aria", "cat.name-role-value")
            assert [one for one in found if one.startswith(rules)] == [], definition
    assert not wrong


LIVE = [
    row("root", "Column", children=["polite", "loud", "box", "name", "left", "off"]),
    row("polite", "Text", {"live": "polite"}, text={"@path": "/status"}),
    row("loud", "Text", {"live": "assertive"}, text={"@path": "/alarm"}),
    row("box", "Column", {"live": "polite"}, children={"componentId": "item", "path": "/items"}),
    row("item", "Text", text={"@path": "name"}),
    row("name", "TextField", label="Name", value={"@path": "/name"}),
    row("left", "Text", {"live": "polite"}, text={
        "@call": "formatString", "args": {"value": "Hello ${/name}"},
    }),
    row("off", "Text", {"live": "off"}, text={"@path": "/status"}),
]  # fmt: skip


@contextmanager
def listening(desk: Desk) -> Iterator[Stage]:
    model = {"status": "Waiting", "alarm": "All is well", "items": [{"id": 1, "name": "one"}], "name": ""}
    with shown(desk, made(*LIVE, **model)) as stage:
        yield stage


def tell(stage: Stage, *messages: dict[str, Any]) -> list[tuple[str, str]]:
    """What is read out when the agent sends this."""
    for message in messages:
        stage.row(stage.talk.part("a2ui-surface", data=message))
    return spoken(stage.page)


def test_what_a_page_shows_when_it_loads_is_not_read_out(desk: Desk) -> None:
    with listening(desk) as stage:
        expect(stage.page.get_by_text("All is well")).to_be_visible()
        assert spoken(stage.page) == []


def test_a_surface_that_comes_is_not_read_out_by_its_regions(desk: Desk) -> None:
    with listening(desk) as stage:
        other = made(row("root", "Text", {"live": "polite"}, text="New here"))
        other["createSurface"]["surfaceId"] = "s2"
        assert tell(stage, other) == []


def test_what_changes_is_read_out_once_and_as_asked(desk: Desk) -> None:
    with listening(desk) as stage:
        assert tell(stage, set_("/status", "Boarding")) == [("polite", "Boarding")]
        assert tell(stage, set_("/alarm", "Gate closed")) == [("assertive", "Gate closed")]
        # Formatted, defined anew, in a container; the elements stay all along.
        assert tell(stage, set_("/status", "**Late**")) == [("polite", "Late")]
        assert tell(stage, defined(row("polite", "Text", {"live": "polite"}, text="Gone"))) == [
            ("polite", "Gone")
        ]
        one_more = [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]
        assert tell(stage, set_("/items", one_more)) == [("polite", "two")]
        assert tell(stage, defined(row("root", "Column", children=["polite", "loud", "box", "left"]))) == []
        assert tell(stage, set_("/alarm", "Gate open")) == [("assertive", "Gate open")]


def test_what_stays_the_same_is_not_read_out_again(desk: Desk) -> None:
    with listening(desk) as stage:
        assert tell(stage, set_("/status", "Boarding"), set_("/status", "Boarding")) == [
            ("polite", "Boarding")
        ]
        assert tell(stage, set_("/status", "**B**"), set_("/status", "**B** ")) == [("polite", "B")]


def test_typing_is_not_read_out_and_what_follows_from_it_once(desk: Desk) -> None:
    with listening(desk) as stage:
        field = stage.label("Name")
        field.press_sequentially("Ines")
        assert spoken(stage.page) == []

        edits = [one for one in stage.sync() if one["type"] == "edit"]
        heard = spoken(stage.page)
        expect(field).to_have_value("Ines")
        assert heard[-1] == ("polite", "Hello Ines")
        assert len(heard) <= len(edits)


def test_the_page_has_one_announcer_of_its_own(desk: Desk) -> None:
    with listening(desk) as stage:
        page: Page = stage.page
        assert page.locator("#announcer[role=status]").count() == 1
        tell(stage, set_("/status", "Boarding"))
        expect(page.locator("#announcer")).not_to_contain_text("Boarding")
