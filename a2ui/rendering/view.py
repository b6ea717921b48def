"""The view of one surface: its tree of places, and the fragments that bring a page up to date.

Compiling and rendering happen here and in `repaint`; which instances a change concerns is the matter of `index`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.compiler import Compiler
from a2ui.binding.reading import Read, Sink, Source
from a2ui.binding.values import FunctionCall
from a2ui.errors import BUDGET_EXCEEDED, A2uiError, LimitError
from a2ui.rendering.build import CHARS_AN_INSTANCE, USUAL_CALLS, Build
from a2ui.rendering.index import ReadIndex
from a2ui.rendering.listing import Listing
from a2ui.rendering.lists import Budget, ListSlot
from a2ui.rendering.measured import Measure, draw_whole
from a2ui.rendering.patterns import Pattern
from a2ui.rendering.pen import drawing
from a2ui.rendering.place import NO_CHILDREN, Around, Memo, Part, Place, inlined
from a2ui.rendering.placeholders import inside_button, missing, too_much, unknown
from a2ui.safety.ids import number
from a2ui.state.components import ROOT, Reference
from a2ui.state.store import ComponentStore

if TYPE_CHECKING:
    from a2ui.engine import EngineOptions

Report = Callable[[A2uiError, str], None]


class View:
    """The rendered side of a surface.

    `source` has the data model; `report` takes note of a problem of a component found while rendering.
    """

    def __init__(
        self,
        dom_id: str,
        store: ComponentStore,
        options: EngineOptions,
        compiler: Compiler,
        source: Source,
        report: Report,
    ) -> None:
        self.dom_id = dom_id
        self.store = store
        self.options = options
        self.compiler = compiler
        self.source = source
        self.report = report
        self.index = ReadIndex()
        self._places: dict[str, Place | dict[Place, None]] = {}
        """By component; several only where a component is used at several places."""
        self.budget = Budget(options.limits.instances)
        self._listing: Listing | None = None
        self.asked: dict[str, int] = {}
        """By DOM id: how many items people asked to see of a list that is longer than the limit."""
        self.root: Place | None = None
        """None until the places are compiled: at first the surface may be drawn without."""
        self._drawn = False
        self.repaints = 0
        self.spent = 0
        """Characters of long texts that pages have at most; `spent_drawing` of them in the last drawing."""
        self.spent_drawing = 0
        self.chars = 0
        """Characters of HTML that pages have of it at most, or would have if it were not cut."""
        self.oversized = False
        """Whether that would be more than the limit, so that it is cut; see `measured`."""
        self.left_out: Collection[tuple[Place, str]] = frozenset()
        """Places and contexts of what is not shown then, without what is inside of it."""
        self.measure: Measure | None = None
        """What counts the characters of a drawing that may stop, as long as it goes on."""
        self.made = 0
        """Places that exist; `built` of them are compiled."""
        self.built = 0
        self.most = 0
        """More places than could ever be shown: what comes after so many would only be left out."""
        self._unbuilt: list[Place] = []
        self._noticed: set[Place | None] = set()
        """Parents, below which something is left out and says so."""

    # ------------------------------------------------------------------ rendering

    @property
    def live(self) -> bool:
        """Whether it is on pages: from the first rendering on, changes have to become fragments."""
        return self._drawn

    def html(self) -> str:
        """The HTML of the root component as it is now."""
        self._drawn = True
        if self.root is None:
            self.begin()
            drawn = drawing(self)
            if drawn is not None:
                self.chars = len(drawn)
                return drawn
        return draw_whole(self)

    def begin(self) -> None:
        """A drawing begins: what it costs is counted anew."""
        self.spent = 0
        self.compiler.work.begin()

    def compiled(self) -> Place:
        """The root, with all places below it. To be called before anything changes that is on pages."""
        if self.root is None:
            self.compiler.work.begin()
            self.root = self._new_place(ROOT, None, None, Around(), (), (), "")
            self._unbuilt = []
            self.build(self.root)
        return self.root

    @property
    def listing(self) -> Listing:
        """The lists; made with the first of them, as whatever refers back to the view: what was only drawn goes as
        soon as nobody needs it, and leaves nothing to the garbage collector."""
        if self._listing is None:
            self._listing = Listing(self)
        return self._listing

    def spend(self, chars: int) -> bool:
        """Takes note of a long text that is drawn; False where it is one too many. Those that an update replaces count
        until the next drawing."""
        self.spent += chars
        return self.spent <= self.options.limits.html_chars

    # ------------------------------------------------------------------ the tree

    def make_child(self, parent: Place, reference: Reference, around: Around) -> Place:
        """The place of a referenced component: the one that is there already, or a new one."""
        if parent.around.inline:
            around = inlined(around)
        children = parent.children
        if children is NO_CHILDREN:
            children = parent.children = {}
        else:
            known = children.get(reference)
            if known is not None:
                if known.around == around and known.own == self._own(reference):
                    return known
                self.dispose(known)
        place = self._new_place(
            reference.child, parent, reference, around, parent.levels, parent.scope, parent.tail
        )
        children[reference] = place
        return place

    def make_item(self, slot: ListSlot) -> Place:
        """The place of a template's component, compiled."""
        place = slot.place
        component = place.component
        reference = next(
            r for r in (component.references if component else ()) if r.template is slot.template
        )
        levels, scope = (*place.levels, slot), (*slot.path, slot)
        item = self._new_place(reference.child, place, reference, slot.around, levels, scope, "")
        self._unbuilt = []
        self.build(item)
        if self.measure is not None:
            self.measure.wrap(item)
        return item

    def _new_place(
        self,
        component_id: str,
        parent: Place | None,
        reference: Reference | None,
        around: Around,
        levels: tuple[ListSlot, ...],
        scope: Pattern,
        tail: str,
    ) -> Place:
        own = self._own(reference) if reference is not None else ""
        place = Place(
            component_id,
            parent,
            around,
            f"{self.dom_id}-{number(self.store.numbers[component_id])}",
            own,
            levels,
            scope,
            tail + own,
            self.repaints,
        )
        self.made += 1
        known = self._places.setdefault(component_id, place)
        if known is not place:
            several = known if isinstance(known, dict) else {known: None}
            several[place] = None
            self._places[component_id] = several
        self._unbuilt.append(place)
        return place

    def _own(self, reference: Reference) -> str:
        """The token of a place, "" for the first of its component."""
        ordinal = self.store.ordinal(reference)
        return f"-e{ordinal}_{number(self.store.numbers[reference.child])}" if ordinal else ""

    def places(self, component_id: str) -> Collection[Place]:
        """The places of a component, oldest first. Not to be held on to while the tree changes."""
        known = self._places.get(component_id, ())
        return (known,) if isinstance(known, Place) else known

    def build(self, place: Place) -> None:
        """Compiles a place and all new ones below it, without recursion: agents decide how deep trees are."""
        limits = self.options.limits
        self.most = 2 * min(limits.instances, len(self.store.names) + limits.repeats)
        order: list[Place] = []
        waiting = [place]
        self._noticed = set()
        while waiting:
            built = waiting.pop()
            order.append(built)
            self._build_one(built)
            if self._unbuilt:
                # Depth first in page order, so that what is cut off is at the end.
                self._unbuilt.reverse()
                waiting += self._unbuilt
                self._unbuilt = []
        for built in reversed(order):
            component = built.component
            size = 1 + built.weight
            has_input = (
                component is not None and component.type is not None and bool(component.type.input_kind)
            )
            for child in built.children.values():
                size += child.size
                has_input = has_input or child.has_input
            built.size, built.has_input = size, has_input
        if place.has_input and place.parent:
            mark_input(place.parent)

    def _build_one(self, place: Place) -> None:
        """Compiles the component into its place: as it is defined now, or a placeholder."""
        component = place.component = self.store.by_id.get(place.component_id)
        limits = self.options.limits
        self.budget.used += 1
        self.built += 1
        if place.depth >= limits.depth:
            self._refuse_place(place, "depth")
        elif self.budget.used > limits.instances:
            self._refuse_place(place, "instances")
        elif self.crowded:
            self._refuse_place(place, "repeats")
        elif component is None:
            missing(place)
        elif component.type is None:
            unknown(place, component.type_name if self.options.debug else "")
        elif place.around.inline and component.type.interactive:
            # Not shown, so nobody can use it.
            place.component = None
            inside_button(place)
        else:
            build = Build(self, place, component)
            before = self.compiler.work.compiled
            component.type.build(build)
            place.weight = build.weight // CHARS_AN_INSTANCE
            place.weight += max(0, self.compiler.work.compiled - before - USUAL_CALLS)
            self.budget.used += place.weight

    @property
    def crowded(self) -> bool:
        """Whether components are used again at too many places."""
        return self.built > len(self.store.names) + self.options.limits.repeats

    def _refuse_place(self, place: Place, limit: str) -> None:
        """Leaves the component out: with a notice, one is enough for all children of a parent."""
        allowed = getattr(self.options.limits, limit)
        what = {"depth": "levels", "instances": "elements", "repeats": "repeated elements"}[limit]
        message = f"A surface shows at most {allowed} {what}; the rest is left out. Send a smaller tree."
        self.report(LimitError(message, code=BUDGET_EXCEEDED, limit=limit, allowed=allowed), ROOT)
        place.component = None
        self.listing.cut()
        too_much(place, "" if place.parent in self._noticed else what)
        self._noticed.add(place.parent)

    # ------------------------------------------------------------------ reading

    def register(self, part: Part, sink: Sink) -> None:
        """Makes changes of what the sink has read repaint the part, also of what it will read."""
        place = part.place
        place.parts = (*place.parts, part)
        for read in sink.reads:
            self._listen(part, read)
        if sink.grows:
            sink.on_read = partial(self._listen, part)

    def _listen(self, part: Part, read: Read) -> None:
        tokens, absolute = read
        pattern = tokens if absolute else (*part.place.scope, *tokens)
        part.patterns.append(pattern)
        self.index.add(pattern, part)

    def dispose(self, place: Place) -> None:
        """Forgets a place and everything below it."""
        self.clear(place)
        self.made -= 1
        for child in place.children.values():
            self.dispose(child)
        place.children = NO_CHILDREN
        known = self._places.get(place.component_id)
        if isinstance(known, dict):
            known.pop(place, None)
        elif known is place:
            del self._places[place.component_id]

    def clear(self, place: Place) -> None:
        """Forgets how the place was compiled: what it reads and its template. Its children stay."""
        self.budget.used -= 1 + place.weight
        self.built -= 1
        place.weight = 0
        for part in place.parts:
            for pattern in part.patterns:
                self.index.discard(pattern, part)
            if isinstance(part, Memo) and place.levels and part in place.levels[-1].memos:
                place.levels[-1].memos.remove(part)
        place.parts = ()
        slot = place.slot
        if slot is not None:
            place.slot = None
            for context in list(slot.states):
                slot.forget(context, self.budget)
            if slot.item is not None:
                self.dispose(slot.item)
            if place.levels:
                place.levels[-1].inner.remove(slot)
            self.index.discard(slot.path, slot)
        place.frame = None
        place.has_input = False
        place.size = 1

    # ------------------------------------------------------------------ values

    def evaluate(self, value: Any, scope: Any, component_id: str) -> Any:
        """A dynamic value now, for a click or an edit."""
        self.compiler.work.begin()
        sink = Sink(component_id, self.report)
        return self.compiler.getter(value, sink)(scope)

    def call_arguments(self, call: FunctionCall, scope: Any, component_id: str) -> dict[str, Any]:
        """The resolved arguments of a function call."""
        return {name: self.evaluate(value, scope, component_id) for name, value in call.arguments.items()}


def mark_input(place: Place) -> None:
    """Notes that a field that somebody may be editing is inside the place."""
    at: Place | None = place
    while at is not None and not at.has_input:
        at.has_input = True
        at = at.parent
