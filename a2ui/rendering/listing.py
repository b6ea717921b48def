"""How the lists of one view are shown: which of their items, and what is said where some are left out (D28)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import descend
from a2ui.errors import LimitError
from a2ui.rendering.list_state import ListState, first_keys
from a2ui.rendering.lists import ListSlot
from a2ui.rendering.place import Place, Placement, Render, inlined
from a2ui.rendering.placeholders import cut_list

if TYPE_CHECKING:
    from a2ui.catalog.kinds import Template
    from a2ui.rendering.view import View


class Listing:
    """The lists of a view."""

    __slots__ = ("_budget", "_cut", "_journal", "_view")

    def __init__(self, view: View) -> None:
        self._view = view
        self._budget = view.budget
        self._journal = view.journal
        self._cut = False

    @property
    def full(self) -> bool:
        """Whether something is left out for want of room, or not offered. What that is depends on the order in which
        things came; so that every page shows the same, such a surface is drawn anew when its structure changes."""
        return self._cut or self._budget.exceeded or self._view.crowded

    def cut(self, *, cut: bool = True) -> None:
        """Notes that something is left out, or that nothing is so far."""
        if self._journal.on:
            self._journal.attribute(self, "_cut")
        self._cut = cut

    def offer_less(self) -> bool:
        """Once everything is drawn: takes back what lists offer and there is no room for. Whether anything was."""
        if not self._budget.exceeded:
            return False
        self.cut()
        return self._budget.limit_offers()

    def make_slot(
        self,
        place: Place,
        template: Template,
        placement: Placement,
        fill: Callable[[Place], None] | None = None,
    ) -> tuple[ListSlot, Render]:
        """The slot of a template, registered for its list, and what renders its items; `fill`: see `ListSlot`."""
        view = self._view
        if place.placement.inline:
            placement = inlined(placement)
        path = template.tokens if template.absolute else (*place.scope, *template.tokens)
        tokens = template.tokens
        if template.absolute:
            slot = ListSlot(
                place, template, path, lambda _: descend(view.source.now, tokens), placement, fill
            )
        else:
            slot = ListSlot(place, template, path, lambda scope: descend(scope, tokens), placement, fill)
        place.slot = slot
        if place.levels:
            if view.journal.on:
                view.journal.elements(place.levels[-1].inner)
            place.levels[-1].inner.append(slot)
        self._view.index.add_slot(slot)
        return slot, lambda scope, context: self.render(slot, scope, context)

    def render(self, slot: ListSlot, scope: Any, context: str) -> str:
        """The HTML of all items of one list, with a notice where some are left out."""
        items = slot.items(scope)
        state = slot.states.get(context)
        if self._journal.on:
            if state is None:
                self._journal.item(slot.states, context)
            else:
                self._journal.state(state)
        if not items:
            if state is None:
                slot.states[context] = ListState(self._most(slot, context))
            elif state.unfit:
                self.fit(slot, state, context, items)
                state.cut = False
            return ""
        item = self.item_of(slot)
        if state is None:
            state = slot.states[context] = ListState(self._most(slot, context))
            self.fit(slot, state, context, items)
        elif state.unfit:
            # Something around it is sent whole before the list itself had its turn.
            self.fit(slot, state, context, items)
        keys, render = state.keys, item.render
        if state.visible < state.count:
            items, keys = items[: state.visible], keys[: state.visible]
        if slot.watched:
            shown = []
            for at, (value, key) in enumerate(zip(items, keys, strict=True)):
                slot.at = at
                shown.append(render(value, f"{context}-{key}"))
            body = "".join(shown)
        else:
            body = "".join(
                [render(value, f"{context}-{key}") for value, key in zip(items, keys, strict=True)]
            )
        notice = self.notice(slot, state, context)
        state.cut = bool(notice)
        return body + notice

    def notice(self, slot: ListSlot, state: ListState, context: str) -> str:
        """What stands under a list that is cut; it stays once all of it is shown, so that focus has a place."""
        count = state.count
        if state.visible >= count and (count <= self._view.options.limits.list_items or not self._view.asked):
            return ""
        dom_id = slot.place.prefix + context
        if state.visible >= count and dom_id not in self._view.asked:
            return ""
        # What may be hidden from screen readers has nothing that can take focus.
        more = 0 if slot.place.hearing.hidden else self.offered(state)
        listed, cells = slot.placement.listed, slot.placement.cells
        return cut_list(dom_id, state.visible, count, more, listed=listed, cells=cells)

    def offered(self, state: ListState) -> int:
        """How many further items the page offers to show: none where the page itself is cut."""
        return 0 if self._view.oversized else state.more

    def item_of(self, slot: ListSlot) -> Place:
        """The place of the template's component; compiled when the first item shows up, since templates may
        contain themselves."""
        if slot.item is None:
            if self._journal.on:
                self._journal.attribute(slot, "item")
            slot.item = self._view.make_item(slot)
        return slot.item

    def fit(self, slot: ListSlot, state: ListState, context: str, items: list[Any]) -> None:
        """Decides how many items are shown: the limit of a list or what was asked for, and what the surface has
        left."""
        if self._journal.on:
            self._journal.state(state)
        page, size = self._view.options.limits.list_items, slot.item.size if slot.item else 1
        free = self._budget.allowed - self._budget.used + state.charged
        count, room = len(items), max(0, free // size)
        state.count, state.most, state.unfit = count, self._most(slot, context), False
        state.visible = min(count, room, state.most)
        state.more = 0
        if count > page and not slot.place.placement.inline:
            state.more = min(count - state.visible, page)
        if state.visible < min(count, state.most):
            self.cut()
        if not state.visible:
            state.follow([])
        elif len(state.keys) != min(count, state.most):
            state.follow(list(first_keys(items, state.most)))
        if state.visible < count:
            self._report_cut(
                slot, state.visible, count, "list_items" if state.visible < room else "instances"
            )
        self._budget.charge(state, size)

    def _most(self, slot: ListSlot, context: str) -> int:
        """How many items of a list are shown where there is room, also while it has fewer: by so many is judged whether
        they have an identity, and by that is compared what comes and goes."""
        page, asked = self._view.options.limits.list_items, self._view.asked
        return max(page, asked.get(slot.place.prefix + context, 0)) if asked else page

    def show(self, slot: ListSlot, context: str, count: int) -> None:
        """Shows so many items of a list that is cut from the next repaint on."""
        if self._journal.on:
            self._journal.item(self._view.asked, slot.place.prefix + context)
        self._view.asked[slot.place.prefix + context] = count
        for state, keys, hints in self._view.index.states(slot, {}):
            if slot.states.get(context) is state:
                if self._journal.on:
                    self._journal.state(state)
                state.widen(count)
                self._view.index.lists[state] = (slot, keys, hints)
                return

    def _report_cut(self, slot: ListSlot, shown: int, count: int, limit: str) -> None:
        allowed = getattr(self._view.options.limits, limit)
        hint = (
            "People can ask for more; send fewer where they should not have to."
            if limit == "list_items"
            else f"A surface shows at most {allowed} elements: send fewer items or simpler ones."
        )
        message = f"Only the first {shown} items of a list are shown. {hint}"
        self._view.report(
            LimitError(message, limit=limit, allowed=allowed, got=count), slot.place.component_id
        )
