"""What the agent says: answers, their sources, and lines of the runtime about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.safety.markdown import render as render_markdown
from a2ui.safety.urls import safe_open
from envelopes.markup.html import SafeString, html, icon, join, text, trusted
from envelopes.transports.panel.presenter import overlong
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext

_HEADING = re.compile(r"<(/?)h([1-6])>")


def within_turn(markup: str, levels: list[int]) -> SafeString:
    """Sanitised Markdown as it stands in a turn: headings below the turn's own (h2) without a gap between levels, and
    what scrolls sideways by itself in reach of the keyboard. ``levels``: of the headings that it stands under, in the
    text's own numbers; taken further by those in it."""

    def renamed(found: re.Match[str]) -> str:
        level = int(found[2])
        if not found[1]:
            while levels and levels[-1] >= level:
                levels.pop()
            levels.append(level)
        return f"<{found[1]}h{min(6, 2 + len(levels))}>"

    if "<h" in markup:
        markup = _HEADING.sub(renamed, markup)
    markup = markup.replace("<pre>", '<pre tabindex="0">')
    if "<table>" in markup:
        opened = html('<div class="b-scroll" tabindex="0" role="group" aria-label="{}"><table>', _("Table"))
        markup = markup.replace("<table>", opened).replace("</table>", "</table></div>")
    return trusted(markup)


def markdown(source: str) -> SafeString:
    """Sanitised Markdown; where it is too long for that, as much as may be read of it, the rest plain, and a notice
    below (R6, D52)."""
    made = render_markdown(source)
    if not made.cut:
        return within_turn(made.html, [])
    most = DEFAULT_LIMITS.text_chars
    begun, end = overlong.beginning(source)
    plain, rest = overlong.pieces(source[end:most], end)
    if len(source) > most:
        told = _("Showing the first {} of {} characters.").format(most, len(source))
    elif begun:
        told = _("Only the beginning is formatted: this is too long for more.")
    else:
        told = _("Shown without formatting: it is too long for that.")
    return html(
        '{}{}{}<p class="b-cut">{}</p>',
        within_turn(begun, []),
        join(plain),
        overlong.drawn(rest) if rest else "",
        told,
    )


@stored
@dataclass
class Prose(PartView):
    """An answer. Parts with the same part id continue it (D8)."""

    kind = "prose"

    words: str

    def html(self, render: RenderContext) -> SafeString:
        return html('<div class="b-prose" id="{}" dir="auto">{}</div>', self.id, markdown(self.words))


def answer(context: RowContext) -> None:
    """A response part."""
    part_id = context.metadata.get("partId")
    earlier = (
        context.model.find(context.turn.bubbles.get(part_id), Prose) if isinstance(part_id, str) else None
    )
    if earlier is not None and context.model.home(earlier) is context.segment():
        earlier.words += context.words
        context.model.touch(earlier)
        return
    if not context.words.strip() and not part_id:
        return
    prose = Prose(context.new_id(), context.words)
    context.model.add(context.segment(), prose)
    if isinstance(part_id, str):
        context.turn.bubbles[part_id] = prose.id


@stored
@dataclass
class Sources(PartView):
    """Numbered sources after the answer that they belong to, each with its words in a popover."""

    kind = "sources"

    first: int
    items: list[JsonObject] = field(default_factory=list)

    def html(self, render: RenderContext) -> SafeString:
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


def cite(context: RowContext) -> None:
    """A citation part."""
    segment = context.segment()
    last = segment.parts[-1] if segment.parts else None
    context.turn.sources += 1
    if isinstance(last, Sources):
        last.items.append(context.data)
        context.model.touch(last)
        return
    context.model.add(segment, Sources(context.new_id(), context.turn.sources, [context.data]))


@stored
@dataclass
class Stopped(PartView):
    """The person stopped the turn."""

    kind = "stopped"

    def html(self, render: RenderContext) -> SafeString:
        return html('<p class="b-cut" id="{}">{}</p>', self.id, _("You stopped this answer."))
