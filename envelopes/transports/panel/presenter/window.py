"""The window of a thread: what leaves it, and the conversation with all of it or with gaps (D58).

What a page shows is the window, what is held before it, and what it asked for; between those stand gaps, each with a
link that brings the next page of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile

from django.utils.translation import gettext as _

from envelopes.errors import BeachError
from envelopes.markup.html import SafeString, html, icon, join
from envelopes.registries.transports import Drawn, Frozen
from envelopes.transports.panel.presenter.blocks import Click, Day, Me, Segment
from envelopes.transports.panel.presenter.gone import UnknownView, can_be_read, load
from envelopes.transports.panel.presenter.model import Standing, ThreadModel, block_of
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext

EXCHANGES = 8
"""So many, each something that a person did with what was answered, are in the window however many rows they have."""

PAGE = 8
"""Blocks of a page: a browser has to lay them out within a frame, while somebody scrolls. The first one that is asked
for from anywhere has half of that to half more."""


class Lost(BeachError):
    """Part of this conversation has to be made again from its log."""

    code = "frozen_lost"
    fault = "us"


# -- what leaves ------------------------------------------------------------------------------------------------------


def slide(model: ThreadModel, seq: int, rows: int, goes_on: Callable[[int], bool]) -> bool:
    """After row ``seq``: what the last ``rows`` rows are not about leaves the window, an exchange at a time, and what
    has left it and has settled freezes. ``goes_on``: whether a turn has not settled. Returns whether a block froze."""
    while (size := _exchange(model.blocks)) and model.blocks[size].seq <= seq + 1 - rows:
        if not _has_exchanges(model.blocks, EXCHANGES + 1):
            break
        for _each in range(size):
            model.leave()
    settled = [
        number
        for number, block in model.held.items()
        if not (isinstance(block, Segment) and goes_on(block.turn)) and all(map(can_be_read, views_in(block)))
    ]
    for number in settled:
        model.freeze(number)
    model.freeze_parts()
    return bool(settled)


def _begins(block: Standing, before: Standing) -> bool:
    """Whether an exchange begins with ``block``."""
    if isinstance(before, Day):
        return False
    return not (isinstance(block, Segment) and isinstance(before, Me | Click))


def views_in(block: Standing) -> list[PartView]:
    """A block, and the parts that stand in it."""
    return [block, *block.parts] if isinstance(block, Segment | Me) else [block]


def _exchange(blocks: Sequence[Standing]) -> int:
    """How many blocks the first exchange has; 0 where no other one follows."""
    for at in range(1, len(blocks)):
        if _begins(blocks[at], blocks[at - 1]):
            return at
    return 0


def _has_exchanges(blocks: Sequence[Standing], count: int) -> bool:
    for at, block in enumerate(blocks):
        if not at or _begins(block, blocks[at - 1]):
            count -= 1
            if not count:
                return True
    return False


# -- what was frozen --------------------------------------------------------------------------------------------------


def page_before(model: ThreadModel, after: int, before: int) -> tuple[int, int]:
    """The numbers of the first and the last block of the page above block ``before``, below block ``after``; the first
    is the greater one where there is nothing between them."""
    last = min(before - 1, model.left)
    return max(after + 1, max(0, last - 1 - PAGE // 2) // PAGE * PAGE + 1), last


def page_around(model: ThreadModel, number: int) -> tuple[int, int]:
    """The same for a page in the middle of which a block stands."""
    return max(1, number - PAGE // 2), min(number + PAGE // 2, model.left)


def thaw(model: ThreadModel, first: int, last: int, stored: Iterable[Frozen]) -> dict[int, Standing]:
    """The blocks from number ``first`` to ``last``, without those that are held anyway.

    Raises ``Lost`` where one is neither kept here nor ``stored``, or its code is gone: a replay makes something else.
    """
    known = {(each.number, each.name): each for each in (*stored, *model.frozen.values())}
    blocks: dict[int, Standing] = {}
    for number in range(first, last + 1):
        if number in model.held:
            continue
        found = known.get((number, ""))
        if found is None:
            raise Lost
        if found.data is not None:
            block = blocks[number] = block_of(found.data)
            if isinstance(block, Segment):
                block.parts = [_now(model, number, part, known) for part in block.parts]
            if any(isinstance(view, UnknownView) for view in views_in(block)):
                raise Lost
    return blocks


def _now(
    model: ThreadModel, number: int, part: PartView, known: Mapping[tuple[int, str], Frozen]
) -> PartView:
    if part.settled:
        return part
    if part.id in model.afar:
        return model.find(part.id, PartView) or part
    later = known.get((number, part.id))
    if later is None:
        raise Lost
    return load(later.data)


# -- the conversation -------------------------------------------------------------------------------------------------


def whole(model: ThreadModel, render: RenderContext, more: Mapping[int, Standing]) -> SafeString:
    """What is held, ``more`` by number, and the window, with gaps where something is left out."""
    return join(piece.html for piece in pieces(model, render, more))


def pieces(model: ThreadModel, render: RenderContext, more: Mapping[int, Standing]) -> Iterator[Drawn]:
    """The same, one below the other; a gap is of row 0."""
    above = 0
    for number, block in sorted({**more, **model.held}.items()):
        if number in model.held:
            yield Drawn(0, _gap_between(above, number, block.id))
            yield Drawn(block.seq, model.as_drawn(block, render))
        elif number - 1 not in more or number - 1 in model.held:
            yield Drawn(0, _gap_between(above, number, block.id))
            yield Drawn(block.seq, only(_run(more, number, model.held), render))
        above = number
    yield Drawn(0, _gap_between(above, model.left + 1, model.blocks[0].id if model.blocks else ""))
    yield from (Drawn(block.seq, model.as_drawn(block, render)) for block in model.blocks)


def _run(more: Mapping[int, Standing], first: int, held: Mapping[int, Standing]) -> dict[int, Standing]:
    """Those of ``more`` that follow one another from number ``first`` on."""
    return {
        number: more[number] for number in takewhile(lambda at: at in more and at not in held, count(first))
    }


def only(blocks: Mapping[int, Standing], render: RenderContext) -> SafeString:
    """These blocks, one below the other, as one element: what is far from what a person looks at costs their browser as
    much as one block does, however many pages there are (see ``.b-page``)."""
    drawn = join(block.drawn(render) for _number, block in sorted(blocks.items()))
    return html('<div class="b-page" role="group" aria-label="{}">{}</div>', _("Earlier messages"), drawn)


def _gap_between(above: int, below: int, follows: str) -> SafeString:
    return gap(above, below, follows, above) if below - above > 1 else join(())


def gap(above: int, below: int, follows: str, name: int) -> SafeString:
    """What stands for the blocks between numbers ``above`` and ``below``. ``follows``: the DOM id of the one below,
    to which the link leads where it is followed like any link. ``name``: what ``above`` was at first, for a DOM id that
    stays, and focus with it."""
    said = _("Messages in between") if above else _("Earlier messages")
    return html(
        '<nav class="b-earlier" id="g{5}" aria-label="{1}"><a class="a2-btn a2-btn--s" href="?before={2}#{3}"'
        ' data-more="g{0}-{2}-{5}">{4}<span>{1}</span><span data-for="waiting">{6}</span>'
        '<span data-for="again">{7}</span></a></nav>',
        above,
        said,
        below,
        follows,
        icon("up", "b-icon--s"),
        name,
        _("Waiting for the connection"),
        _("These messages could not be loaded. Try again"),
    )
