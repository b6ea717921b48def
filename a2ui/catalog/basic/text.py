"""Text (rulebook 16, 17.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from a2ui.binding.compiler import Const, Sink
from a2ui.binding.secrets import show
from a2ui.catalog.kinds import enum, text
from a2ui.catalog.registry import ComponentType
from a2ui.errors import LimitError
from a2ui.rendering.build import LONG, Build
from a2ui.rendering.place import Emit, Op
from a2ui.safety import markdown
from a2ui.safety.limits import Limits
from a2ui.safety.text import clean_text, escape

_CLASSES = {"body": "a2-t", "caption": "a2-t a2-t--caption"} | {f"h{n}": f"a2-h a2-h{n}" for n in range(1, 6)}
_NOTICE = '<small class="a2-note">{}</small>'


class Text(ComponentType):
    """Markdown in `body`, inline Markdown in headings and captions; in a button a label without links."""

    name = "Text"
    properties = {"text": text, "variant": enum("h1", "h2", "h3", "h4", "h5", "caption", "body")}
    required = frozenset({"text"})

    def build(self, build: Build) -> None:
        variant = build.props.get("variant", "body")
        in_button = build.place.around.inline
        tag = "span" if in_button else variant if variant[0] == "h" else "div"
        role = build.role() if tag == "div" or build.place.around.opens else ""
        accessible = build.accessible()
        start = f'<{tag} id="{build.id}'
        opened = f'" class="{build.classes(_CLASSES[variant])}"{role}'
        end = f"</{tag}>"
        value = build.value("text")
        spend = _free if isinstance(value, Const) else build.spend
        inline = variant != "body" or in_button
        body = _body(build.options.limits, build.sink, spend, inline=inline, links=not in_button)
        if not isinstance(accessible, Const):
            aria, get = accessible, build.getter("text")
            build.done(
                lambda scope, context: f"{start}{context}{opened}{aria(scope)}>{body(show(get(scope)))}{end}"
            )
            return
        opened += accessible.value + ">"
        if isinstance(value, Const):
            rest = f"{opened}{body(show(value.value))}{end}"
            build.weight += len(rest)
            build.done(lambda _, context: f"{start}{context}{rest}")
            return
        read = value

        def render(scope: Any, context: str) -> str:
            shown = read(scope)
            return f"{start}{context}{opened}{body(shown if type(shown) is str else show(shown))}{end}"

        build.done(render, _emit(build, read, render))


def _free(_: int) -> bool:
    return True


def _body(
    limits: Limits, sink: Sink, spend: Callable[[int], bool], *, inline: bool, links: bool
) -> Callable[[str], str]:
    """The safe HTML inside of the element."""
    longest, plain = limits.markdown_chars, markdown.is_plain

    def body(shown: str) -> str:
        if len(shown) > LONG and not spend(len(shown)):
            return escape(clean_text(shown[:LONG])) + _too_much(limits, sink)
        if len(shown) <= longest and plain(shown):
            return escape(clean_text(shown))
        rendered = markdown.render(shown, inline=inline, limits=limits)
        html = rendered.html
        if not links and "<a" in html:
            html = escape(clean_text(shown))
        return html + _cut(shown, limits, sink) if rendered.cut else html

    return body


def _too_much(limits: Limits, sink: Sink) -> str:
    done, allowed = "There is too much text here: the rest is left out.", limits.html_chars
    sink.failed(LimitError(f"{done} The limit html_chars is {allowed}.", limit="html_chars", allowed=allowed))
    return _NOTICE.format(done)


def _cut(shown: str, limits: Limits, sink: Sink) -> str:
    """The notice for a text that is not shown as it was meant."""
    if len(shown) > limits.text_chars:
        name, done = "text_chars", "This text is too long: the rest is left out."
    elif len(shown) > limits.markdown_chars:
        name, done = "markdown_chars", "This text is too long: it is shown without formatting."
    else:
        name, done = "markdown_marks", "This text has too much formatting: it is shown without."
    allowed = getattr(limits, name)
    sink.failed(LimitError(f"{done} The limit {name} is {allowed}.", limit=name, allowed=allowed))
    return _NOTICE.format(done)


def _emit(build: Build, read: Callable[[Any], Any], render: Callable[[Any, str], str]) -> Emit:
    """A text fragment as long as the text is plain, which fits whatever the element held before."""
    start, longest = build.id, build.options.limits.markdown_chars

    def emit(scope: Any, context: str) -> Op:
        shown = show(read(scope))
        if len(shown) <= longest and markdown.is_plain(shown):
            return ["t", start + context, clean_text(shown)]
        return ["r", start + context, render(scope, context)]

    return emit
