"""What a drawer works with: one row being applied, and what the thread remembers of the row's turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypeVar

from envelopes.protocol.rows import Row
from envelopes.protocol.slots import slot_of
from envelopes.transports.panel.presenter.blocks import Segment
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from a2ui import SurfaceChange
    from envelopes.transports.panel.presenter.thread import Thread

V = TypeVar("V", bound=PartView)


@dataclass(slots=True)
class TurnMemory:
    """What the thread remembers of a turn. Plain data, kept in the snapshot.

    ``first``: the number of the turn whose data it goes on with, and so on, or its own; ``shown``: slots that a card of
    this turn shows; ``bubbles``, ``cards``, ``files``: DOM ids by type and id of a part, progress group and artifact
    id; ``asked``: the message that started it; ``sources``: those that it has named, in order; ``cited``: citations
    whose value is not there yet; ``aside``: it was put aside, and goes on below what comes next; ``asker``: the number
    of the turn that waits for this one, 0 for none; ``speakers``: the actors that were asked in this one.
    """

    number: int
    actor: str
    status: str = ""
    since: str = ""
    segments: int = 0
    failed: bool = False
    asked: str = ""
    sources: tuple[JsonObject, ...] = ()
    cited: tuple[JsonObject, ...] = ()
    first: int = 0
    aside: bool = False
    asker: int = 0
    speakers: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    bubbles: dict[str, str] = field(default_factory=dict)
    cards: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.first = self.first or self.number
        # A snapshot has lists.
        self.sources, self.cited = tuple(self.sources), tuple(self.cited)
        self.speakers, self.shown = tuple(self.speakers), tuple(self.shown)

    def dump(self) -> JsonObject:
        """Its fields as JSON values."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


class RowContext:
    """One row being applied: what the drawers of single part types work with."""

    def __init__(self, thread: Thread, row: Row, changes: Sequence[SurfaceChange]) -> None:
        self.thread = thread
        self.row = row
        self.changes = changes
        self.model = thread.model
        self.at = row.at.isoformat()
        self.part: JsonObject = row.data.get("part") or {}
        self.render = RenderContext(
            thread.page, lambda owner, surface_id: _created(changes, owner, surface_id)
        )
        self._made = 0

    @property
    def turn(self) -> TurnMemory:
        return self.thread.turn(self.row.turn, self.row.actor)

    @property
    def words(self) -> str:
        words = self.part.get("text")
        return words if isinstance(words, str) else ""

    @property
    def data(self) -> JsonObject:
        value = self.part.get("data")
        return value if isinstance(value, dict) else {}

    @property
    def metadata(self) -> JsonObject:
        value = self.part.get("metadata")
        return value if isinstance(value, dict) else {}

    def slot(self) -> str:
        """What a piece of data is about (D11); empty when its part does not say."""
        return slot_of(self.metadata)

    @property
    def part_id(self) -> str:
        """By what later parts continue this one (D8): its type and its ``partId``; empty where it has none."""
        part_id = self.metadata.get("partId")
        return f"{self.row.part_type} {part_id}" if isinstance(part_id, str) else ""

    def continued(self, kind: type[V]) -> V | None:
        """The view of the part that this one continues, where it stands in the segment that is being written."""
        earlier = self.model.find(self.turn.bubbles.get(self.part_id), kind)
        return earlier if earlier is not None and self.model.home(earlier) is self.segment() else None

    def remember(self, view: PartView) -> None:
        """Parts with the id of this one continue ``view``."""
        if self.part_id:
            self.turn.bubbles[self.part_id] = view.id

    def new_id(self, mark: str = "e") -> str:
        """A DOM id that only this row can make."""
        self._made += 1
        return f"{mark}{self.row.seq}" if self._made == 1 else f"{mark}{self.row.seq}-{self._made}"

    def segment(self) -> Segment:
        return self.thread.segment(self)


def _created(changes: Sequence[SurfaceChange], owner: str, surface_id: str) -> str:
    for change in changes:
        if change.kind == "created" and (change.owner, change.surface_id) == (owner, surface_id):
            return change.html
    return ""
