"""Who reads what: a tree of path patterns (design section 5).

A pattern is a path whose tokens are texts or, for "each item of that template", the `ListSlot` itself. Instances
have no objects; they are enumerated from the lists that are on the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from a2ui.data.pointer import Tokens, to_index
from a2ui.journal import Journal
from a2ui.rendering.list_state import ListState
from a2ui.rendering.lists import ListSlot

if TYPE_CHECKING:
    from a2ui.rendering.place import Part, Place

Pattern: TypeAlias = "tuple[str | ListSlot, ...]"

Bound: TypeAlias = Mapping[ListSlot, int]
"""The templates on the way to a place, with the index of the item meant."""

InstanceKey: TypeAlias = "tuple[Part, tuple[str, ...]]"


_NOTHING: Final[dict[Any, Any]] = {}


class Node:
    """One token of the patterns that begin alike."""

    __slots__ = ("children", "parts", "slots", "wild")

    def __init__(self) -> None:
        # Most nodes hold one kind of thing; the shared empty ones are replaced before anything is put in.
        self.children: dict[str, Node] = _NOTHING
        self.wild: dict[ListSlot, Node] = _NOTHING
        self.parts: dict[Part, None] = _NOTHING
        self.slots: dict[ListSlot, None] = _NOTHING

    @property
    def empty(self) -> bool:
        return not (self.children or self.wild or self.parts or self.slots)


class Patterns:
    """The patterns of one surface, and the instances that changes made dirty; what a change concerns is the
    matter of `ReadIndex`.

    `dirty` maps (part, keys of the items around it) to the indices those keys had, which makes finding the
    instance again cheap. `lists` are the lists whose items came, went or moved.
    """

    __slots__ = ("dirty", "journal", "lists", "root")

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.root = Node()
        self.dirty: dict[InstanceKey, tuple[int, ...]] = {}
        self.lists: dict[ListState, tuple[ListSlot, tuple[str, ...], tuple[int, ...]]] = {}

    # ------------------------------------------------------------------ registration

    def _node(self, pattern: Pattern) -> Node:
        node, journal = self.root, self.journal
        for token in pattern:
            if type(token) is str:
                below = node.children.get(token)
                if below is None:
                    below = Node()
                    if node.children is _NOTHING:
                        node.children = {}
                    if journal.on:
                        journal.item(node.children, token)
                    node.children[token] = below
            else:
                below = node.wild.get(token)  # type: ignore[arg-type]
                if below is None:
                    below = Node()
                    if journal.on:
                        journal.attribute(node, "wild")
                    node.wild = {**node.wild, token: below}  # type: ignore[dict-item]
            node = below
        return node

    def add(self, pattern: Pattern, part: Part) -> None:
        node = self._node(pattern)
        if node.parts is _NOTHING:
            node.parts = {}
        if self.journal.on:
            self.journal.item(node.parts, part)
        node.parts[part] = None

    def add_slot(self, slot: ListSlot) -> None:
        node = self._node(slot.path)
        if self.journal.on:
            self.journal.attribute(node, "slots")
        node.slots = {**node.slots, slot: None}

    def discard(self, pattern: Pattern, reader: Part | ListSlot) -> None:
        """Forgets a reader, and the branch that is empty without it."""
        trail: list[tuple[dict[Any, Node], Any]] = []
        node = self.root
        for token in pattern:
            table: dict[Any, Node] = node.children if type(token) is str else node.wild
            below = table.get(token)
            if below is None:
                return
            trail.append((table, token))
            node = below
        readers: dict[Any, None] = node.slots if isinstance(reader, ListSlot) else node.parts
        if self.journal.on and reader in readers:
            # What a change marks first is sent first: they have to come back in their order.
            self.journal.entries(readers)
        readers.pop(reader, None)
        for table, token in reversed(trail):
            if not table[token].empty:
                break
            if self.journal.on:
                self.journal.entries(table)
            del table[token]

    def readers(self, tokens: Tokens) -> list[Part]:
        """The parts that read exactly the path, in whichever item."""
        nodes = [self.root]
        for token in tokens:
            below = [node.children[token] for node in nodes if token in node.children]
            if to_index(token) is not None:
                below += [inside for node in nodes for inside in node.wild.values()]
            nodes = below
        return [part for node in nodes for part in node.parts]

    # ------------------------------------------------------------------ instances

    def mark(self, part: Part, bound: Bound) -> None:
        """Every instance of the part that is inside the bound items is dirty."""
        levels = part.place.levels
        if not levels:
            self.dirty[part, ()] = ()
            return
        for _, names, indices in instances(levels, bound):
            self.dirty[part, names] = indices

    def renumbered(
        self,
        slot: ListSlot,
        state: ListState,
        before: list[str],
        names: tuple[str, ...],
        indices: tuple[int, ...],
    ) -> None:
        """Parts that show the position of their item are dirty in the items that stand elsewhere than `before`; names
        and indices are of the items around the list."""
        was = {key: at for at, key in enumerate(before)}
        for at, key in enumerate(state.shown):
            if was.get(key, at) != at:
                for part in slot.counting:
                    self.dirty[part, (*names, key)] = (*indices, at)

    @staticmethod
    def states(slot: ListSlot, bound: Bound) -> list[tuple[ListState, tuple[str, ...], tuple[int, ...]]]:
        """The lists of a template inside the bound items, with the keys and indices of the items around them."""
        tail = slot.place.tail
        found = []
        for context, names, indices in instances(slot.place.levels, bound):
            state = slot.states.get(context + tail)
            if state is not None:
                found.append((state, names, indices))
        return found


def instances(
    levels: tuple[ListSlot, ...], bound: Bound
) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    """(context, keys, indices) of every combination of shown items of the templates, narrowed to the bound ones."""
    found: list[tuple[str, tuple[str, ...], tuple[int, ...]]] = [("", (), ())]
    for slot in levels:
        only = bound.get(slot)
        tail = slot.place.tail
        below = []
        for context, names, indices in found:
            state = slot.states.get(context + tail)
            if state is None:
                continue
            if only is None:
                below += [
                    (f"{context}{tail}-{key}", (*names, key), (*indices, index))
                    for index, key in enumerate(state.shown)
                ]
            elif only < state.visible:
                key = state.keys[only]
                below.append((f"{context}{tail}-{key}", (*names, key), (*indices, only)))
        found = below
    return found


def resolve(place: Place, root: Any, keys: tuple[str, ...], hints: tuple[int, ...]) -> tuple[Any, str] | None:
    """(scope value, context) of the instance inside the items with these keys, None if it is not shown. The templates
    around it are at these items from now on.

    `root` is the data model, `hints` are the indices where the keys were last seen.
    """
    scope = root
    context = ""
    for slot, key, hint in zip(place.levels, keys, hints, strict=True):
        context += slot.place.tail
        state = slot.states.get(context)
        if state is None:
            return None
        if hint >= len(state.keys) or state.keys[hint] != key:
            try:
                hint = state.keys.index(key)  # noqa: PLW2901
            except ValueError:
                return None
        items = slot.items(scope)
        if hint >= state.visible or hint >= len(items):
            return None
        scope = items[hint]
        if slot.watched:
            slot.at = hint
        context += "-" + key
    return scope, context + place.tail


def context_of(place: Place, keys: tuple[str, ...]) -> str:
    """The context of the instance of a place inside the items with these keys (those of further levels too)."""
    context = ""
    for slot, key in zip(place.levels, keys, strict=False):
        context += f"{slot.place.tail}-{key}"
    return context + place.tail


def all_instances(place: Place, root: Any) -> Iterator[tuple[tuple[str, ...], Any, str]]:
    """(keys, scope value, context) of every shown instance of a place, one after the other: the templates around are at
    its items as long as nobody asks for the next."""
    for _, keys, hints in instances(place.levels, {}):
        instance = resolve(place, root, keys, hints)
        if instance is not None:
            yield (keys, *instance)
