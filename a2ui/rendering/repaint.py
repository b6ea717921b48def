"""Turns what has changed since the last repaint into fragments (D41, R5).

The order is fixed: lists, then components that were redefined, then single values; whatever lies inside something
that is sent whole is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from a2ui import ops
from a2ui.ops import Op
from a2ui.rendering.difference import difference, moved
from a2ui.rendering.guarding import tried_again
from a2ui.rendering.hiding import hiding
from a2ui.rendering.list_state import ListState
from a2ui.rendering.lists import ListSlot
from a2ui.rendering.measured import draw_whole, outgrown
from a2ui.rendering.patterns import all_instances, context_of, instances, resolve
from a2ui.rendering.place import Enclosure, Place, Several, replace_op
from a2ui.rendering.place_tree import resize
from a2ui.rendering.view import View
from a2ui.state.components import Component, Reference

_SINGLY = 50
"""Redefining a component inside a template sends so many instances one by one, above that the whole list."""


class Repaint:
    """One repaint of one view. `run` returns the fragments in the order in which they have to be applied."""

    def __init__(self, view: View, redefined: Iterable[str]) -> None:
        self._view = view
        self._redefined = dict.fromkeys(redefined)
        self._ops: list[Op] = []
        self._changed_children: dict[Place, list[Place]] = {}
        """Containers of which only the children changed, with those that are on the page."""
        self._replaced: dict[Place, None] = {}
        """Places all of whose instances are sent whole."""
        self._sent: set[tuple[Place, str]] = set()
        """Single instances with something below them that are sent whole, and new items."""

    def run(self) -> list[Op]:
        view = self._view
        view.repaints += 1
        view.compiler.work.begin()
        structure, turned = bool(self._redefined) or bool(view.index.lists), view.turned
        if view.stirred:
            view.stirred = False
            structure = structure or any(guard.shown for guard in view.guards.values())
        if view.oversized or (structure and view.listing.full):
            return self._anew()
        for component_id in [*self._redefined, *hiding(view, self._redefined)]:
            for place in list(view.places(component_id)):
                self._redefine(place)
        if view.index.lists:
            # Before anything inside of items is sent: until then the page has the old items.
            self._lists()
        for place, old in self._changed_children.items():
            self._children(place, old, place.enclosure.children_in_order if place.enclosure else [])
        for place in self._replaced:
            self._send_all(place)
        done = self._values()
        if view.guards:
            self._ops += tried_again(view.guards.values(), view.source.now, self._covered)
        structure = structure or view.turned != turned
        if not done or (structure and view.listing.full) or outgrown(view, self._ops):
            return self._anew()
        return self._ops

    def _anew(self) -> list[Op]:
        """The whole surface, as it would be drawn for a page that has nothing of it yet."""
        view = self._view
        if view.root is not None:
            view.dispose(view.root)
            view.root = None
        view.index.dirty = {}
        view.index.lists = {}
        view.listing.cut(cut=False)
        html = draw_whole(view)
        root = view.compiled()
        return [replace_op(root, root.prefix, html)]

    # ------------------------------------------------------------------ components

    def _redefine(self, place: Place) -> None:
        """Compiles a place anew, and decides what of it has to be sent."""
        view = self._view
        if not self._there(place) or place.born == view.repaints:
            return
        guard = view.guards.get(place)
        old = place.enclosure if guard is None or not guard.shown else None
        component = place.component
        known, before = dict(place.children), place.size
        view.clear(place)
        view.build(place)
        used = _used(place)
        for key, child in known.items():
            # A parent keeps the places that its new definition uses again; the others are gone.
            if key not in used and place.children.get(key) is child:
                if view.journal.on:
                    view.journal.item(place.children, key)
                del place.children[key]
                view.dispose(child)
        resize(place, before, view.budget)
        if old and _same_enclosure(old, place.enclosure) and _same_type(component, place.component):
            self._changed_children[place] = old.children_in_order
        else:
            self._replace(place)

    def _there(self, place: Place) -> bool:
        return place in self._view.places(place.component_id)

    def _replace(self, place: Place) -> None:
        outer = place.levels[0].place if place.levels else None
        if outer is not None and len(instances(place.levels, {})) > _SINGLY:
            self._replaced[outer] = None
        else:
            self._replaced[place] = None

    def _on_page(self, place: Place) -> Iterator[tuple[Any, str]]:
        """The instances of a place that are on the page and not inside of something that is sent whole."""
        if not self._there(place) or place.born == self._view.repaints:
            return
        for keys, scope, context in all_instances(place, self._view.source.now):
            if place.parent is not None and self._covered(place.parent, keys):
                continue
            if not self._sent or (place, context) not in self._sent:
                yield scope, context

    def _send_all(self, place: Place) -> None:
        for scope, context in self._on_page(place):
            self._ops.append(replace_op(place, place.prefix + context, place.raw(scope, context)))

    def _children(self, place: Place, old: list[Place], new: list[Place]) -> None:
        """The children of a container changed, itself did not: only they are sent."""
        if place in self._replaced:
            return
        shift = moved(
            [child.prefix + child.own for child in old], [child.prefix + child.own for child in new]
        )
        old_set, new_set = set(old), set(new)
        gone = [child for child in old if child not in new_set]
        for scope, context in self._on_page(place):
            self._ops += [ops.remove(child.prefix + context + child.own) for child in gone]
            parent_id = place.prefix + context
            before = ""
            for child in new:
                dom_id = child.prefix + context + child.own
                if child not in old_set:
                    self._ops.append(_insert(parent_id, before, child.render(scope, context)))
                elif child.prefix + child.own in shift:
                    self._ops.append(ops.move(dom_id, before, parent_id))
                before = dom_id

    # ------------------------------------------------------------------ lists

    def _lists(self) -> None:
        index, root = self._view.index, self._view.source.now
        pending, index.lists = index.lists, {}
        changed = []
        for state, (slot, keys, hints) in sorted(pending.items(), key=lambda entry: len(entry[1][1])):
            instance = resolve(slot.place, root, keys, hints)
            if instance is not None and slot.states.get(instance[1]) is state:
                # Nothing that is remembered of items that went may get into what is rendered from here on.
                context = instance[1]
                for key in state.lost | state.returned:
                    slot.forget_item(f"{context}-{key}", self._view.budget)
                changed.append((slot, state, keys, hints, context))
        for slot, state, keys, hints, context in changed:
            if slot.states.get(context) is state:
                instance = resolve(slot.place, root, keys, hints)
                if instance is not None and not self._covered(slot.place, keys):
                    before = state.before or []
                    self._list(slot, state, *instance)
                    if slot.counting:
                        index.renumbered(slot, state, before, keys, hints)
                if self._view.journal.on:
                    self._view.journal.state(state)
                state.settled()

    def _list(self, slot: ListSlot, state: ListState, scope: Any, context: str) -> None:
        view = self._view
        place, items = slot.place, slot.items(scope)
        old = state.before or []
        if items:
            view.listing.item_of(slot)
        view.listing.fit(slot, state, context, items)
        new = state.shown
        gone, shifted, fresh = difference(state, old, new)
        # Also before the list is sent whole: items are called otherwise where more of them are judged, without any of
        # them having gone, and may be called the same again.
        for key in gone:
            slot.forget_item(f"{context}-{key}", view.budget)
        if new and old and len(gone) == len(old):
            self._ops.append(replace_op(place, place.prefix + context, place.raw(scope, context)))
            self._sent.add((place, context))
            return
        self._ops += [ops.remove(self._item_id(slot, context, key)) for key in gone]
        self._place_items(slot, state, context, items, shifted, fresh)
        self._repeat_items(slot, state, context, items, fresh)
        self._notice(slot, state, context)

    def _repeat_items(
        self, slot: ListSlot, state: ListState, context: str, items: list[Any], fresh: set[str]
    ) -> None:
        """Items that were away for a moment are sent whole."""
        again = state.returned - fresh
        if not again:
            return
        # In page order, which is the same in every process.
        for at, key in enumerate(state.shown):
            if key not in again:
                continue
            item = self._view.listing.item_of(slot)
            slot.at = at
            html = item.render(items[at], f"{context}-{key}")
            self._ops.append(replace_op(item, self._item_id(slot, context, key), html))
            self._sent.add((item, f"{context}-{key}{item.own}"))

    def _place_items(
        self,
        slot: ListSlot,
        state: ListState,
        context: str,
        items: list[Any],
        shifted: set[str],
        fresh: set[str],
    ) -> None:
        """Moves and inserts, in page order: each goes behind its neighbour, which is in its place by then.
        New items that follow each other make one fragment."""
        item, shown, parent_id = self._view.listing.item_of(slot), state.shown, slot.place.prefix + context
        run: list[str] = []
        run_after, last = "", -1
        todo = range(len(shown)) if len(fresh) > _SINGLY else [state.position(key) for key in shifted | fresh]
        for at in sorted(todo):
            key = shown[at]
            if key not in fresh and key not in shifted:
                continue
            if run and (at != last + 1 or key in shifted):
                self._ops.append(_insert(parent_id, run_after, "".join(run)))
                run = []
            before = self._item_id(slot, context, shown[at - 1]) if at else ""
            if key in shifted:
                self._ops.append(ops.move(self._item_id(slot, context, key), before, parent_id))
            else:
                run_after = run_after if run else before
                slot.at = at
                run.append(item.render(items[at], f"{context}-{key}"))
                self._sent.add((item, f"{context}-{key}{item.own}"))
            last = at
        if run:
            self._ops.append(_insert(parent_id, run_after, "".join(run)))

    @staticmethod
    def _item_id(slot: ListSlot, context: str, key: str) -> str:
        item = slot.item
        return f"{item.prefix}{context}-{key}{item.own}" if item is not None else ""

    def _notice(self, slot: ListSlot, state: ListState, context: str) -> None:
        """Shows, corrects or removes the notice that the list goes on."""
        dom_id, html = slot.place.prefix + context, self._view.listing.notice(slot, state, context)
        if html and state.cut:
            self._ops.append(ops.replace(f"{dom_id}-xm", html))
        elif html:
            self._ops.append(ops.insert(dom_id, "beforeend", html))
        elif state.cut:
            self._ops.append(ops.remove(f"{dom_id}-xm"))
        state.cut = bool(html)

    # ------------------------------------------------------------------ values

    def _values(self) -> bool:
        """Single values; False where they come to more than the whole surface may be."""
        view, left = self._view, self._view.options.limits.surface_chars
        index, root = view.index, view.source.now
        dirty, index.dirty = index.dirty, {}
        several = len(dirty) > 1
        entries = (
            sorted(dirty.items(), key=lambda entry: entry[0][0].place.depth) if several else dirty.items()
        )
        guards = view.guards
        guarded = several or bool(self._replaced or self._sent or self._ops or guards)
        for (part, keys), hints in entries:
            place = part.place
            if guarded and (part not in place.parts or self._covered(place, keys)):
                continue
            instance = resolve(place, root, keys, hints)
            if instance is None:
                continue
            guard = guards.get(place) if guards else None
            op = part.emit(*instance) if guard is None else guard.emit(part, *instance)
            if op is not None:
                made = op.ops if isinstance(op, Several) else [op]
                self._ops += made
                left -= sum([len(one[-1]) for one in made])
                if left < 0:
                    return False
                if several and made[0][0] != "t" and (place.children or place.slot):
                    self._sent.add((place, instance[1]))
        return True

    def _covered(self, place: Place, keys: tuple[str, ...]) -> bool:
        """Whether the instance lies inside something that is sent whole."""
        now, guards = self._view.repaints, self._view.guards
        at: Place | None = place
        down = False
        while at is not None:
            if at in self._replaced or at.born == now:
                return True
            if guards and (guard := guards.get(at)) is not None and context_of(at, keys) in guard.shown:
                down = True
            if self._sent and (at, context_of(at, keys)) in self._sent:
                return True
            at = at.parent
        return down


def _same_enclosure(one: Enclosure, other: Enclosure | None) -> bool:
    return other is not None and one.shell == other.shell


def _same_type(one: Component | None, other: Component | None) -> bool:
    return one is not None and other is not None and one.type is other.type


def _used(place: Place) -> set[Reference]:
    """The keys of the children that the component of a place has now."""
    component = place.component
    if component is None:
        return set()
    return {reference for reference in component.references if reference.template is None}


def _insert(parent_id: str, after: str, html: str) -> Op:
    return ops.insert(after, "afterend", html) if after else ops.insert(parent_id, "afterbegin", html)
