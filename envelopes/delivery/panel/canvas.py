"""The page as views, and a record of what one row changed about it.

Whole page and operations are drawn from the same views, so what a socket applied and what a reload shows cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from envelopes.delivery.panel.blocks import Block, Segment
from envelopes.delivery.panel.markup import SafeString, join
from envelopes.delivery.panel.view import Brush, View, load
from envelopes.types import JsonObject

Op: TypeAlias = list[Any]
"""One operation of D41."""

TAIL = "tail"
"""The element at the end of the thread; blocks go in front of it (behind it are messages not yet sent)."""

EMPTY = "empty"
"""What a conversation without blocks shows."""

How: TypeAlias = Literal["open", "add", "touch"]

V = TypeVar("V", bound=View)


@dataclass
class Canvas:
    blocks: list[Block] = field(default_factory=list)
    _index: dict[str, View] = field(default_factory=dict)
    _homes: dict[str, Segment] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)
    _touched: dict[str, None] = field(default_factory=dict)
    _steps: list[Op | tuple[How, View]] = field(default_factory=list)

    # -- looking ------------------------------------------------------------------------------------------------------

    def find(self, view_id: str | None, kind: type[V]) -> V | None:
        view = self._index.get(view_id) if view_id else None
        return view if isinstance(view, kind) else None

    def each(self, kind: type[V]) -> Iterator[V]:
        return (view for view in self._index.values() if isinstance(view, kind))

    def home(self, view: View) -> Segment | None:
        """The segment that a part stands in."""
        return self._homes.get(view.id)

    # -- changing -----------------------------------------------------------------------------------------------------

    def open(self, block: Block) -> None:
        """A new block at the end."""
        if not self.blocks:
            self._steps.append(["d", EMPTY])
        self.blocks.append(block)
        self._index[block.id] = block
        self._made.add(block.id)
        self._steps.append(("open", block))

    def add(self, segment: Segment, part: View) -> None:
        """A new part at the end of a segment."""
        segment.parts.append(part)
        self._index[part.id] = part
        self._homes[part.id] = segment
        self._made.add(part.id)
        self._steps.append(("add", part))

    def touch(self, view: View) -> None:
        """A view has changed and is drawn again, once, however often this row changes it."""
        if view.id not in self._touched:
            self._touched[view.id] = None
            self._steps.append(("touch", view))

    def drop(self, view: View) -> None:
        segment = self._homes.pop(view.id, None)
        if segment is not None:
            segment.parts.remove(view)
        elif isinstance(view, Block):
            self.blocks.remove(view)
        self._index.pop(view.id, None)
        if view.id not in self._made:
            self._steps.append(["d", view.id])

    def op(self, *op: Any) -> None:
        """An operation on something inside a view: surfaces bring their own."""
        self._steps.append(list(op))

    # -- drawing ------------------------------------------------------------------------------------------------------

    def take(self, brush: Brush) -> list[Op]:
        """What was recorded since the last call, as operations."""
        ops: list[Op] = []
        for step in self._steps:
            if isinstance(step, list):
                ops.append(step)
                continue
            how, view = step
            if self._index.get(view.id) is not view:
                continue  # added and taken away by the same row
            if how == "open":
                ops.append(["i", TAIL, "beforebegin", view.drawn(brush)])
            elif self._inside_made(view):
                continue  # its segment is drawn by this same row, with this part in it
            elif how == "touch":
                if view.id not in self._made:
                    ops.append(["r", view.id, view.drawn(brush)])
            else:
                ops.append(["i", self._homes[view.id].zone_id, "beforebegin", view.drawn(brush)])
        self._steps.clear()
        self._touched.clear()
        self._made.clear()
        return ops

    def _inside_made(self, view: View) -> bool:
        segment = self._homes.get(view.id)
        return segment is not None and segment.id in self._made

    def html(self, brush: Brush) -> SafeString:
        return join(block.drawn(brush) for block in self.blocks)

    # -- keeping ------------------------------------------------------------------------------------------------------

    def dump(self) -> list[JsonObject]:
        return [block.dump() for block in self.blocks]

    @classmethod
    def load(cls, blocks: list[JsonObject]) -> Canvas:
        canvas = cls()
        for data in blocks:
            block = load(data)
            if not isinstance(block, Block):
                raise TypeError(f"A {block.kind} does not stand in a thread by itself.")
            canvas.blocks.append(block)
            canvas._index[block.id] = block
            if isinstance(block, Segment):
                for part in block.parts:
                    canvas._index[part.id] = part
                    canvas._homes[part.id] = block
        return canvas
