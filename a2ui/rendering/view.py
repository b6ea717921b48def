"""The view of one surface: its tree of places, and the fragments that bring a page up to date.

Compiling and rendering happen here and in `repaint`; which instances a change concerns is the matter of `index`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.compiler import Compiler
from a2ui.binding.reading import Counter, Getter, ReadRecorder, Source
from a2ui.binding.values import NODES
from a2ui.catalog.actions import action_of, needs_of
from a2ui.catalog.failing import failed, noted
from a2ui.errors import BUDGET_EXCEEDED, A2uiError, LimitError
from a2ui.functions.pending import PENDING
from a2ui.journal import Journal
from a2ui.rendering.build import CHARS_AN_INSTANCE, USUAL_CALLS, Build
from a2ui.rendering.first_drawing import drawing
from a2ui.rendering.guarding import Guard, give_up
from a2ui.rendering.listing import Listing
from a2ui.rendering.lists import ListSlot
from a2ui.rendering.measured import Measure, draw_whole
from a2ui.rendering.place import Place, Placement
from a2ui.rendering.place_tree import PlaceTree, mark_morphs
from a2ui.rendering.placeholders import inside_button, missing, too_much, unknown
from a2ui.state.components import ROOT
from a2ui.state.composition import may_stand_in
from a2ui.state.store import ComponentStore

if TYPE_CHECKING:
    from a2ui.catalog.component_type import ComponentType
    from a2ui.options import EngineOptions
    from a2ui.state.components import Component

Report = Callable[[A2uiError, str], None]

_NOTHING: frozenset[tuple[Place, str]] = frozenset()


class View(PlaceTree):
    """The rendered side of a surface.

    `source` has the data model; `report` takes note of a problem of a component found while rendering.
    """

    # With so many attributes a dictionary for each would take 1.5 KiB.
    __slots__ = (
        "_drawn", "_listing", "_noticed", "asked", "chars", "compiler", "focusing", "hiding", "left_out", "measure",
        "most", "options", "oversized", "report", "root", "source", "spent", "spent_drawing",
    )  # fmt: skip

    def __init__(
        self,
        dom_id: str,
        store: ComponentStore,
        options: EngineOptions,
        compiler: Compiler,
        source: Source,
        report: Report,
        journal: Journal,
    ) -> None:
        super().__init__(dom_id, store, options.limits.instances, journal, compiler.calls)
        self.options = options
        self.compiler = compiler
        self.source = source
        self.report = report
        self._listing: Listing | None = None
        self.asked: dict[str, int] = {}
        """By DOM id: how many items people asked to see of a list that is longer than the limit."""
        self.root: Place | None = None
        """None until the places are compiled: at first the surface may be drawn without."""
        self._drawn = False
        self.spent = 0
        """Characters of long texts that pages have at most; `spent_drawing` of them in the last drawing."""
        self.spent_drawing = 0
        self.chars = 0
        """Characters of HTML that pages have of it at most, or would have if it were not cut."""
        self.oversized = False
        """Whether that would be more than the limit, so that it is cut; see `measured`."""
        self.left_out: Collection[tuple[Place, str]] = _NOTHING
        """Places and contexts of what is not shown then, without what is inside of it."""
        self.measure: Measure | None = None
        """What counts the characters of a drawing that may stop, as long as it goes on."""
        self.most = 0
        """More places than could ever be shown: what comes after so many would only be left out."""
        self.focusing: dict[str, bool] = {}
        """Which components can take focus, as far as somebody has asked while compiling."""
        self.hiding: dict[str, None] = {}
        """Components that ask, or once did, to be hidden from screen readers."""
        self._noticed: dict[Place | None, None] = {}
        """Parents, below which something is left out and says so."""

    def saved(self) -> tuple[Any, ...]:
        """See `journal.Saved`; what is in the tree is noted where it changes."""
        index = self.index
        return (
            self.root, self._listing, self._drawn, self.spent, self.spent_drawing, self.chars, self.oversized,
            self.left_out, self.most, self.repaints, self.made, self.built, self.budget.used, self.turned, self.stirred,
            index.dirty.copy() if index.dirty else {}, index.lists.copy() if index.lists else {},
            self.compiler.work.saved(),
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """See `journal.Saved`."""
        index = self.index
        (
            self.root, self._listing, self._drawn, self.spent, self.spent_drawing, self.chars, self.oversized,
            self.left_out, self.most, self.repaints, self.made, self.built, self.budget.used, self.turned, self.stirred,
            index.dirty, index.lists, work,
        ) = saved  # fmt: skip
        self.compiler.work.load(work)

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
            self.root = self._new_place(ROOT, None, "", Placement(), (), (), "")
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

    def fall_apart(self) -> None:
        super().fall_apart()
        self._listing = None

    def spend(self, chars: int) -> bool:
        """Takes note of a long text that is drawn; False where it is one too many. Those that an update replaces count
        until the next drawing."""
        self.spent += chars
        return self.spent <= self.options.limits.html_chars

    # ------------------------------------------------------------------ the tree

    def make_item(self, slot: ListSlot) -> Place:
        """The place of a template's component, compiled."""
        if slot.fill is not None:
            piece = self._make_item_piece(slot)
            slot.fill(piece)
            piece.size = 1 + piece.weight
            self.budget.used += piece.weight
            if self.measure is not None:
                self.measure.wrap(piece)
            return piece
        place = slot.place
        component = place.component
        reference = next(
            r for r in (component.references if component else ()) if r.template is slot.template
        )
        levels, scope = (*place.levels, slot), (*slot.path, slot)
        own = self._own(reference)
        item = self._new_place(reference.child, place, own, slot.placement, levels, scope, "")
        self._unbuilt = []
        self.build(item)
        if self.measure is not None:
            self.measure.wrap(item)
        return item

    def build(self, place: Place) -> None:
        """Compiles a place and all new ones below it, without recursion: agents decide how deep trees are."""
        limits = self.options.limits
        self.most = 2 * min(limits.instances, len(self.store.names) + limits.repeats)
        order: list[Place] = []
        waiting = [place]
        self._noticed = {}
        self.focusing = {}
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
            kind = component.type if component is not None else None
            morphs = built.hearing.live or (kind is not None and kind.input_kind != "")
            for child in built.children.values():
                size += child.size
                if child.morphs:
                    morphs = True
            built.size, built.morphs = size, morphs
        if place.morphs and place.parent:
            mark_morphs(place.parent, self.journal)

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
        elif self.built > len(self.store.names) + limits.repeats:
            self._refuse_place(place, "repeats")
        elif component is None:
            missing(place)
        elif component.type is None:
            unknown(place, component.type_name if self.options.debug else "")
        elif self.store.restricts and not self._allowed(place, component.type):
            place.component = None
            unknown(place, component.type_name if self.options.debug else "")
        elif place.placement.inline and component.type.interactive:
            # Not shown, so nobody can use it.
            place.component = None
            inside_button(place)
        else:
            build = Build(self, place, component)
            before = self.compiler.work.compiled
            if self.calls is not None and "action" in component.props:
                build.waits = self._ask_before_click(build, component)
            try:
                component.type.build(build)
            except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
                self._give_up(place, component, error)
                return
            if not component.type.ours:
                Guard(self, place, partial(self._failed, component, component.type))
            calls = self.compiler.work.compiled - before - USUAL_CALLS
            weight = build.weight // CHARS_AN_INSTANCE + (max(0, calls))
            if weight:
                place.weight = weight
                self.budget.used += weight

    def _give_up(self, place: Place, component: Component, error: Exception) -> None:
        """What is not ours cannot be built. Raises an error of ours again."""
        if component.type is None or component.type.ours:
            raise error
        self._failed(component, component.type, error, True)
        give_up(self, place)

    def _failed(self, component: Component, kind: ComponentType, error: Exception, noticed: bool) -> None:
        """See `guarding.Failed`."""
        catalog_id = self.store.catalog_id(component)
        noted(
            kind, catalog_id, component.id, error, "it was drawn" if noticed else "it was brought up to date"
        )
        if noticed:
            self.report(failed(kind, catalog_id, error), component.id)

    def _ask_before_click(self, build: Build, component: Component) -> Getter | None:
        """What an action needs of the agent is asked while its button is shown: a click finds the answers there. See
        `Build.waits`."""
        needed = [value for value in needs_of(action_of(component.props)) if self._asks(build, value)]
        if not needed:
            return None
        getters = [self.compiler.getter(value, build) for value in needed]
        return lambda scope: any(get(scope) is PENDING for get in getters)

    def _asks(self, build: Build, value: Any) -> bool:
        """Whether a value calls a function that the agent runs."""
        if not isinstance(value, NODES) or self.calls is None:
            return False
        recorder = build.new_recorder()
        self.compiler.compile(value, recorder)
        return self.calls.sites.pop(recorder, None) is not None

    @staticmethod
    def _allowed(place: Place, kind: ComponentType) -> bool:
        """Whether a component may stand where it does. What is inside of something unknown is not judged."""
        around = place.parent.component if place.parent is not None else None
        if place.parent is not None and (around is None or around.type is None):
            return True
        return may_stand_in(kind, around.type if around is not None else None)

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
        self._noticed[place.parent] = None

    # ------------------------------------------------------------------ values

    def evaluate(self, value: Any, scope: Any, component_id: str, counter: Counter | None = None) -> Any:
        """A dynamic value now, for a click or an edit; `counter`: the template whose item it is in."""
        self.compiler.work.begin()
        recorder = ReadRecorder(component_id, self.report, counter)
        found = self.compiler.getter(value, recorder)(scope)
        if self.calls is not None:
            # Evaluated once: it is nothing that is shown.
            self.calls.sites.pop(recorder, None)
        return found
