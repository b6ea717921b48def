"""Sources: numbered behind the answer that they belong to, and marked at the values that they are about (D10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from django.utils.translation import gettext as _

from a2ui.safety.urls import safe_open
from envelopes.markup.html import SafeString, html, icon, join, text
from envelopes.part_types.citation import Cited, cited
from envelopes.protocol import pointers
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext, stored
from envelopes.types import Json, JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext


@stored
@dataclass
class Sources(PartView):
    """Numbered sources, each with its words in a popover. An item is ``{number, title, url, path, quotes}``."""

    kind = "sources"

    items: list[JsonObject] = field(default_factory=list)

    def html(self, render: RenderContext) -> SafeString:
        marks = [
            html(
                '{}<div class="b-pop" id="{}" popover role="note">{}</div>',
                mark(item["number"], pop := f"{self.id}c{offset}"),
                pop,
                _source(item),
            )
            for offset, item in enumerate(self.items)
        ]
        label = _("Source") if len(self.items) == 1 else _("Sources")
        return html('<div class="b-cites" id="{}">{} {}</div>', self.id, label, join(marks))


def mark(number: int, pop: str, title: str = "") -> SafeString:
    """The number of a source, as a button that opens what is said of it."""
    label = text(_("Source {}: {}").format(number, title)) if title else _("Source {}").format(number)
    return html(
        '<button class="b-cite" type="button" popovertarget="{}" aria-label="{}">{}</button>',
        pop,
        label,
        number,
    )


def _source(item: JsonObject) -> SafeString:
    pieces = [html("<b><bdi>{}</bdi></b>", text(item["title"]))] if item["title"] else []
    pieces += [html('<q dir="auto">{}</q>', text(quote)) for quote in item["quotes"]]
    url = safe_open(item["url"])
    if not item["title"] and url is None:
        # A place in the data says little to a person, but more than nothing.
        pieces.append(html("<cite><bdi>{}</bdi></cite>", text(item["path"])))
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
    """A citation part: a source of its turn, or one more place of one that the turn has named before."""
    said, turn = cited(context.part), context.turn
    known = next((each for each in turn.sources if said.source and each["source"] == said.source), None)
    if known is None:
        known = _new_source(context, said)
        turn.sources += (known,)
    else:
        _quoted_again(context, known, said)
    steps = pointers.tokens(said.path) if said.path is not None else None
    if steps is not None:
        mark_at = {"steps": list(steps), "slot": said.slot}
        turn.cited += ({**mark_at, **{name: known[name] for name in ("number", "pop", "title")}},)
        bind(context)


def _new_source(context: RowContext, said: Cited) -> JsonObject:
    number = len(context.turn.sources) + 1
    quotes = [said.quote] if said.quote else []
    item = {"number": number, "title": said.title, "url": said.url, "path": said.path or "", "quotes": quotes}
    segment = context.segment()
    last = segment.parts[-1] if segment.parts else None
    if isinstance(last, Sources):
        last.items.append(item)
        context.model.touch(last)
    else:
        last = Sources(context.new_id(), [item])
        context.model.add(segment, last)
    at = len(last.items) - 1
    told = {"source": said.source, "number": number, "title": said.title}
    return {**told, "view": last.id, "at": at, "pop": f"{last.id}c{at}"}


def _quoted_again(context: RowContext, known: JsonObject, said: Cited) -> None:
    view = context.model.find(known["view"], Sources)
    if view is None or not said.quote or said.quote in view.items[known["at"]]["quotes"]:
        return
    view.items[known["at"]]["quotes"].append(said.quote)
    context.model.touch(view)


class Marked(PartView):
    """A card of data at whose values sources are marked. ``cites`` are ``{steps, number, pop, title}``."""

    data: Json
    slot: str
    cites: list[JsonObject]


class Data(NamedTuple):
    """Data of a turn: what they are about, and the card that shows them; None where a surface does."""

    slot: str
    value: Json
    card: Marked | None


def bind(context: RowContext, fresh: Sequence[Data] = ()) -> None:
    """Mark the values that citations of the turn are about, as far as there are any by now: in the last data that have
    a value there. ``fresh``: data that have just come, behind those that cards of the turn show."""
    turn = context.turn
    if not turn.cited:
        return
    new = {each.card.id for each in fresh if each.card is not None}
    here = context.model.of_turn(turn.number, Marked)
    cards = {card.id: card for card in (*context.model.found(marked_in(turn.number), Marked), *here)}
    before = [Data(card.slot, card.data, card) for card in cards.values() if card.id not in new]
    waiting, turn.cited = turn.cited, ()
    for citation in waiting:
        found = _meant(citation, [*before, *fresh])
        if found is None:
            turn.cited += (citation,)
        elif found.card is not None:
            found.card.cites.append({name: citation[name] for name in ("steps", "number", "pop", "title")})
            context.model.touch(found.card)


def marked_in(turn: int) -> Key:
    """The key of cards that stand in an earlier turn, and that this one has changed."""
    return ("marked", str(turn))


def _meant(citation: JsonObject, data: Sequence[Data]) -> Data | None:
    for each in reversed(data):
        if citation["slot"] and citation["slot"] != each.slot:
            continue
        if pointers.at(each.value, citation["steps"]) is not pointers.NOTHING:
            return each
        if citation["slot"]:
            return None
    return None


def kept(cites: Iterable[JsonObject], before: Json, after: Json) -> list[JsonObject]:
    """The marks that still hold where ``after`` has taken the place of ``before``: those at values that have not
    changed, since nobody has said where the others come from."""
    return [
        each
        for each in cites
        if (value := pointers.at(after, each["steps"])) is not pointers.NOTHING
        and value == pointers.at(before, each["steps"])
    ]


class Marks:
    """The marks of one sheet of data, taken as the values are drawn that they stand at."""

    def __init__(self, cites: Iterable[JsonObject] = ()) -> None:
        self._left: dict[tuple[str, ...], list[JsonObject]] = {}
        for each in cites:
            self._left.setdefault(tuple(each["steps"]), []).append(each)

    def take(self, at: tuple[str, ...], *, below: bool) -> SafeString | str:
        """The marks of the value at ``at``; with those ``below`` it that are not drawn yet, where it ends."""
        if not self._left:
            return ""
        places = [place for place in self._left if place == at or (below and place[: len(at)] == at)]
        numbers = {each["number"]: each for place in places for each in self._left.pop(place)}
        return join(mark(number, each["pop"], each["title"]) for number, each in sorted(numbers.items()))
