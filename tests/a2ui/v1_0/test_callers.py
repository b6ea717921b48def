"""Who may call a function is looked up in the catalog: strict mode refuses the message, with a pointer to the call."""

from __future__ import annotations

import pytest

from a2ui import Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from tests.a2ui.asking import CATALOG, ask, create
from tests.a2ui.programs import row

SYNC, CLICK = {"@call": "sync", "args": {}}, {"@call": "click", "args": {}}
URL = {"@call": "openUrl", "args": {"url": "https://example.org/"}}
LABEL = row("t", "Text", text="x")


def button(action, **more):
    return row("root", "Button", child="t", action=action, **more)


def problems(*rows, strict=True):
    surfaces = Engine(EngineOptions(catalogs=(CATALOG, BASIC_CATALOG_1_0), strict=strict)).surfaces()
    return [(one.path, one.message) for one in surfaces.apply(create(*rows)) if one.refused]


@pytest.mark.parametrize(
    ("shown", "path"),
    [
        (row("root", "Text", text=SYNC), "/text/@call"),
        (row("root", "Text", text=ask(q=SYNC)), "/text/args/q/@call"),
        (button({"functionCall": SYNC}), "/action/functionCall/@call"),
        (button({"event": {"name": "n", "context": {"k": [SYNC]}}}), "/action/event/context/k/0/@call"),
        (
            button({"event": {"name": "n"}}, **{"@checks": [{"condition": SYNC}]}),
            "/@checks/0/condition/@call",
        ),
    ],
)
def test_an_interface_calls_nothing_that_is_the_agents_alone(shown, path):
    assert problems(shown, LABEL) == [(f"/components/0{path}", "Only the agent may call sync.")]
    # Elsewhere it is drawn as far as it goes.
    assert problems(shown, LABEL, strict=False) == []


@pytest.mark.parametrize(
    ("shown", "path"),
    [
        (row("root", "Text", text=CLICK), "/text/@call"),
        (button({"event": {"name": "n", "context": {"k": CLICK}}}), "/action/event/context/k/@call"),
        (
            button({"functionCall": {"@call": "ask", "args": {"q": CLICK}}}),
            "/action/functionCall/args/q/@call",
        ),
    ],
)
def test_what_needs_a_click_is_called_by_nothing_else(shown, path):
    assert problems(shown, LABEL) == [(f"/components/0{path}", "click runs on a click only.")]


@pytest.mark.parametrize("action", [CLICK, URL, ask(q="x")])
def test_a_click_may_call_what_is_meant_for_interfaces(action):
    assert problems(button({"functionCall": action}), LABEL) == []
