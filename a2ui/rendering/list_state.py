"""What is known of one list on the page: the keys of its items, and what came, went or moved since (D28, D31)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from a2ui.safety.ids import index_token, item_keys, key_token

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
        "_field", "_latest", "_present", "before", "charged", "count", "cut", "journal", "keys", "lost", "more",
        "most", "returned", "unfit", "visible",
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
        self.returned: set[str] = set()
        """Items that went and came back since then: on the page, but who knows what they show."""
        self.charged = 0
        """Instances that the list counts for in the budget of its surface."""
        self.cut = False
        """Whether the page has a notice that the list goes on, or did."""
        self.more = 0
        """How many further items the page offers to show."""
        self._field: str | None = None
        self._present: set[str] | None = None
        """The keys once more, of a list of which single items came or went: looking for one in the list takes longer
        than all the rest of an update."""
        self._latest = 0
        """Where the last single item came in."""

    def saved(self) -> tuple[Any, ...]:
        """See `journal.Saved`."""
        return (
            self.keys.copy(), self.visible, self.count, self.most, self.unfit, self.before, self.charged,
            None if self.journal is None else self.journal.copy(), self.lost.copy(), self.returned.copy(),
            self.cut, self.more, self._field, self._latest,
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """See `journal.Saved`."""
        (
            self.keys, self.visible, self.count, self.most, self.unfit, self.before, self.charged,
            self.journal, self.lost, self.returned, self.cut, self.more, self._field, self._latest,
        ) = saved  # fmt: skip
        self._present = None

    @property
    def shown(self) -> Sequence[str]:
        """The keys of the items on the page once the fragments were applied."""
        return self.keys if self.visible >= len(self.keys) else self.keys[: self.visible]

    @property
    def has_no_room(self) -> bool:
        """Whether there are items and no room for any of them."""
        return not self.keys and self.count > 0

    def follow(self, keys: list[str]) -> None:
        """These are the keys of the items now."""
        self.keys = keys
        self._present = None

    def holds(self, key: str) -> bool:
        """Whether one of the items has the key."""
        if self._present is None:
            self._present = set(self.keys)
        return key in self._present

    def position(self, key: str) -> int:
        """The index of a key that is there. At the end or where the last item came, the likely places, it is found
        without a search."""
        keys, latest = self.keys, self._latest
        if keys[-1] == key:
            return len(keys) - 1
        return latest if latest < len(keys) and keys[latest] == key else keys.index(key)

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
        self.follow(keys)
        # Where to cut is decided when the page is brought up to date; until then no change may be missed.
        self.visible = len(keys)
        self._field = None

    def widen(self, most: int) -> None:
        """Up to `most` of the same items are to be shown: until they are, changes are followed in all of them."""
        if self.before is None:
            self.before = list(self.shown)
        self.journal = None
        self.most = max(self.most, most)
        self.visible = len(self.keys)
        self.unfit = True

    def _came(self, key: str) -> None:
        if key in self.lost:
            self.lost.discard(key)
            self.returned.add(key)

    def settled(self) -> None:
        """The page shows `keys` now."""
        self.before = None
        self.journal = None
        self.lost = set()
        self.returned = set()

    # ------------------------------------------------------------------ one item at a time

    def insert(self, index: int, items: list[Any]) -> bool:
        """Takes note of the new item at `index` of `items`; False if the identity of the whole list changed and
        `replace` is needed. An item that is only moved must not be reported as lost before."""
        token = self._token(items, index)
        if token is None or self.holds(token):
            return False
        self._note(token, existed=False)
        self._came(token)
        self.keys.insert(index, token)
        self._latest = index
        if self._present is not None:
            self._present.add(token)
        self.visible += 1
        self.count += 1
        self.unfit = True
        return True

    def remove(self, index: int, items: list[Any], *, moving: bool) -> bool:
        """Takes note of a lost item, `items` are those left; False if `replace` is needed. `moving`: it comes back
        at once and unchanged."""
        if not self._keeps_field(items):
            return False
        key = self.keys[index]
        self._note(key, existed=True)
        if not moving:
            self.lost.add(key)
        del self.keys[index]
        if self._present is not None:
            self._present.discard(key)
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
