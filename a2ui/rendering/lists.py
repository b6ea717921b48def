"""Which items of a list are on the page, and the fragments that bring the page up to date (D28, D31)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from a2ui.safety.ids import index_token, item_keys, key_token

if TYPE_CHECKING:
    from a2ui.catalog.kinds import Template
    from a2ui.rendering.patterns import Pattern
    from a2ui.rendering.place import Around, Memo, Place

_SCALARS = (str, int, float)

_INDEX_TOKENS = [index_token(n) for n in range(256)]


def keys_of(items: list[Any]) -> list[str]:
    """The key token of each item: by `key` or `id`, else by position."""
    found = item_keys(items)
    return found if found is not None else index_tokens(len(items))


def index_tokens(count: int) -> list[str]:
    """The tokens of the first so many positions."""
    have = len(_INDEX_TOKENS)
    if have < count:
        # In one step: appending one by one, two threads would both append the same.
        _INDEX_TOKENS[have:count] = [index_token(n) for n in range(have, count)]
    return _INDEX_TOKENS[:count]


def first_keys(items: list[Any], most: int) -> list[str]:
    """The key tokens of the first items. Whether items have an identity is judged by these."""
    return keys_of(items[:most] if len(items) > most else items)


class ListState:
    """One list on the page.

    `keys` follow the data at once; `before` is what the page shows, None while that is the same. As long as only
    single items came, went or moved, `journal` names them, with whether they were on the page before: then the
    fragments follow from it without comparing the lists. Only the first `visible` keys are shown.

    Of a long list only the first `most` items have keys: no more can be shown, and a surface may show one list of a
    million items at thousands of places. `count` is how many items there are. A list for which there was no room has
    no keys at all.
    """

    __slots__ = (
        "_field", "again", "before", "charged", "count", "cut", "journal", "keys", "lost", "more", "most", "unfit",
        "visible",
    )  # fmt: skip

    def __init__(self, most: int) -> None:
        self.keys: list[str] = []
        self.visible = 0
        self.count = 0
        self.most = most
        self.unfit = False
        """Whether the items changed since it was decided how many are shown."""
        self.before: list[str] | None = None
        self.journal: dict[str, bool] | None = None
        self.lost: set[str] = set()
        """Items that went since the page was last brought up to date. Changes are not followed inside of them."""
        self.again: set[str] = set()
        """Items that went and came back since then: on the page, but who knows what they show."""
        self.charged = 0
        """Instances that the list counts for in the budget of its surface."""
        self.cut = False
        """Whether the page has a notice that the list goes on, or did."""
        self.more = 0
        """How many further items the page offers to show."""
        self._field: str | None = None

    @property
    def shown(self) -> Sequence[str]:
        """The keys of the items on the page once the fragments were applied."""
        return self.keys if self.visible >= len(self.keys) else self.keys[: self.visible]

    @property
    def starved(self) -> bool:
        """Whether there are items and no room for any of them."""
        return not self.keys and self.count > 0

    def recount(self, count: int) -> None:
        """The list has another length, and none of its items is shown."""
        if self.before is None:
            self.before = []
        self.count = count
        self.unfit = True

    def replace(self, keys: list[str], count: int) -> None:
        """The list is another one now."""
        self.count = count
        self.unfit = True
        if self.before is None:
            self.before = list(self.shown)
        self.journal = None
        known = set(self.keys)
        self.lost |= known.difference(keys)
        for key in keys:
            if key not in known:
                self._came(key)
        self.keys = keys
        # Where to cut is decided when the page is brought up to date; until then no change may be missed.
        self.visible = len(keys)
        self._field = None

    def widen(self, most: int) -> None:
        """So many of the same items are to be shown: whatever comes until they are, changes are followed in all."""
        if self.before is None:
            self.before = list(self.shown)
        self.journal = None
        self.most = max(self.most, most)
        self.visible = len(self.keys)
        self.unfit = True

    def _came(self, key: str) -> None:
        if key in self.lost:
            self.lost.discard(key)
            self.again.add(key)

    def settled(self) -> None:
        """The page shows `keys` now."""
        self.before = None
        self.journal = None
        self.lost = set()
        self.again = set()

    # ------------------------------------------------------------------ one item at a time

    def insert(self, index: int, items: list[Any]) -> bool:
        """Takes note of the new item at `index` of `items`; False if the identity of the whole list changed and
        `replace` is needed. An item that is only moved must not be reported as lost before."""
        token = self._token(items, index)
        if token is None or token in self.keys:
            return False
        self._note(token, existed=False)
        self._came(token)
        self.keys.insert(index, token)
        self.visible += 1
        self.count += 1
        self.unfit = True
        return True

    def remove(self, index: int, items: list[Any], *, moving: bool) -> bool:
        """Takes note of a lost item, `items` are those left; False if `replace` is needed. `moving`: it comes back
        at once and unchanged."""
        if not self._keeps_field(items):
            return False
        self._note(self.keys[index], existed=True)
        if not moving:
            self.lost.add(self.keys[index])
        del self.keys[index]
        self.visible -= 1
        self.count -= 1
        self.unfit = True
        return True

    def _note(self, token: str, *, existed: bool) -> None:
        if self.before is None:
            self.before = list(self.keys)
            self.journal = {}
        if self.journal is not None:
            self.journal.setdefault(token, existed)

    def _token(self, items: list[Any], index: int) -> str | None:
        """The token of an item that comes, by the member that gives all others theirs."""
        if self._field is None:
            self._field = self._find_field([item for at, item in enumerate(items) if at != index])
        item = items[index]
        value = item.get(self._field) if self._field and type(item) is dict else None
        return key_token(value) if type(value) in _SCALARS else None

    def _find_field(self, items: list[Any]) -> str:
        """`key` or `id`, whichever the keys come from; "" where they are positions."""
        for name in ("key", "id"):
            if (
                items
                and len(items) == len(self.keys)
                and all(type(item) is dict and type(item.get(name)) in _SCALARS for item in items)
                and [key_token(item[name]) for item in items] == self.keys
            ):
                return name
        return ""

    def _keeps_field(self, items: list[Any]) -> bool:
        """Whether the items that are left keep their identity. It is lost when `id` gave it and now all of them
        have a `key`; two of them without are proof enough of the contrary."""
        if self._field is None and items:
            name = "key" if type(items[0]) is dict and "key" in items[0] else "id"
            probe = [items[0], items[-1]]
            if any(type(item) is not dict or type(item.get(name)) not in _SCALARS for item in probe):
                return False
            self._field = name if key_token(items[0][name]) in self.keys else None
        if self._field == "key":
            return True
        return self._field == "id" and not any(type(item) is dict and "key" in item for item in items[:2])


class Budget:
    """Instances in use of those that a surface may have, and what its lists offer to show of the rest."""

    __slots__ = ("_offers", "allowed", "used")

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.used = 0
        self._offers: dict[ListState, int] = {}
        """The lists that offer more, with the size of an item."""

    @property
    def free(self) -> int:
        return max(0, self.allowed - self.used)

    @property
    def exceeded(self) -> bool:
        """Whether there is no room for all that is shown, or for all that one of the lists offers."""
        free = self.free
        return self.used > self.allowed or any(
            state.more * size > free for state, size in self._offers.items()
        )

    def charge(self, state: ListState, size: int) -> None:
        """Counts what a list shows, in items of that size, in place of what it counted for before."""
        charged = state.visible * size
        self.used += charged - state.charged
        state.charged = charged
        if state.more:
            self._offers[state] = size
        else:
            self._offers.pop(state, None)

    def release(self, state: ListState) -> None:
        """Counts a list no more."""
        self.used -= state.charged
        self._offers.pop(state, None)

    def limit_offers(self) -> bool:
        """Takes back what there is no room for; whether it was anything. Which list was drawn first is no matter."""
        before = sum([state.more for state in self._offers])
        for state, size in self._offers.items():
            state.more = min(state.more, self.free // size)
        return sum([state.more for state in self._offers]) < before


class ListSlot:
    """The place of a template: makes one instance of `item` for each element of a list."""

    __slots__ = ("around", "inner", "item", "memos", "path", "place", "reader", "states", "template")

    def __init__(self, place: Place, template: Template, path: Pattern, reader: Any, around: Around) -> None:
        self.around = around
        """What the items may know about where they stand."""
        self.place = place
        self.template = template
        self.path = path
        """The pattern of the list, see `rendering.patterns`."""
        self.reader = reader
        """Scope value of the container -> what is at the path."""
        self.states: dict[str, ListState] = {}
        """By the context of the container."""
        self.item: Place | None = None
        self.inner: list[ListSlot] = []
        """Templates directly inside the items."""
        self.memos: list[Memo] = []
        """Parts of the items that remember what they showed."""

    def items(self, scope: Any) -> list[Any]:
        """The list now; anything that is none counts as empty (7.5)."""
        found = self.reader(scope)
        return found if type(found) is list else []

    def forget(self, context: str, budget: Budget) -> None:
        """Drops what is known about the list of a container that is gone, and about everything inside it."""
        state = self.states.pop(context, None)
        if state is None:
            return
        budget.release(state)
        for key in state.keys:
            self.forget_item(f"{context}-{key}", budget)

    def forget_item(self, context: str, budget: Budget) -> None:
        for slot in self.inner:
            slot.forget(context + slot.place.tail, budget)
        for part in self.memos:
            part.shown.pop(context + part.place.tail, None)


def moved(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """The smallest set of tokens that have to move so that the common ones of `old` come in the order of `new`.

    Everything but a longest increasing run of old positions, read in the new order.
    """
    position = {token: index for index, token in enumerate(old)}
    common = [token for token in new if token in position]
    tails: list[int] = []
    tail_at: list[int] = []
    before = [-1] * len(common)
    for index, token in enumerate(common):
        value = position[token]
        place = bisect_left(tails, value)
        before[index] = tail_at[place - 1] if place else -1
        if place == len(tails):
            tails.append(value)
            tail_at.append(index)
        else:
            tails[place] = value
            tail_at[place] = index
    stay: set[str] = set()
    index = tail_at[-1] if tail_at else -1
    while index >= 0:
        stay.add(common[index])
        index = before[index]
    return set(common) - stay
