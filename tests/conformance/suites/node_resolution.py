"""conformance/core/node_resolution: which nodes are alive, what they show, what a step makes of them.

Emissions and object identity belong to the programming interface of the official cores. What stands for them here:
a step without emissions sends no fragment, and the page that follows the fragments equals a fresh rendering.
"""

from __future__ import annotations

from typing import Any

import yaml

from a2ui import Engine, OpenUrl, SurfaceSet
from a2ui.data.pointer import parse, read
from a2ui.programs.tree import tree
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import create, message
from tests.shared import SHARED

STATES = {"resolved": "ok", "pending": "missing"}


class _Session:
    def __init__(self, fixture: dict[str, Any]) -> None:
        self.surfaces: SurfaceSet = Engine().surfaces()
        self.page = Page()
        self.apply(create())
        if fixture["components"]:
            self.apply(message("updateComponents", components=fixture["components"]))
        self.apply(message("updateDataModel", value=fixture["data"]))
        self.fragments = 0
        self.follow()

    def apply(self, sent: dict[str, Any]) -> None:
        assert not [problem for problem in self.surfaces.apply(sent) if problem.refused]

    def follow(self) -> None:
        changes = self.surfaces.flush()
        self.fragments = sum(len(change.ops) for change in changes)
        self.page.apply_changes(changes)
        assert self.page.markup == shown(self.surfaces)

    def nodes(self) -> dict[str, dict[str, Any]]:
        surface = self.surfaces.get("", "s")
        return {node["at"]: node for node in tree(surface)["nodes"]} if surface is not None else {}

    def element(self, at: str, marker: str) -> str:
        """The DOM id of a node by its position among elements with that marker."""
        marked = [element for element in self.page.root.iter() if marker in element.attrib]
        return str(marked[int(at.rpartition("/")[2]) if "/" in at else 0].get("id"))


def run(entry: dict[str, Any]) -> None:
    """One entry of the suite."""
    assert SHARED is not None
    fixture = yaml.safe_load(
        (SHARED / "spec/a2ui/conformance/test_data/node" / entry["fixture"]).read_text("utf-8")
    )
    session = _Session(fixture)
    _check(session, entry["expect"])
    for step in entry["steps"]:
        events: list[Any] = []
        op = step["op"]
        assert op != "remove_component", "v0.9 has no message that removes a component"
        if op == "write":
            session.surfaces.apply_edit(
                session.surfaces.edit(session.element(step["node"], "data-in"), step["value"])
            )
        elif op == "set_data":
            session.apply(message("updateDataModel", path=step["path"], value=step["value"]))
        elif op == "update_components":
            session.apply(message("updateComponents", components=step["components"]))
        elif op == "invoke":
            events.append(session.surfaces.act(session.element(step["node"], "data-act")))
        else:
            session.apply(message("deleteSurface"))
        session.follow()
        expected = step["expect"]
        _check(session, expected)
        if expected.get("emissions") == {} and not expected.get("destroyed") and op != "update_components":
            assert not session.fragments
        for event, want in zip(events, expected.get("events", []), strict=False):
            sent = event.message["action"]
            assert (sent["name"], sent["sourceComponentId"], sent["context"]) == (
                want["name"],
                want["source_component_id"],
                want["context"],
            )
        for event, want in zip(events, expected.get("functions", []), strict=False):
            assert event == OpenUrl(want["args"]["url"])


def _check(session: _Session, expected: dict[str, Any]) -> None:
    nodes = session.nodes()
    assert nodes.keys() == expected["nodes"].keys()
    for at, want in expected["nodes"].items():
        node = nodes[at]
        assert node["id"] == want.get("component_id", node["id"])
        assert node.get("type") == want.get("type", node.get("type"))
        assert node["state"] == STATES[want["state"]] if "state" in want else True
        assert node["scope"] == want.get("data_path", node["scope"])
        for name, value in want.get("props", {}).items():
            if isinstance(value, dict) and "value" in value:
                assert node["props"][name] == value["value"]
    surface = session.surfaces.get("", "s")
    for path, value in expected.get("data", {}).items():
        assert surface is not None
        assert read(surface.data_model, parse(path)) == value
