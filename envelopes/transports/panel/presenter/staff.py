"""Staff in the thread: that somebody has joined or left, and what they wrote, under their own name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from a2ui import ops
from envelopes.markup.html import SafeString, html, text
from envelopes.transports.panel.presenter.blocks import Block
from envelopes.transports.panel.presenter.part_view import RenderContext, stored
from envelopes.transports.panel.presenter.prose import markdown

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext
    from envelopes.transports.panel.presenter.working import Working


@stored
@dataclass
class Takeover(Block):
    """Somebody answers in place of ``agent`` from here on, or no more."""

    kind = "takeover"

    taken: bool
    name: str
    agent: str
    at: str

    def html(self, render: RenderContext) -> SafeString:
        name = html("<b><bdi>{}</bdi></b>", text(self.name))
        agent = html("<bdi>{}</bdi>", text(render.page.name(self.agent)))
        words = (
            _("{0} joined. {1} is not answering for now.")
            if self.taken
            else _("{0} left. {1} answers again.")
        )
        return html(
            '<p class="b-event b-event--staff" id="{}"><span>{}</span>{}</p>',
            self.id,
            html(words, name, agent),
            render.page.clock(self.at),
        )


@stored
@dataclass
class StaffSaid(Block):
    """What a member of staff wrote."""

    kind = "staff"

    name: str
    words: str
    at: str

    def html(self, render: RenderContext) -> SafeString:
        name = text(self.name)
        return html(
            '<article class="b-turn b-turn--staff" id="{}" aria-label="{}">'
            '<span class="b-avatar b-turn__mark" aria-hidden="true">{}</span><div class="b-turn__parts">'
            '<header class="b-turn__head"><h2><bdi>{}</bdi></h2><span class="b-tag">{}</span>{}</header>'
            '<div class="b-prose" dir="auto">{}</div></div></article>',
            self.id,
            html(_("{}, staff"), name),
            text(initials(self.name)),
            name,
            _("Staff"),
            render.page.clock(self.at),
            markdown(self.words),
        )


def initials(name: str) -> str:
    """ "GH" for Grace Hopper."""
    words = name.split()
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()


def took_over(context: RowContext, working: Working) -> None:
    """A row that says who has the conversation; ``working`` is told."""
    data = context.row.data
    taken = data.get("state") == "taken"
    context.thread.new_day(context)
    agent = str(data.get("agent") or "")
    name = str(data.get("name") or "")
    working.taken = (name or _("Staff")) if taken else ""
    block = Takeover(context.new_id(), taken, name, agent, context.at, seq=context.row.seq)
    context.model.open(block)
    context.model.op(ops.text("to", to_whom(working.taken or context.thread.page.name(agent))))


def to_whom(name: str) -> str:
    """What the message box says while nothing is written in it."""
    return _("Write to {}").format(name)


def said(context: RowContext) -> None:
    """A part that a member of staff wrote."""
    context.thread.new_day(context)
    name = str(context.data.get("name") or "")
    context.model.open(StaffSaid(context.new_id(), name, context.words, context.at, seq=context.row.seq))
