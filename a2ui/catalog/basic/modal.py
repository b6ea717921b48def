"""Modal (rulebook 16, D43)."""

from __future__ import annotations

from typing import Any

from a2ui.catalog.icons import UI_CLOSE
from a2ui.catalog.kinds import child
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always, told
from a2ui.rendering.place import Placement

_HEAD = (
    '<div class="a2-dialog__head a2-dialog__head--end">'
    f'<button class="b-iconbtn" type="button" data-modal-close aria-label="Close">{UI_CLOSE}</button></div>'
)


class Modal(BaseComponent):
    """A trigger that opens a dialog. Whether it is open is the browser's own state."""

    name = "Modal"
    properties = {"trigger": child, "content": child}
    required = frozenset({"trigger", "content"})
    slots = ("trigger", "content")
    interactive = True

    def build(self, build: Build) -> None:
        start = f'<div id="{build.id}'
        opened = f'" class="{build.classes("a2-modal")}" data-modal{build.role()}{told(build)}>'
        aria = always(build.labelled())
        trigger, content = build.child("trigger", Placement(opens=True)), build.child("content")

        def render(scope: Any, context: str) -> str:
            outside = trigger.render(scope, context) if trigger else ""
            inside = content.render(scope, context) if content else ""
            name = aria(scope)
            if not name.startswith(' aria-label="'):
                # It is called what the person clicked on, and "Dialog" where that says nothing.
                by = f' aria-labelledby="{trigger.prefix}{context}{trigger.own}"' if trigger else ""
                name = f'{by} aria-label="Dialog"{name}'
            return (
                f'{start}{context}{opened}<div class="a2-modal__open" data-modal-open>{outside}</div>'
                f'<dialog class="a2-dialog"{name}>{_HEAD}'
                f'<div class="a2-dialog__body">{inside}</div></dialog></div>'
            )

        build.done(render)
