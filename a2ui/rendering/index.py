"""Who reads what: a tree of path patterns (design section 5).

A pattern is a path whose tokens are texts or, for "each item of that template", the `ListSlot` itself. Walking
it along a change finds exactly the readers of that path, of what is above and of what is below it (6.5); the
cost depends on them, not on the size of the surface.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from a2ui.rendering.lists import ListSlot, ListState, index_tokens, keys_of
from a2ui.state.pointer import Tokens, to_index

if TYPE_CHECKING:
    from a2ui.rendering.place import Part

Pattern: TypeAlias = "tuple[str | ListSlot, ...]"

Bound: TypeAlias = Mapping[ListSlot, int]
"""The templates on the way to a place, with the index of the item meant."""

InstanceKey: TypeAlias = "tuple[Part, tuple[str, ...]]"


class Unknown:
    """The type of UNKNOWN: a value that changed in a way nobody recorded."""


UNKNOWN: Final = Unknown()

_FIRST = index_tokens(1)


class Node:
    """One token of the patterns that begin alike."""

    __slots__ = ("children", "parts", "slots", "wild")

    def __init__(self) -> None:
        self.children: dict[str, Node] = {}
        self.wild: dict[ListSlot, Node] = {}
        self.parts: dict[Part, None] = {}
        self.slots: dict[ListSlot, None] = {}

    @property
    def empty(self) -> bool:
        return not (self.children or self.wild or self.parts or self.slots)


class ReadIndex:
    """The patterns of one surface, and the instances that changes made dirty.

    `dirty` maps (part, keys of the items around it) to the indices those keys had, which makes finding the
    instance again cheap. `lists` are the lists whose items came, went or moved.
    """

    __slots__ = ("_root", "dirty", "lists")

    def __init__(self) -> None:
        self._root = Node()
        self.dirty: dict[InstanceKey, tuple[int, ...]] = {}
        self.lists: dict[ListState, tuple[ListSlot, tuple[str, ...], tuple[int, ...]]] = {}

    # ------------------------------------------------------------------ registration

    def _node(self, pattern: Pattern) -> Node:
        node = self._root
        for token in pattern:
            table: dict[Any, Node] = node.children if type(token) is str else node.wild
            below = table.get(token)
            if below is None:
                below = table[token] = Node()
            node = below
        return node

    def add(self, pattern: Pattern, part: Part) -> None:
        self._node(pattern).parts[part] = None

    def add_slot(self, slot: ListSlot) -> None:
        self._node(slot.path).slots[slot] = None

    def discard(self, pattern: Pattern, reader: Part | ListSlot) -> None:
        """Forgets a reader, and the branch that is empty without it."""
        trail: list[tuple[dict[Any, Node], Any]] = []
        node = self._root
        for token in pattern:
            table: dict[Any, Node] = node.children if type(token) is str else node.wild
            below = table.get(token)
            if below is None:
                return
            trail.append((table, token))
            node = below
        readers: dict[Any, None] = node.slots if isinstance(reader, ListSlot) else node.parts
        readers.pop(reader, None)
        for table, token in reversed(trail):
            if not table[token].empty:
                break
            del table[token]

    # ------------------------------------------------------------------ changes

    def changed(self, tokens: Tokens, old: Any, new: Any, root: Any) -> None:
        """The value at the tokens went from `old` to `new` (None for absent, UNKNOWN where not recorded).

        `root` is the model as it is now.
        """
        if old is not UNKNOWN and same(old, new):
            return
        self._down(self._root, tokens, 0, old, new, {}, root)

    def _down(
        self, node: Node, tokens: Tokens, depth: int, old: Any, new: Any, bound: Bound, here: Any
    ) -> None:
        """`here` is the value at the node."""
        if depth == len(tokens):
            self._at(node, old, new, bound)
            return
        for part in node.parts:
            self.mark(part, bound)
        token = tokens[depth]
        if node.slots or node.wild:
            if node.slots and (depth + 1 == len(tokens) or tokens[depth + 1] in {"key", "id"}):
                self._item_changed(node, here, bound)
            index = to_index(token) if node.wild and type(here) is list else None
            if index is not None:
                inside = here[index] if index < len(here) else None
                for slot, below in node.wild.items():
                    self._down(below, tokens, depth + 1, old, new, {**bound, slot: index}, inside)
        below_token = node.children.get(token)
        if below_token is not None:
            self._down(below_token, tokens, depth + 1, old, new, bound, _step(here, token))

    def _at(self, node: Node, old: Any, new: Any, bound: Bound) -> None:
        """The value at the node itself changed."""
        if old is not UNKNOWN and same(old, new):
            return
        for part in node.parts:
            self.mark(part, bound)
        for slot in node.slots:
            self._list_replaced(slot, old, new, bound)
        for token, below in node.children.items():
            before = UNKNOWN if old is UNKNOWN else _step(old, token)
            after = UNKNOWN if new is UNKNOWN else _step(new, token)
            self._at(below, before, after, bound)

    def _list_replaced(self, slot: ListSlot, old: Any, new: Any, bound: Bound) -> None:
        items = new if type(new) is list else []
        keys: list[str] | None = None
        for state, names, indices in self.states(slot, bound):
            keys = keys_of(items) if keys is None else keys
            if keys != state.keys:
                previous = state.keys
                state.replace(keys)
                self.lists[state] = (slot, names, indices)
                self._kept(
                    slot,
                    previous,
                    keys,
                    old,
                    items,
                    {**bound, **dict(zip(slot.place.levels, indices, strict=True))},
                )
            else:
                self._kept(
                    slot,
                    keys,
                    keys,
                    old,
                    items,
                    {**bound, **dict(zip(slot.place.levels, indices, strict=True))},
                )

    def _kept(
        self,
        slot: ListSlot,
        previous: list[str],
        keys: list[str],
        old: Any,
        items: list[Any],
        bound: Bound,
        start: int = 0,
    ) -> None:
        """Compares the items that are in the old and in the new list, from index `start` on."""
        below = self._wild_node(slot)
        if below is None:
            return
        known = type(old) is list and len(old) == len(previous)
        if previous is keys:
            pairs: Iterator[tuple[int, Any]] = enumerate(old if known else [UNKNOWN] * len(items))
        else:
            position = {key: index for index, key in enumerate(previous)}
            pairs = iter(
                [
                    (i, old[position[key]] if known else UNKNOWN)
                    for i, key in enumerate(keys)
                    if key in position
                ]
            )
        for index, before in pairs:
            if index >= start and before is not items[index]:
                self._at(below, before, items[index], {**bound, slot: index})

    def _wild_node(self, slot: ListSlot) -> Node | None:
        node = self._root
        for token in (*slot.path, slot):
            below = node.children.get(token) if type(token) is str else node.wild.get(token)  # type: ignore[arg-type]
            if below is None:
                return None
            node = below
        return node

    def _item_changed(self, node: Node, items: Any, bound: Bound) -> None:
        """An item, or the member that may be its key, was written: the identity of the items may be another one."""
        if type(items) is not list:
            return
        keys = keys_of(items)
        for slot in node.slots:
            for state, names, indices in self.states(slot, bound):
                if state.keys != keys:
                    state.replace(keys)
                    self.lists[state] = (slot, names, indices)

    def spliced(self, tokens: Tokens, index: int, inserted: bool, root: Any) -> None:
        """The list at the tokens got (`inserted`) or lost the element with that index; `root` is the model now."""
        node, bound, here = [self._root], [{}], [root]
        for token in tokens:
            nodes, bounds, values = [], [], []
            for at, known, value in zip(node, bound, here, strict=True):
                for part in at.parts:
                    self.mark(part, known)
                position = to_index(token) if type(value) is list else None
                below_value = _step(value, token)
                if token in at.children:
                    nodes.append(at.children[token])
                    bounds.append(known)
                    values.append(below_value)
                for slot, below in at.wild.items() if position is not None else ():
                    nodes.append(below)
                    bounds.append({**known, slot: position})
                    values.append(below_value)
            node, bound, here = nodes, bounds, values
        for at, known, value in zip(node, bound, here, strict=True):
            self._spliced_at(at, index, inserted, value if type(value) is list else [], known)

    def _spliced_at(self, node: Node, index: int, inserted: bool, items: list[Any], bound: Bound) -> None:
        for part in node.parts:
            self.mark(part, bound)
        for token, below in node.children.items():
            position = to_index(token)
            if position is None or position >= index:
                self._at(below, UNKNOWN, _step(items, token), bound)
        for slot in node.slots:
            for state, names, indices in self.states(slot, bound):
                around = {**bound, **dict(zip(slot.place.levels, indices, strict=True))}
                if self._splice_state(state, index, inserted, items):
                    self.lists[state] = (slot, names, indices)
                    continue
                previous, keys = state.keys, keys_of(items)
                state.replace(keys)
                self.lists[state] = (slot, names, indices)
                # Of a list without keys only what is behind the place has moved.
                by_position = keys[:1] == previous[:1] == _FIRST
                self._kept(slot, previous, keys, UNKNOWN, items, around, index if by_position else 0)

    @staticmethod
    def _splice_state(state: ListState, index: int, inserted: bool, items: list[Any]) -> bool:
        if state.visible < len(state.keys):
            return False
        if inserted:
            return index < len(items) and state.insert(index, items)
        return index < len(state.keys) and state.remove(index, items)

    # ------------------------------------------------------------------ instances

    def mark(self, part: Part, bound: Bound) -> None:
        """Every instance of the part that is inside the bound items is dirty."""
        levels = part.place.levels
        if not levels:
            self.dirty[part, ()] = ()
            return
        for _, names, indices in instances(levels, bound):
            self.dirty[part, names] = indices

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


def same(old: Any, new: Any) -> bool:
    """Whether two values certainly look the same everywhere. Containers count only when they are one object:
    comparing them is left to the readers below."""
    return old is new or (type(old) is type(new) and type(old) not in (dict, list) and old == new)


def _step(value: Any, token: str) -> Any:
    if type(value) is dict:
        return value.get(token)
    if type(value) is list:
        index = to_index(token)
        return value[index] if index is not None and index < len(value) else None
    return None
