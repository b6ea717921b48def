"""The first drawing of a surface, straight from its definitions.

Most surfaces are drawn once and never change: places, closures and the index of what they read would be made for
nothing. So whatever is usual is written down while walking through the definitions; the view compiles its places
when something is about to change. Templates, inputs, checks, what is missing or too much end the drawing with
`NeedsCompilation`, and the view compiles at once. Both ways give the same HTML.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.direct import Direct, NeedsCompilation
from a2ui.binding.reading import Report, descend
from a2ui.binding.secrets import show
from a2ui.binding.values import NODES, Binding
from a2ui.catalog.kinds import Accessibility
from a2ui.rendering.build import CHARS_AN_INSTANCE, LONG, USUAL_CALLS, class_names, flex
from a2ui.rendering.hearing import aria_of, live_of
from a2ui.rendering.place import ANYWHERE, Placement, inlined
from a2ui.safety.ids import base36_counters
from a2ui.safety.raised import checked, hold, raised_at
from a2ui.safety.text import clean_text, escape
from a2ui.state.components import ROOT

if TYPE_CHECKING:
    from a2ui.errors import A2uiError
    from a2ui.rendering.view import View
    from a2ui.state.components import Component

logger = logging.getLogger(__name__)

_LEVELS = 30
"""Levels that are drawn by recursion; whatever is deeper is compiled, which knows none."""


def drawing(view: View) -> str | None:
    """The HTML of the root component, None where it takes places."""
    store = view.store
    if store.shared or not store.plain:
        return None
    pen = FirstDrawing(view)
    try:
        html = pen.whole()
        if not store.ours:
            checked(html)
    except NeedsCompilation:
        return None
    except Exception as error:
        if store.ours:
            raise
        # Compiled, it shows what there is.
        hold(error)
        raised = raised_at(error, "")
        # Without the message, in which there may be values.
        logger.error("A component of catalog %s failed at once: %s", store.default_id, raised)  # noqa: TRY400
        return None
    for problem, component_id in pen.reports:
        view.report(problem, component_id)
    return html


def _noted(reports: list[tuple[A2uiError, str]], error: A2uiError, component_id: str) -> None:
    # Without the way it came: that leads back to the drawing, which would be a circle.
    reports.append((error.with_traceback(None), component_id))


class FirstDrawing:
    """One drawing of one view. Every component stands at one place and nothing is inside of a template, so that all
    scopes are the whole data model."""

    __slots__ = (
        "_before", "_by_id", "_deepest", "_direct", "_level", "_of", "_root", "compiler", "drawn",
        "head", "long", "numbers", "options", "report", "reports", "work",
    )  # fmt: skip

    def __init__(self, view: View) -> None:
        self.options = view.options
        self.compiler = view.compiler
        self.reports: list[tuple[A2uiError, str]] = []
        """Problems so far, with the component of each: told once it is certain that the drawing will do."""
        self.report: Report = partial(_noted, self.reports)
        self._by_id = view.store.by_id
        self.head = view.dom_id + "-"
        self.numbers = base36_counters(len(view.store.names))
        """What a DOM id ends with, by `Component.number`; it begins with `head`."""
        self._root = view.source.now
        self._direct = Direct(view.compiler, self._root, self.report)
        self._level = 0
        self._deepest = min(_LEVELS, view.options.limits.depth - 1)
        self.drawn = 0
        """Components so far, and what counts like one."""
        limits = view.options.limits
        self.long = min(LONG, limits.text_chars, limits.markdown_chars)
        """Characters of a text above which it may be cut, or count for more."""
        self.work = view.compiler.work
        self._of: Component | None = None
        self._before = 0

    def whole(self) -> str:
        """The HTML of the root component. Raises NeedsCompilation."""
        html = self._draw(ROOT, Placement())
        # What counts for more than one element is in the HTML, so this is at least what compiling counts.
        count = self.drawn + len(html) // CHARS_AN_INSTANCE
        limits, work = self.options.limits, self.work
        if count > limits.instances or work.used > work.allowed or work.marks > limits.markdown_work:
            raise NeedsCompilation
        if len(html) > limits.surface_chars:
            raise NeedsCompilation
        return html

    def _draw(self, component_id: str, placement: Placement) -> str:
        component = self._by_id.get(component_id)
        if component is None or component.type is None:
            raise NeedsCompilation
        self.drawn += 1
        return component.type.draw(self, component, placement)

    # ------------------------------------------------------------------ for component types

    def id(self, component: Component) -> str:
        """The DOM id."""
        return self.head + self.numbers[component.number]

    def children(self, component: Component, outer: Placement, placement: Placement = ANYWHERE) -> str:
        """The HTML of all children; `around` is what the component is to them, `outer` what is around itself."""
        ids = component.children
        if not ids:
            return ""
        if outer.inline:
            placement = inlined(placement)
        self._level += 1
        if self._level > self._deepest:
            raise NeedsCompilation
        by_id, html = self._by_id, []
        for component_id in ids:
            child = by_id.get(component_id)
            kind = child.type if child is not None else None
            if child is None or kind is None:
                raise NeedsCompilation
            html.append(kind.draw(self, child, placement))
        self._level -= 1
        self.drawn += len(html)
        return "".join(html)

    def classes(self, component: Component, placement: Placement, *names: str) -> str:
        """See `Build.classes`."""
        return class_names(names, flex(component.props, placement))

    def value(self, component: Component, value: Any) -> Any:
        """A property as it is now; None where there is nothing."""
        if isinstance(value, Binding):
            return descend(self._root, value.tokens)
        if not isinstance(value, NODES):
            return value
        work = self.work
        if component is not self._of:
            self._of, self._before = component, work.compiled
        found = self._direct.value(value, component.id)
        if work.compiled - self._before > USUAL_CALLS:
            self.drawn += work.compiled - self._before - USUAL_CALLS
            self._before = work.compiled - USUAL_CALLS
            if self.drawn > self.options.limits.instances:
                # It will not do: the rest need not be read for nothing.
                raise NeedsCompilation
        return found

    def escaped(self, component: Component, value: Any) -> str:
        """A property as one line of text for attributes and labels."""
        text = value if type(value) is str else show(self.value(component, value), self.work)
        if len(text) > self.long:
            raise NeedsCompilation
        return escape(clean_text(text))

    def accessible(self, component: Component, *, group: bool = False) -> str:
        """See `Build.accessible`."""
        if "accessibility" not in component.props:
            return ""
        return self.labelled(component, group=group) + self.heard(component)

    def labelled(self, component: Component, *, group: bool = False) -> str:
        """See `Build.labelled`."""
        given: Accessibility | None = component.props.get("accessibility")
        if given is None:
            return ""
        label, description = self.escaped(component, given.label), self.escaped(component, given.description)
        return aria_of(label, description, "", group=group)

    def heard(self, component: Component) -> str:
        """See `Build.heard`; what may be hidden is compiled, which looks at what is inside."""
        given: Accessibility | None = component.props.get("accessibility")
        if given is None:
            return ""
        if given.hidden is not None:
            raise NeedsCompilation
        return live_of(given.live)
