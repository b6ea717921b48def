"""Which readers a change concerns.

Walking the tree of patterns along a change finds exactly the readers of that path, of what is above and of what
is below it (6.5); the cost depends on them, not on the size of the surface.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from a2ui.data.pointer import ABSENT, Tokens, to_index
from a2ui.rendering.list_state import ListState, first_keys, index_tokens
from a2ui.rendering.lists import ListSlot
from a2ui.rendering.patterns import Bound, Node, Patterns


class Unknown:
    """The type of UNKNOWN: a value that changed in a way nobody recorded."""


UNKNOWN: Final = Unknown()


class Splice(NamedTuple):
    """The list at the tokens got (`inserted`) or lost the element at `at`; `moving`: both, one after the other."""

    tokens: Tokens
    at: int
    inserted: bool
    moving: bool = False


_FIRST = index_tokens(1)


class ReadIndex(Patterns):
    """Marks what changes of the data model make dirty."""

    __slots__ = ()

    # ------------------------------------------------------------------ changes

    def changed(self, tokens: Tokens, old: Any, new: Any, root: Any) -> None:
        """The value at the tokens went from `old` to `new` (UNKNOWN where not recorded).

        ABSENT and null look the same to who reads the value itself, not to who reads what is around it. `root` is the
        model as it is now.
        """
        if old is not UNKNOWN and same(old, new):
            return
        before, after = None if old is ABSENT else old, None if new is ABSENT else new
        self._down(self.root, tokens, 0, before, after, {}, root)

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
        keys: dict[int, list[str]] = {}
        for entry in self.states(slot, bound):
            self._rekey(slot, entry, _keys(items, entry[0], keys), old, items, bound)

    def _rekey(
        self,
        slot: ListSlot,
        entry: tuple[ListState, tuple[str, ...], tuple[int, ...]],
        keys: list[str],
        old: Any,
        items: list[Any],
        bound: Bound,
        start: int = 0,
        twin: str = "",
    ) -> None:
        """One list has other items now: compares those that are in both, from index `start` on, and the one with the
        key `twin`."""
        state, names, indices = entry
        bound_items = {**bound, **dict(zip(slot.place.levels, indices, strict=True))}
        below = self._wild_node(slot)
        previous = state.keys
        if state.has_no_room:
            if self.journal.on:
                self.journal.state(state)
            state.recount(len(items))
            self.lists[state] = (slot, names, indices)
            return
        known = type(old) is list and len(old) == state.count
        if keys == previous and len(items) == state.count:
            for index in range(start, len(keys)) if below is not None else ():
                before = old[index] if known else UNKNOWN
                if below is not None and before is not items[index]:
                    self._at(below, before, items[index], {**bound_items, slot: index})
            return
        if self.journal.on:
            self.journal.state(state)
        state.replace(list(keys), len(items))
        self.lists[state] = (slot, names, indices)
        position = {key: index for index, key in enumerate(previous)}
        for index, key in enumerate(keys):
            at = position.get(key)
            if at is None or below is None or (index < start and key != twin):
                continue
            before = old[at] if known else UNKNOWN
            if before is not items[index]:
                self._at(below, before, items[index], {**bound_items, slot: index})

    def _wild_node(self, slot: ListSlot) -> Node | None:
        node = self.root
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
        known: dict[int, list[str]] = {}
        for slot in node.slots:
            for entry in self.states(slot, bound):
                state = entry[0]
                if not state.has_no_room and state.keys != (keys := _keys(items, state, known)):
                    self._rekey(slot, entry, keys, UNKNOWN, items, bound)

    def spliced(self, splice: Splice, root: Any) -> None:
        """A list got or lost one element; `root` is the model now."""
        self._down_to_list(self.root, splice.tokens, splice, {}, root)

    def _down_to_list(self, node: Node, tokens: Tokens, splice: Splice, bound: Bound, here: Any) -> None:
        if not tokens:
            self._spliced_at(node, splice, here if type(here) is list else [], bound)
            return
        for part in node.parts:
            self.mark(part, bound)
        token, rest = tokens[0], tokens[1:]
        below = node.children.get(token)
        if below is not None:
            self._down_to_list(below, rest, splice, bound, _step(here, token))
        position = to_index(token) if node.wild and type(here) is list else None
        if position is not None:
            for slot, inside in node.wild.items():
                self._down_to_list(inside, rest, splice, {**bound, slot: position}, _step(here, token))

    def _spliced_at(self, node: Node, splice: Splice, items: list[Any], bound: Bound) -> None:
        # An item that is moved is among those that may look different now: marked before it goes and when it is back.
        if splice.inserted:
            self._splice_lists(node, splice, items, bound)
        for part in node.parts:
            self.mark(part, bound)
        for token, below in node.children.items():
            position = to_index(token)
            if position is None or position >= splice.at:
                self._at(below, UNKNOWN, _step(items, token), bound)
        if not splice.inserted:
            self._splice_lists(node, splice, items, bound)

    def _splice_lists(self, node: Node, splice: Splice, items: list[Any], bound: Bound) -> None:
        known: dict[int, list[str]] = {}
        for slot in node.slots:
            for entry in self.states(slot, bound):
                if self._splice_state(slot, entry, splice, items):
                    continue
                keys = _keys(items, entry[0], known)
                # Items with keys only move; of a list without, what is behind the place is another item now.
                before = entry[0].keys
                by_position = keys[:1] == before[:1] == _FIRST
                start = splice.at if by_position else len(items)
                # Of a list that is cut only the keys of what is shown are known to be different: another item with the
                # key of this one may come in its place, or go for it.
                spliced = keys if splice.inserted else before
                twin = spliced[splice.at] if splice.at < len(spliced) else ""
                self._rekey(slot, entry, keys, UNKNOWN, items, bound, start, twin)

    def _splice_state(
        self,
        slot: ListSlot,
        entry: tuple[ListState, tuple[str, ...], tuple[int, ...]],
        splice: Splice,
        items: list[Any],
    ) -> bool:
        """Takes note of one item that came or went; False where the whole list has to be compared."""
        state, names, indices = entry
        index = splice.at
        if state.visible < state.count:
            return False
        if self.journal.on:
            self.journal.state(state)
        if not splice.inserted:
            done = index < len(state.keys) and state.remove(index, items, moving=splice.moving)
        else:
            done = index < len(items) and state.insert(index, items)
        if done:
            self.lists[state] = (slot, names, indices)
        return done


def _keys(items: list[Any], state: ListState, known: dict[int, list[str]]) -> list[str]:
    """The keys of the items that the list may show; `known` keeps them for the next one, of which there may be
    thousands."""
    if state.has_no_room:
        return []
    found = known.get(state.most)
    if found is None:
        found = known[state.most] = first_keys(items, state.most)
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
