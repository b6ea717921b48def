"""What the agent says: answers, and lines of the runtime about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.safety.markdown import render as render_markdown
from envelopes.markup.html import SafeString, html, join, trusted
from envelopes.transports.panel.presenter import overlong
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored

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
@dataclass(slots=True)
class Prose(PartView):
    """An answer. Parts with the same part id continue it (D8)."""

    kind = "prose"

    words: str

    def html(self, render: RenderContext) -> SafeString:
        return html('<div class="b-prose" id="{}" dir="auto">{}</div>', self.id, markdown(self.words))


def answer(context: RowContext) -> None:
    """A response part."""
    earlier = context.continued(Prose)
    if earlier is not None:
        earlier.words += context.words
        context.model.touch(earlier)
        return
    if context.words.strip() or context.part_id:
        prose = Prose(context.new_id(), context.words)
        context.model.add(context.segment(), prose)
        context.remember(prose)


@stored
@dataclass
class Stopped(PartView):
    """The turn was stopped: ``by`` is as its row has it."""

    kind = "stopped"

    by: str = "person"

    def html(self, render: RenderContext) -> SafeString:
        told = {"staff": _("Staff stopped this answer."), "program": _("This answer was stopped.")}
        return html(
            '<p class="b-cut" id="{}">{}</p>', self.id, told.get(self.by) or _("You stopped this answer.")
        )
