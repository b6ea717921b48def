"""Tabs (rulebook 16, D43)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from a2ui import ops
from a2ui.binding.reading import Getter
from a2ui.catalog.kinds import tabs
from a2ui.components import BaseComponent
from a2ui.ops import Op
from a2ui.rendering.build import Build, always, told
from a2ui.safety.text import escape

_TAB_CHARS = 300
"""Markup of one tab and its panel."""


class Tabs(BaseComponent):
    """Panels of which one is shown. Which one is the browser's own state, so all of them are in the page."""

    name = "Tabs"
    properties = {"tabs": tabs}
    required = frozenset({"tabs"})
    slots = ("tabs",)
    interactive = True

    def build(self, build: Build) -> None:
        start, aria = f'<div id="{build.id}', always(build.labelled())
        opened = f'" class="{build.classes("a2-tabset")}" data-tabs{build.role()}{told(build)}>'
        offered = build.props.get("tabs", ())
        # Fewer than there are tabs where the surface is full.
        panels = build.children_in("tabs")
        titles = [_title(build, index, tab.title) for index, tab in enumerate(offered[: len(panels)])]
        build.weight += _TAB_CHARS * len(titles)
        count, shown = len(offered), len(panels)
        more = (
            f'<p class="a2-note" role="note">{shown:,} of {count:,} tabs shown</p>' if count > shown else ""
        )

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            head, body = [], []
            for index, (title, panel) in enumerate(zip(titles, panels, strict=True)):
                head.append(
                    f'<button class="a2-tab" role="tab" type="button" id="{dom_id}-xt{index}" '
                    f'aria-controls="{dom_id}-xp{index}" '
                    + ('aria-selected="false" tabindex="-1">' if index else 'aria-selected="true">')
                    + f"{escape(title(scope))}</button>"
                )
                body.append(
                    f'<div class="a2-tabpanel" role="tabpanel" id="{dom_id}-xp{index}" '
                    f'aria-labelledby="{dom_id}-xt{index}"{" hidden" if index else ""}>'
                    f"{panel.render(scope, context)}</div>"
                )
            bar = f'<div class="a2-tabs" role="tablist"{aria(scope)}>{"".join(head)}</div>'
            return f"{start}{context}{opened}{bar}{more}{''.join(body)}</div>"

        build.done(render)


def _title(build: Build, index: int, value: Any) -> Getter:
    """The title of one tab. It is a part of its own: a new title must not repaint the panels."""
    recorder = build.new_recorder()
    title = build.plain(value, recorder)
    build.part(_emitter(build.id, index, title))(recorder)
    return title


def _emitter(dom_id: str, index: int, title: Getter) -> Callable[[Any, str], Op]:
    return lambda scope, context: ops.text(f"{dom_id}{context}-xt{index}", title(scope))
