"""Markdown: a long text (rulebook 17.4, decision D52)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from a2ui.binding.secrets import show
from a2ui.catalog.basic.text import may_link
from a2ui.catalog.kinds import text
from a2ui.components import BaseComponent
from a2ui.errors import LimitError
from a2ui.rendering.build import LONG, Build, always
from a2ui.safety import markdown
from a2ui.safety.limits import Limits
from a2ui.safety.text import clean_text, escape

_HEADING = re.compile(r"<h([1-6])></h\1>\n?|<(/?)h([1-6])>")
_FIRST_LEVEL = 3
"""A surface stands in somebody's page: its own headings begin below those of the page, and keep their order."""
_LOOKS = 5


@lru_cache(maxsize=64)
def _long(limits: Limits) -> Limits:
    """The limits with those for long texts in place of the usual ones."""
    return replace(
        limits, markdown_chars=limits.long_markdown_chars, markdown_marks=limits.long_markdown_marks
    )


def _heading(tag: re.Match[str]) -> str:
    end, level = tag[2], tag[3]
    if level is None:
        return ""
    lower = min(int(level) + _FIRST_LEVEL - 1, 6)
    return f"</h{lower}>" if end else f'<h{lower} class="a2-h a2-h{min(int(level), _LOOKS)}">'


class Markdown(BaseComponent):
    """A text of several thousand words, whose headings keep their levels."""

    name = "Markdown"
    properties = {"text": text}
    required = frozenset({"text"})

    def build(self, build: Build) -> None:
        role = build.role()
        aria = always(build.accessible(group=not role))
        css = build.classes("a2-t", "a2-md")
        get, limits = build.getter("text"), _long(build.options.limits)
        work, links = build.compiler.work, not build.place.hearing.hidden
        inline = build.place.placement.inline
        tag = "span" if inline else "div"
        start = f'<{tag} id="{build.id}'

        def body(scope: Any) -> str:
            shown = show(get(scope), work)
            if len(shown) > LONG and not build.spend(len(shown)):
                return escape(clean_text(shown[:LONG])) + _cut(build, "html_chars", build.options.limits)
            rendered = markdown.render(shown, inline=inline, limits=limits, afford=work.markdown)
            html = _HEADING.sub(_heading, rendered.html) if "<h" in rendered.html else rendered.html
            if (inline or not links) and "<a" in html:
                html = escape(clean_text(shown))
            return html + _cut(build, _limit(shown, limits, rendered), limits) if rendered.cut else html

        def render(scope: Any, context: str) -> str:
            # Which way it runs is for its words to say: the points of its lists go with them.
            return f'{start}{context}" class="{css}" dir="auto"{role}{aria(scope)}>{body(scope)}</{tag}>'

        build.done(render)

    def takes_focus(self, props: Mapping[str, Any]) -> bool:
        """Links do; those that come from the data are not known yet, and are no links where it is hidden."""
        given = props.get("text")
        return type(given) is str and may_link(given)


_SAID: Mapping[str, str] = {
    "html_chars": "There is too much text here: the rest is left out.",
    "text_chars": "This text is too long: the rest is left out.",
    "markdown_chars": "This text is too long: it is shown without formatting.",
    "markdown_work": "There is too much formatting here: this text is shown without.",
    "markdown_marks": "This text has too much formatting: it is shown without.",
}
_SETTINGS = {"markdown_chars": "long_markdown_chars", "markdown_marks": "long_markdown_marks"}


def _limit(shown: str, limits: Limits, rendered: markdown.Markdown) -> str:
    """Which limit has cut the text."""
    if len(shown) > limits.text_chars:
        return "text_chars"
    if len(shown) > limits.markdown_chars:
        return "markdown_chars"
    return "markdown_work" if rendered.crowded else "markdown_marks"


def _cut(build: Build, name: str, limits: Limits) -> str:
    """The notice for a text that is not shown as it was meant."""
    said, allowed, setting = _SAID[name], getattr(limits, name), _SETTINGS.get(name, name)
    message = f"{said} The limit {setting} is {allowed}."
    build.failed(LimitError(message, limit=setting, allowed=allowed))
    return f'<small class="a2-note">{said}</small>'
