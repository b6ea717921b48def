"""What stands in the thread one below the other: days, a person's words and clicks, an agent's segments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from django.utils.translation import gettext as _

from envelopes.markup.html import SafeString, html, icon, join, text
from envelopes.transports.panel.presenter.gone import load
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.types import JsonObject


@dataclass(slots=True)
class Block(PartView):
    """``seq`` is the row that began it."""

    kind = "block"

    seq: int = field(default=0, kw_only=True)


@stored
@dataclass(slots=True)
class Day(Block):
    """A line between days. The page says "Today" where it is today: only the browser knows for how long."""

    kind = "day"

    day: str

    def html(self, render: RenderContext) -> SafeString:
        return html(
            '<p class="b-day" id="{}"><time datetime="{}" data-day>{}</time></p>',
            self.id,
            self.day,
            render.page.long_day(self.day),
        )


@stored
@dataclass(slots=True)
class Me(Block):
    """What a person wrote, and what came with it. ``mid`` is the client's message id, by which the page drops its own
    copy. ``joined``: it came during the turn above, which has read it and goes on below."""

    kind = "me"

    words: str
    at: str
    mid: str = ""
    parts: list[PartView] = field(default_factory=list)
    joined: bool = False

    def html(self, render: RenderContext) -> SafeString:
        clock = render.page.clock(self.at)
        return html(
            '<div class="b-me" id="{}"{}><p class="b-sr">{}</p>{}{}<p class="b-me__meta">{}</p></div>',
            self.id,
            html(' data-mid="{}"', self.mid) if self.mid else "",
            _("You said:"),
            html('<p class="b-me__text" dir="auto">{}</p>', text(self.words)) if self.words else "",
            join(part.drawn(render) for part in self.parts),
            html("<span>{} · {}</span>", _("Added to the request above"), clock) if self.joined else clock,
        )

    def dump(self) -> JsonObject:
        return {**Block.dump(self), "parts": [part.dump() for part in self.parts]}

    @classmethod
    def load(cls, data: JsonObject) -> Self:
        return cls.of_fields({**data, "parts": [load(part) for part in data.get("parts", ())]})


@stored
@dataclass(slots=True)
class Click(Block):
    """What a person pressed on a surface."""

    kind = "click"

    label: str
    at: str

    def html(self, render: RenderContext) -> SafeString:
        label = html("<b><bdi>{}</bdi></b>", text(self.label))
        words = html(_("You pressed {}"), label) if self.label else _("You used a card")
        return html(
            '<p class="b-event" id="{}">{}<span>{}</span>{}</p>',
            self.id,
            icon("check", "b-icon--s"),
            words,
            render.page.clock(self.at),
        )


@stored
@dataclass(slots=True)
class Segment(Block):
    """A stretch of a turn. A turn that goes on after another turn has begun below it gets a new one at the bottom.

    Streamed text appears in the zone, the last element among the parts.
    """

    kind = "segment"

    turn: int
    actor: str
    at: str
    parts: list[PartView] = field(default_factory=list)

    @property
    def fixed(self) -> bool:
        return all(part.fixed for part in self.parts)

    @property
    def parts_id(self) -> str:
        return f"{self.id}p"

    @property
    def zone_id(self) -> str:
        return f"{self.id}v"

    def html(self, render: RenderContext) -> SafeString:
        name = text(render.page.name(self.actor))
        return html(
            '<article class="b-turn" id="{}" aria-label="{}"><svg class="b-turn__mark b-mark--soft" aria-hidden="true">'
            '<use href="#i-mark"/></svg><div class="b-turn__parts" id="{}"><header class="b-turn__head">'
            '<h2>{}</h2>{}</header>{}<div class="b-live" id="{}"></div></div></article>',
            self.id,
            name,
            self.parts_id,
            name,
            render.page.clock(self.at),
            join(part.drawn(render) for part in self.parts),
            self.zone_id,
        )

    def dump(self) -> JsonObject:
        return {**Block.dump(self), "parts": [part.dump() for part in self.parts]}

    @classmethod
    def load(cls, data: JsonObject) -> Self:
        return cls.of_fields({**data, "parts": [load(part) for part in data["parts"]]})
