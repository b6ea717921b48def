"""Divider (rulebook 16)."""

from __future__ import annotations

from a2ui.catalog.kinds import enum
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build


class Divider(ComponentType):
    """A hairline, across or from top to bottom."""

    name = "Divider"
    properties = {"axis": enum("horizontal", "vertical")}

    def build(self, build: Build) -> None:
        if build.props.get("axis") == "vertical":
            start = f'<div id="{build.id}'
            end = f'" class="{build.classes("a2-vr")}" role="separator" aria-orientation="vertical"></div>'
        else:
            start = f'<hr id="{build.id}'
            end = f'" class="{build.classes("a2-divider")}">'
        build.done(lambda _, context: f"{start}{context}{end}")
