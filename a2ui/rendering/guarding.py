"""What keeps code of an application from taking down more than its own component.

A place of such a component is built and rendered under a guard: where that fails, a notice stands in its place. Which
instances show the notice is known, since of what is inside of them pages have nothing. Components of ours have no
guards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

from a2ui.journal import Journal
from a2ui.ops import Op
from a2ui.rendering.lists import Budget
from a2ui.rendering.patterns import all_instances
from a2ui.rendering.place import NO_CHILDREN, Part, Place, Several, replace_op
from a2ui.rendering.placeholders import not_shown
from a2ui.safety.raised import NotHtml, checked

Failed: TypeAlias = Callable[[Exception, bool], None]
"""Takes note of a failure, and whether a notice stands for it. Raises the error again where it must not be held up."""


class Tree(Protocol):
    """The places of the surface, see `place_tree`."""

    journal: Journal
    budget: Budget
    built: int
    guards: dict[Place, Guard]
    turned: int

    def clear(self, place: Place) -> None: ...
    def dispose(self, place: Place) -> None: ...
    def take_unbuilt(self) -> int: ...


class Guard:
    """The guard of one place; `shown` has the contexts of the instances that show the notice, as `Memo.shown` has
    them."""

    __slots__ = ("_failed", "_raw", "_tree", "place", "shown")

    def __init__(self, tree: Tree, place: Place, failed: Failed) -> None:
        """The place has been built."""
        self.place = place
        self.shown: dict[str, str] = {}
        self._tree = tree
        self._failed = failed
        self._raw = place.raw
        place.set_render(self.render)
        journal = tree.journal
        if journal.on:
            journal.item(tree.guards, place)
        tree.guards[place] = self
        if place.levels:
            if journal.on:
                journal.elements(place.levels[-1].memos)
            place.levels[-1].memos.append(self)

    def render(self, scope: Any, context: str) -> str:
        """What the component makes of an instance, or the notice."""
        shown, journal = self.shown, self._tree.journal
        try:
            html = checked(self._raw(scope, context))
        except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
            self._failed(error, True)
            if journal.on:
                journal.item(shown, context)
            self._tree.turned += context not in shown
            shown[context] = ""
            self._forget_lists(context)
            return not_shown(self.place.prefix + context, self.place.placement)
        if context in shown:
            if journal.on:
                journal.item(shown, context)
            del shown[context]
            self._tree.turned += 1
        return html

    def emit(self, part: Part, scope: Any, context: str) -> Op | Several | None:
        """What a part of the place sends; the whole element where it cannot say."""
        try:
            found = part.emit(scope, context)
            check_sent(found)
        except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
            self._failed(error, False)
            return replace_op(self.place, self.place.prefix + context, self.place.raw(scope, context))
        return found

    def _forget_lists(self, context: str) -> None:
        """Of lists inside of the instance nothing is shown, so they take no room."""
        waiting = [(self.place, context)]
        while waiting:
            place, here = waiting.pop()
            if place.slot is not None:
                place.slot.forget(here, self._tree.budget)
            waiting += [(child, here + child.own) for child in place.children.values()]


def check_sent(found: Any) -> None:
    """Raises NotHtml for what is no fragment."""
    made = found.ops if isinstance(found, Several) else [] if found is None else [found]
    for op in made:
        if not isinstance(op, list) or len(op) < 2 or not all(isinstance(word, str) for word in op):
            raise NotHtml


def tried_again(
    guards: Iterable[Guard], root: Any, covered: Callable[[Place, tuple[str, ...]], bool]
) -> list[Op]:
    """Fragments for what could not be shown and can be now, from the outermost in: what is around has all of it.
    `root` is the data model; `covered` tells whether an instance is inside of something that is sent whole."""
    made: list[Op] = []
    for guard in sorted([one for one in guards if one.shown], key=lambda one: one.place.depth):
        place = guard.place
        for keys, scope, context in all_instances(place, root):
            if context not in guard.shown or (place.parent and covered(place.parent, keys)):
                continue
            html = place.raw(scope, context)
            if context not in guard.shown:
                made.append(replace_op(place, place.prefix + context, html))
    return made


def give_up(tree: Tree, place: Place) -> None:
    """Takes back what has been built of a place; a notice stands there, and nothing of it can be used."""
    unbuilt = tree.take_unbuilt()
    # Each of them is forgotten as if it had been built.
    tree.budget.used += unbuilt
    tree.built += unbuilt
    tree.clear(place)
    children, place.children = place.children, NO_CHILDREN
    tree.budget.used += 1
    tree.built += 1
    for child in children.values():
        tree.dispose(child)
    place.component = None
    prefix, placement = place.prefix, place.placement
    place.set_render(lambda _, context: not_shown(prefix + context, placement))
