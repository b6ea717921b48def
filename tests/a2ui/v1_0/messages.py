"""Short ways to write messages of 1.0 in tests, and to look at what comes of them."""

from __future__ import annotations

from typing import Any

from a2ui import ClientAction, Engine, EngineOptions, SurfaceSet
from a2ui.catalog.kinds import literal_text, text
from a2ui.components import BaseComponent
from a2ui.errors import Diagnostic
from a2ui.programs.tree import tree
from a2ui.protocol.catalog_ids import BASIC_1_0
from a2ui.rendering.build import Build
from tests.a2ui.programs import row

D, C = "1.0", "v1.0"
"""The final name and that of the candidates."""


def said(verb: str, version: str = D, **body: Any) -> dict[str, Any]:
    return {"version": version, verb: {"surfaceId": "s", **body}}


def made(*rows: Any, version: str = D, **body: Any) -> dict[str, Any]:
    return said("createSurface", version, catalogId=BASIC_1_0, components=list(rows), **body)


def fed(*messages: Any, **options: Any) -> tuple[SurfaceSet, list[Diagnostic]]:
    """A set after these messages, and all problems."""
    surfaces = Engine(EngineOptions(**options)).surfaces()
    problems = [problem for message in messages for problem in surfaces.apply(message)]
    return surfaces, problems


def node(surfaces: SurfaceSet, component_id: str) -> Any:
    surface = surfaces.get("", "s")
    assert surface is not None
    return next(one for one in tree(surface)["nodes"] if one["id"] == component_id)


def button(context: Any, **event: Any) -> dict[str, Any]:
    return row("root", "Button", child="t", action={"event": {"name": "go", "context": context, **event}})


TEXT = row("t", "Text", text="Go")


def sent(surfaces: SurfaceSet) -> dict[str, Any]:
    """What a click on the only button tells the agent."""
    surfaces.flush()
    action = surfaces.act("a1-0")
    assert isinstance(action, ClientAction)
    return action.message


def context_of(*messages: Any) -> Any:
    surfaces, problems = fed(*messages)
    assert not problems
    return sent(surfaces)["action"]["context"]


class Note(BaseComponent):
    """A component with properties that are called like parts of the envelope."""

    name = "Note"
    properties = {"text": text, "metadata": literal_text}

    def build(self, build: Build) -> None:
        shown_text = build.getter("text")
        start = f'<b id="{build.id}'
        build.done(lambda scope, context: f'{start}{context}">{shown_text(scope)}</b>')
