"""The page as views, and a record of what one row changed about it.

Whole page and operations are drawn from the same views, so what a socket applied and what a reload shows cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from a2ui import ops
from a2ui.ops import Op
from envelopes.markup.html import SafeString
from envelopes.registries.transports import Frozen
from envelopes.transports.panel.presenter.blocks import Block, Day, Segment
from envelopes.transports.panel.presenter.gone import UnknownView, load
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext
from envelopes.types import JsonObject

TAIL = "tail"
"""The element at the end of the thread; blocks go in front of it (behind it are messages not yet sent)."""

EMPTY = "empty"
"""What a conversation without blocks shows."""

Standing: TypeAlias = Block | UnknownView
"""What stands in the thread one below the other."""

How: TypeAlias = Literal["open", "add", "touch"]

V = TypeVar("V", bound=PartView)


@dataclass(slots=True)
class ThreadModel:
    """``blocks`` from top to bottom: the window. Whatever a row may look for is found by an index, since the work for
    one row must not grow with the conversation.

    ``left``: so many blocks have left the window, which gives each its number. ``held``, by number: those of them that
    may still change. ``afar``: by id, the numbers of the blocks that parts which may still change stand in, frozen but
    for those. ``frozen``: what does not change any more and is not stored yet; ``past``: the last segment that is.
    """

    blocks: list[Standing] = field(default_factory=list)
    left: int = 0
    past: int = 0
    held: dict[int, Standing] = field(default_factory=dict)
    afar: dict[str, int] = field(default_factory=dict)
    frozen: dict[tuple[int, str], Frozen] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    _of_turn: dict[int, list[Segment]] = field(default_factory=dict)
    _index: dict[str, PartView] = field(default_factory=dict)
    _homes: dict[str, Segment] = field(default_factory=dict)
    _keys: dict[str, tuple[Key, ...]] = field(default_factory=dict)
    _keyed: dict[Key, dict[str, PartView]] = field(default_factory=dict)
    _drawn: dict[str, SafeString] = field(default_factory=dict)
    _stirred: dict[str, None] = field(default_factory=dict)
    _made: dict[str, None] = field(default_factory=dict)
    _touched: dict[str, None] = field(default_factory=dict)
    _steps: list[Op | tuple[How, PartView]] = field(default_factory=list)

    # -- looking ------------------------------------------------------------------------------------------------------

    def find(self, view_id: str | None, kind: type[V]) -> V | None:
        view = self._index.get(view_id) if view_id else None
        return view if isinstance(view, kind) else None

    def found(self, key: Key, kind: type[V]) -> list[V]:
        """The views with this key (``PartView.keys``), oldest first."""
        return [view for view in self._keyed.get(key, {}).values() if isinstance(view, kind)]

    def of_turn(self, turn: int, kind: type[V]) -> Iterator[V]:
        """The parts of a turn."""
        return (
            part
            for segment in self.segments_of(turn)
            for part in list(segment.parts)
            if isinstance(part, kind)
        )

    def segments_of(self, turn: int) -> list[Segment]:
        return list(self._of_turn.get(turn, ()))

    def last(self, turn: int) -> Segment | None:
        """The segment of a turn below which no other turn has said anything."""
        segment = self.segments[-1] if self.segments else None
        if segment is None or segment.turn != turn:
            return None
        number = max(self.held, default=0)
        return None if number < self.past and self.held.get(number) is segment else segment

    def home(self, view: PartView) -> Segment | None:
        """The segment that a part stands in."""
        return self._homes.get(view.id)

    @property
    def has_gone(self) -> bool:
        """Whether the code of some view is gone."""
        return any(isinstance(view, UnknownView) for view in self._index.values())

    # -- changing -----------------------------------------------------------------------------------------------------

    def open(self, block: Block) -> None:
        """A new block at the end."""
        if not self.blocks and not self.left:
            self._steps.append(ops.remove(EMPTY))
        self._made[block.id] = None
        self._stand(block)
        self._steps.append(("open", block))

    def add(self, segment: Segment, part: PartView) -> None:
        """A new part at the end of a segment."""
        self._made[part.id] = None
        segment.parts.append(part)
        self._enter(part, segment)
        self._steps.append(("add", part))
        self._changed(part)

    def touch(self, view: PartView) -> None:
        """A view has changed and is drawn again, once, however often this row changes it."""
        self._changed(view)
        self.settle(view)
        if view.id not in self._touched:
            self._touched[view.id] = None
            self._steps.append(("touch", view))

    def settle(self, view: PartView) -> None:
        """By what later rows find a view has changed, or that any do; how it looks has not."""
        self._forget_keys(view)
        self._enter_keys(view)
        if view.id in self.afar:
            self._stirred[view.id] = None

    def drop(self, view: PartView) -> None:
        self._changed(view)
        self._forget_keys(view)
        segment = self._homes.pop(view.id, None)
        if segment is not None:
            _remove(segment.parts, view)
        elif isinstance(view, Block):
            number = next((number for number, held in self.held.items() if held is view), None)
            if number is None:
                _remove(self.blocks, view)
            else:
                del self.held[number]
                self._keep(Frozen(number, "", view.seq, None))
            self._let_go(view)
        self._index.pop(view.id, None)
        if view.id not in self._made:
            self._steps.append(ops.remove(view.id))

    def added(self) -> frozenset[str]:
        """What this row has added, by id."""
        return frozenset(self._made)

    def take_back(self, before: frozenset[str]) -> None:
        """What this row has added since ``before`` goes again, but for segments and days: those are the thread's."""
        for view_id in self._made.keys() - before:
            view = self._index.get(view_id)
            if view is not None and not isinstance(view, Segment | Day):
                self.drop(view)

    def op(self, op: Op) -> None:
        """An operation on something inside a view: surfaces bring their own."""
        self._steps.append(op)

    # -- drawing ------------------------------------------------------------------------------------------------------

    def take(self, render: RenderContext) -> list[Op]:
        """What was recorded since the last call, as operations."""
        made: list[Op] = []
        for step in self._steps:
            if isinstance(step, list):
                made.append(step)
                continue
            how, view = step
            if self._index.get(view.id) is not view:
                continue  # added and taken away by the same row
            if how == "open":
                made.append(ops.insert(TAIL, "beforebegin", view.drawn(render)))
            elif self._inside_made(view):
                continue  # its segment is drawn by this same row, with this part in it
            elif how == "touch":
                if view.id not in self._made:
                    made.append(ops.replace(view.id, view.drawn(render)))
            else:
                made.append(ops.insert(self._homes[view.id].zone_id, "beforebegin", view.drawn(render)))
        self._steps.clear()
        self._touched.clear()
        self._made.clear()
        return made

    def _inside_made(self, view: PartView) -> bool:
        segment = self._homes.get(view.id)
        return segment is not None and segment.id in self._made

    def as_drawn(self, block: PartView, render: RenderContext) -> SafeString:
        """Most of a conversation is as it was when somebody looked at it before."""
        known = self._drawn.get(block.id)
        if known is None:
            known = block.drawn(render)
            if block.fixed:
                self._drawn[block.id] = known
        return known

    def _changed(self, view: PartView) -> None:
        home = self._homes.get(view.id)
        self._drawn.pop(view.id if home is None else home.id, None)

    # -- freezing -----------------------------------------------------------------------------------------------------

    def leave(self) -> Standing:
        """The first block leaves the window: it has a number now, and is held until ``freeze``."""
        block = self.blocks.pop(0)
        self.left += 1
        self.held[self.left] = block
        return block

    def freeze(self, number: int) -> None:
        """Let go of a block that is held: no row changes it any more, but for the parts that are kept by themselves."""
        block = self.held.pop(number)
        self._keep(Frozen(number, "", block.seq, block.dump()))
        self._let_go(block)
        if isinstance(block, Segment):
            self.past = max(self.past, number)
        for view in (block, *(block.parts if isinstance(block, Segment) else ())):
            self._homes.pop(view.id, None)
            if view is block or view.settled:
                self._forget(view)
            else:
                self.afar[view.id] = number

    def freeze_parts(self) -> None:
        """Let go of parts that have settled after their block."""
        for view_id in sorted(self._stirred):
            view = self._index[view_id]
            if view.settled:
                number = self.afar.pop(view_id)
                self._keep(Frozen(number, view_id, 0, view.dump()))
                self._forget(view)
        self._stirred.clear()

    def _keep(self, frozen: Frozen) -> None:
        self.frozen[frozen.number, frozen.name] = frozen

    def _forget(self, view: PartView) -> None:
        self._forget_keys(view)
        self._drawn.pop(view.id, None)
        self._index.pop(view.id, None)

    def _let_go(self, block: PartView) -> None:
        if isinstance(block, Segment):
            _remove(self.segments, block)
            of_turn = self._of_turn[block.turn]
            _remove(of_turn, block)
            if not of_turn:
                del self._of_turn[block.turn]

    # -- indexes ------------------------------------------------------------------------------------------------------

    def _stand(self, block: Standing, number: int | None = None) -> None:
        if number is None:
            self.blocks.append(block)
        else:
            self.held[number] = block
        self._enter(block, None)
        if isinstance(block, Segment):
            self.segments.append(block)
            self._of_turn.setdefault(block.turn, []).append(block)
            for part in block.parts:
                self._enter(part, block)

    def _enter(self, view: PartView, home: Segment | None) -> None:
        self._index[view.id] = view
        if home is not None:
            self._homes[view.id] = home
        self._enter_keys(view)

    def _enter_keys(self, view: PartView) -> None:
        keys = view.keys()
        if keys:
            self._keys[view.id] = keys
            for key in keys:
                self._keyed.setdefault(key, {})[view.id] = view

    def _forget_keys(self, view: PartView) -> None:
        for key in self._keys.pop(view.id, ()):
            views = self._keyed[key]
            del views[view.id]
            if not views:
                del self._keyed[key]

    # -- keeping ------------------------------------------------------------------------------------------------------

    def dump(self) -> JsonObject:
        return {
            "blocks": [block.dump() for block in self.blocks],
            "left": self.left,
            "past": self.past,
            "held": [[number, block.dump()] for number, block in self.held.items()],
            "afar": [[number, self._index[view_id].dump()] for view_id, number in self.afar.items()],
        }

    @classmethod
    def load(cls, data: JsonObject) -> ThreadModel:
        model = cls(left=data["left"], past=data["past"])
        for number, one in data["held"]:
            model._stand(block_of(one), number)
        for one in data["blocks"]:
            model._stand(block_of(one))
        for number, one in data["afar"]:
            part = load(one)
            model.afar[part.id] = number
            model._enter(part, None)
        return model


def block_of(data: JsonObject) -> Standing:
    """The block that ``PartView.dump`` described. Raises ``TypeError`` for something else."""
    block = load(data)
    if not isinstance(block, Block | UnknownView):
        raise TypeError(f"A {block.kind} does not stand in a thread by itself.")
    return block


def _remove(views: list[Any], view: PartView) -> None:
    """What goes has mostly come just before."""
    for at in range(len(views) - 1, -1, -1):
        if views[at] is view:
            del views[at]
            return
