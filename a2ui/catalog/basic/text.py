"""Text (rulebook 16, 17.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from a2ui import ops
from a2ui.binding.direct import NeedsCompilation
from a2ui.binding.reading import Const, Getter
from a2ui.binding.secrets import show
from a2ui.catalog.kinds import enum, text
from a2ui.components import BaseComponent
from a2ui.errors import LimitError
from a2ui.ops import Op
from a2ui.rendering.build import LONG, Build, always, class_names, role_of
from a2ui.rendering.place import Part, Place, Placement, replace_op
from a2ui.safety import markdown
from a2ui.safety.text import clean_text, escape

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.rendering.view import View
    from a2ui.state.components import Component

_CLASSES = {"body": "a2-t", "caption": "a2-t a2-t--caption"} | {f"h{n}": f"a2-h a2-h{n}" for n in range(1, 6)}
_HEADING = re.compile(r"<h([1-6])></h\1>\n?|<(/?)h([1-6])>")
_NOTICE = '<small class="a2-note">{}</small>'


def _heading(tag: re.Match[str]) -> str:
    """A heading in Markdown, as 1.0 writes all of them, looks like the variant of its level and has the level of all.
    One without words is left out."""
    end, level = tag[2], tag[3]
    if level is None:
        return ""
    return "</h3>" if end else f'<h3 class="{_CLASSES[f"h{min(int(level), 5)}"]}">'


def _plain_heading(shown: str) -> str:
    """What Markdown makes of one heading of plain text, "" for anything else. Most headings of 1.0 are that; read as
    Markdown, a surface with a few of them takes 3 % longer to draw."""
    words = shown.lstrip("#")
    level = len(shown) - len(words)
    words = words[1:] if words[:1] == " " else ""
    if level > 5 or not words or "#" in words or not words[0].isalnum() or not markdown.is_plain(words):
        return ""
    return f'<h3 class="{_CLASSES[f"h{level}"]}">{escape(clean_text(words))}</h3>\n'


class _Frame(NamedTuple):
    """The element round a text, from behind its id to its end, and what kind of text stands in it."""

    tag: str
    opened: str
    end: str
    inline: bool
    links: bool
    group: bool
    """Whether it has no part of its own, and needs one to be called something."""


@lru_cache(maxsize=1024)
def _frame(variant: str, placement: Placement, weight: float | None) -> _Frame:
    # A surface stands in somebody's page, whose outline it must not break: the variant is the look, the level is one.
    tag = "span" if placement.inline else "h3" if variant[0] == "h" else "div"
    role = role_of(placement) if tag == "div" or placement.opens else ""
    opened = f'" class="{class_names((_CLASSES[variant],), weight)}"{role}'
    return _Frame(
        f'<{tag} id="',
        opened,
        f"</{tag}>",
        variant != "body" or placement.inline,
        not placement.inline,
        not role and tag != "h3",
    )


_LINK = re.compile(r"\](?:[(\[:])|<[^\s>]*[:@]|://|www\.|mailto:")


def may_link(shown: str) -> bool:
    """Whether Markdown may make a link of anything in a text; errs towards yes."""
    return _LINK.search(shown) is not None


class Text(BaseComponent):
    """Markdown in `body`, inline Markdown in headings and captions; in a button a label without links."""

    name = "Text"
    properties = {"text": text, "variant": enum("h1", "h2", "h3", "h4", "h5", "caption", "body")}
    required = frozenset({"text"})

    draws = True

    def build(self, build: Build) -> None:
        frame = _frame(build.props.get("variant", "body"), build.place.placement, build.flex)
        aria, raw = build.accessible(group=frame.group), build.props.get("text")
        if build.place.hearing.hidden:
            # What is hidden from screen readers takes no focus.
            frame = frame._replace(links=False)
        if isinstance(aria, Const) and type(raw) is str:
            body = _safe(raw, frame, build.view, build.place.component_id)
            rest = f"{frame.opened}{aria.value}>{body}{frame.end}"
            build.weight += len(rest)
            build.place.set_render(partial(_fixed, frame.tag + build.id, rest))
            return
        value = build.value("text")
        label = None
        opened = frame.opened
        if isinstance(aria, Const):
            opened += aria.value + ">"
        else:
            label = aria
        words = _Words(build.place, frame, opened, always(value), label, build.view)
        build.done(words.render, words)

    def takes_focus(self, props: Mapping[str, Any]) -> bool:
        """Links do; those that come from the data are not known yet, and are no links where it is hidden."""
        given = props.get("text")
        return type(given) is str and may_link(given)

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        props = component.props
        frame = _frame(
            props.get("variant", "body"), placement, props.get("weight") if placement.weighted else None
        )
        shown = props.get("text")
        if type(shown) is not str:
            shown = show(drawing.value(component, shown), drawing.work)
        if len(shown) > drawing.long:
            raise NeedsCompilation
        aria = drawing.accessible(component, group=frame.group) if "accessibility" in props else ""
        body = shown if shown.isalnum() else _safe(shown, frame, drawing, component.id)
        return f"{frame.tag}{drawing.head}{drawing.numbers[component.number]}{frame.opened}{aria}>{body}{frame.end}"


def _fixed(start: str, rest: str, _: Any, context: str) -> str:
    return f"{start}{context}{rest}"


class _Words(Part):
    """A text that changes, with an accessible label that may change too."""

    __slots__ = ("_end", "_frame", "_label", "_opened", "_read", "_start", "_view")

    def __init__(
        self, place: Place, frame: _Frame, opened: str, read: Getter, label: Getter | None, view: View
    ) -> None:
        super().__init__(place)
        self._frame = frame
        self._start = frame.tag + place.prefix
        self._opened = opened
        self._end = frame.end
        self._read = read
        self._label = label
        self._view = view

    def render(self, scope: Any, context: str) -> str:
        shown = self._read(scope)
        body = _body(
            shown if type(shown) is str else show(shown, self._view.compiler.work),
            self._frame,
            self._view,
            self.place.component_id,
        )
        if self._label is not None:
            return f"{self._start}{context}{self._opened}{self._label(scope)}>{body}{self._end}"
        return f"{self._start}{context}{self._opened}{body}{self._end}"

    def emit(self, scope: Any, context: str) -> Op:
        """The text alone as long as it is plain, which fits whatever the element held before."""
        if self._label is None:
            shown = show(self._read(scope), self._view.compiler.work)
            if len(shown) <= self._view.options.limits.markdown_chars and markdown.is_plain(shown):
                return ops.text(self.place.prefix + context, clean_text(shown))
        return replace_op(self.place, self.place.prefix + context, self.render(scope, context))


def _body(shown: str, frame: _Frame, view: View, component_id: str) -> str:
    """The safe HTML inside of the element; only the beginning where too much text is drawn in one go."""
    if len(shown) > LONG and not view.spend(len(shown)):
        return escape(clean_text(shown[:LONG])) + _too_much(view, component_id)
    return _safe(shown, frame, view, component_id)


def _safe(shown: str, frame: _Frame, view: View | FirstDrawing, component_id: str) -> str:
    limits = view.options.limits
    if len(shown) <= limits.markdown_chars:
        if shown.isalnum():
            # One word or whole number: nothing to find, nothing to escape.
            return shown
        if markdown.is_plain(shown):
            return escape(clean_text(shown))
        if shown[:1] == "#" and not frame.inline:
            plain = _plain_heading(shown)
            if plain:
                return plain
    rendered = markdown.render(shown, inline=frame.inline, limits=limits, afford=view.compiler.work.markdown)
    html = rendered.html
    if "<h" in html:
        html = _HEADING.sub(_heading, html)
    if not frame.links and "<a" in html:
        html = escape(clean_text(shown))
    return html + _cut(shown, view, component_id, crowded=rendered.crowded) if rendered.cut else html


def _too_much(view: View, component_id: str) -> str:
    done, allowed = "There is too much text here: the rest is left out.", view.options.limits.html_chars
    message = f"{done} The limit html_chars is {allowed}."
    view.report(LimitError(message, limit="html_chars", allowed=allowed), component_id)
    return _NOTICE.format(done)


def _cut(shown: str, view: View | FirstDrawing, component_id: str, *, crowded: bool) -> str:
    """The notice for a text that is not shown as it was meant."""
    limits = view.options.limits
    if len(shown) > limits.text_chars:
        name, done = "text_chars", "This text is too long: the rest is left out."
    elif len(shown) > limits.markdown_chars:
        name, done = "markdown_chars", "This text is too long: it is shown without formatting."
    elif crowded:
        name, done = "markdown_work", "There is too much formatting here: this text is shown without."
    else:
        name, done = "markdown_marks", "This text has too much formatting: it is shown without."
    allowed = getattr(limits, name)
    message = f"{done} The limit {name} is {allowed}."
    view.report(LimitError(message, limit=name, allowed=allowed), component_id)
    return _NOTICE.format(done)
