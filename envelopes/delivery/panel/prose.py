"""What the agent says: answers, their sources, and lines of the runtime about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.safety.markdown import Markdown, render
from a2ui.safety.urls import safe_open
from envelopes.delivery.panel.markup import SafeString, html, icon, join, text, trusted
from envelopes.delivery.panel.view import Brush, View
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from envelopes.delivery.panel.scene import Scene

_HEADING = re.compile(r"<(/?)h([1-6])>")


@lru_cache(maxsize=1024)
def _rendered(source: str) -> Markdown:
    """Kept, since a page load draws every answer of a conversation again."""
    return render(source)


def _within_turn(markup: str) -> SafeString:
    """Sanitised Markdown as it stands in a turn: headings below the turn's own (h2) without a gap between levels, and
    what scrolls sideways by itself in reach of the keyboard."""
    levels: list[int] = []

    def renamed(found: re.Match[str]) -> str:
        level = int(found[2])
        if not found[1]:
            while levels and levels[-1] >= level:
                levels.pop()
            levels.append(level)
        return f"<{found[1]}h{min(6, 2 + len(levels))}>"

    markup = _HEADING.sub(renamed, markup).replace("<pre>", '<pre tabindex="0">')
    opened = html('<div class="b-scroll" tabindex="0" role="group" aria-label="{}"><table>', _("Table"))
    return trusted(markup.replace("<table>", opened).replace("</table>", "</table></div>"))


def markdown(source: str) -> SafeString:
    """Sanitised Markdown, with a notice below where it was too long for that (R6, D52)."""
    made = _rendered(source)
    shown = _within_turn(made.html)
    if not made.cut:
        return shown
    told = _("Shown without formatting: it is longer than {} characters.").format(
        DEFAULT_LIMITS.markdown_chars
    )
    if len(source) > DEFAULT_LIMITS.text_chars:
        told = _("Showing the first {} of {} characters.").format(DEFAULT_LIMITS.text_chars, len(source))
    return html('{}<p class="b-cut">{}</p>', shown, told)


@dataclass
class Prose(View):
    """An answer. Parts with the same part id continue it (D8)."""

    kind = "prose"

    words: str

    def html(self, brush: Brush) -> SafeString:
        return html('<div class="b-prose" id="{}" dir="auto">{}</div>', self.id, markdown(self.words))


def answer(scene: Scene) -> None:
    """A response part."""
    part_id = scene.metadata.get("partId")
    earlier = scene.canvas.find(scene.turn.bubbles.get(part_id), Prose) if isinstance(part_id, str) else None
    if earlier is not None and scene.canvas.home(earlier) is scene.segment():
        earlier.words += scene.words
        scene.canvas.touch(earlier)
        return
    if not scene.words.strip() and not part_id:
        return
    prose = Prose(scene.new_id(), scene.words)
    scene.canvas.add(scene.segment(), prose)
    if isinstance(part_id, str):
        scene.turn.bubbles[part_id] = prose.id


@dataclass
class Sources(View):
    """Numbered sources after the answer that they belong to, each with its words in a popover."""

    kind = "sources"

    first: int
    items: list[JsonObject] = field(default_factory=list)

    def html(self, brush: Brush) -> SafeString:
        marks = []
        for offset, item in enumerate(self.items):
            number, pop = self.first + offset, f"{self.id}c{offset}"
            marks.append(
                html(
                    '<button class="b-cite" type="button" popovertarget="{}" aria-label="{}">{}</button>'
                    '<div class="b-pop" id="{}" popover role="note">{}</div>',
                    pop,
                    _("Source {}").format(number),
                    number,
                    pop,
                    _source(item),
                )
            )
        label = _("Source") if len(self.items) == 1 else _("Sources")
        return html('<div class="b-cites" id="{}">{} {}</div>', self.id, label, join(marks))


def _source(item: JsonObject) -> SafeString:
    pieces = [html("<b><bdi>{}</bdi></b>", text(item["title"]))] if item.get("title") else []
    if item.get("quote"):
        pieces.append(html('<q dir="auto">{}</q>', text(item["quote"])))
    url = safe_open(item.get("url"))
    if not item.get("title") and url is None:
        # A place in the data says little to a person, but more than nothing.
        pieces.append(html("<cite><bdi>{}</bdi></cite>", text(item.get("path") or "")))
    if url is not None:
        pieces.append(
            html(
                '<a href="{}" target="_blank" rel="noopener noreferrer">{} {}</a>',
                url,
                _("Open the source"),
                icon("out", "b-icon--s"),
            )
        )
    return join(pieces)


def cite(scene: Scene) -> None:
    """A citation part."""
    segment = scene.segment()
    last = segment.parts[-1] if segment.parts else None
    scene.turn.sources += 1
    if isinstance(last, Sources):
        last.items.append(scene.data)
        scene.canvas.touch(last)
        return
    scene.canvas.add(segment, Sources(scene.new_id(), scene.turn.sources, [scene.data]))


@dataclass
class Stopped(View):
    """The person stopped the turn."""

    kind = "stopped"

    def html(self, brush: Brush) -> SafeString:
        return html('<p class="b-cut" id="{}">{}</p>', self.id, _("You stopped this answer."))
