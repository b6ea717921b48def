"""The arguments of a tool call as rows for people: a function of what the tool declared, the arguments and the locale.

Every leaf of the arguments stands in some row, written for people where that can be read back exactly (``writing``), as
it was sent where it cannot. Nothing here draws: chat, admin and whatever comes later show the same rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from babel import Locale
from django.utils.translation import gettext as _

from envelopes.markup.writing import write
from envelopes.protocol.unseen import turns
from envelopes.registries.shown import Declared, Path
from envelopes.types import Json, JsonObject

Where = tuple[str | int, ...]
"""Keys and positions from the arguments down to a value."""

How = Literal["written", "text", "json", "none"]

ONE_LINE = 80
"""Characters of a list of single values that still stands on one line."""
MAX_ROWS = 200

_DOTS = re.compile(
    "[\u00b7\u0387\u1427\u16eb\u2022\u2027\u2219\u22c5\u2e31\u2e33\u30fb\ua78f\uff65\U00010101]"
)
"""The middle dot, which parts what stands on one line, and what looks like it (UTS #39, confusables)."""

_NOTHING: tuple[Json, ...] = ("", None, [], {})
_JSON_STARTS = frozenset('"{[-0123456789')
_JSON_WORDS = frozenset(("true", "false", "null"))


@dataclass(frozen=True)
class Fact:
    """What stands for one leaf, or for an amount and its currency.

    ``text`` is the value itself (``how`` is "text"), JSON as it was sent ("json"), made from it ("written") in pieces
    that line feeds part, or a word for nothing ("none"). ``default``: nothing was sent, and this is what runs.
    """

    at: tuple[Where, ...]
    text: str
    how: How
    sum: bool = False
    default: bool = False


class Label(NamedTuple):
    """One part of a row's label: the author's title, the number of an item, or a key as it was sent."""

    text: str
    kind: Literal["title", "item", "key"] = "title"


@dataclass(frozen=True)
class Row:
    """``where``: the value whose row it is; others may stand beside it."""

    label: tuple[Label, ...]
    facts: tuple[Fact, ...]
    where: Where = ()


@dataclass(frozen=True)
class Facts:
    """``rows`` in the order of the declaration, then ``strange`` ones: keys that no field declares."""

    rows: tuple[Row, ...] = ()
    strange: tuple[Row, ...] = ()


def facts(declared: Iterable[Json], args: JsonObject, locale: Locale) -> Facts:
    """``declared``: as ``envelopes.registries.shown.declare`` gave it when the question was stored; may be empty."""
    known = {found.path: found for item in declared if (found := Declared.load(item)) is not None}
    walk = _Walk(known, locale)
    walk.members((), (), (), args)
    rows, strange = _beside(walk), tuple(walk.strange)
    if len(rows) + len(strange) > MAX_ROWS:
        # Still all of it: as JSON, where rows would be more than anybody reads.
        # Escaped where a text would turn the direction of its line, and so change places with its key.
        written = json.dumps(args, ensure_ascii=False, indent=1)
        whole = json.dumps(args, indent=1) if turns(written) else written
        every = tuple((key,) for key in args)
        return Facts((Row((Label(_("All arguments")),), (Fact(every, whole, "json"),)),))
    return Facts(tuple(rows), strange)


def as_sent(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def words_for_nothing() -> dict[str, str]:
    """What stands where there is no value to show. A text that says the same is quoted, so that the two differ."""
    return {"absent": _("Not given"), "empty": _("Empty"), "unknown": _("Chosen by the tool")}


@dataclass
class _Walk:
    known: Mapping[Path, Declared]
    locale: Locale
    rows: list[tuple[Row, Where | None]] = field(default_factory=list)
    strange: list[Row] = field(default_factory=list)
    spoken: dict[Where, bool] = field(default_factory=dict)
    summed: bool = False

    def members(self, path: Path, where: Where, label: tuple[Label, ...], value: JsonObject) -> None:
        """The members of an object: declared ones in their order, then the others."""
        own = [
            found for found in self.known.values() if found.path[:-1] == path and found.path[-1] is not None
        ]
        for found in own:
            key = str(found.path[-1])
            if found.format == "money":
                self._amount(found, where, value)
        for found in own:
            key = str(found.path[-1])
            named = (*label, Label(found.title))
            if self.spoken.get((*where, key)):
                continue
            if key in value:
                self.value(found, found.path, (*where, key), named, value[key], self._currency(found, value))
            else:
                self._absent(found, (*where, key), named, self._currency(found, value))
        for key in value:
            if (*path, key) not in self.known:
                named = (*label, Label(key, "key"))
                # A model that declares its members did not ask for this one; a plain object takes any.
                into = self.strange if own else None
                self.value(None, (*path, key), (*where, key), named, value[key], None, into)

    def value(
        self,
        found: Declared | None,
        path: Path,
        where: Where,
        label: tuple[Label, ...],
        value: Json,
        currency: Json,
        into: list[Row] | None = None,
    ) -> None:
        if isinstance(value, dict) and value:
            if into is None:
                self.members(path, where, label, value)
            else:
                for key, inner in value.items():
                    self.value(
                        None, (*path, key), (*where, key), (*label, Label(key, "key")), inner, None, into
                    )
        elif isinstance(value, list) and value:
            items = (*path, None)
            each = self.known.get(items)
            made = [
                self._fact(each, (*where, at), item, None) for at, item in enumerate(value) if _scalar(item)
            ]
            if len(made) == len(value) and _fits(made):
                self._add(found, where, label, tuple(made), into)
                return
            for at, item in enumerate(value):
                numbered = (*label, Label(str(at + 1), "item"))
                self.value(each, items, (*where, at), numbered, item, None, into)
        else:
            self._add(found, where, label, (self._fact(found, where, value, currency),), into)

    # -- one value ----------------------------------------------------------------------------------------------------

    def _fact(self, found: Declared | None, where: Where, value: Json, currency: Json) -> Fact:
        at: tuple[Where, ...] = (where,)
        if found is None or found.format in ("any", "list"):
            if isinstance(value, str) and value and not (_looks_like_json(value) or _DOTS.search(value)):
                return Fact(at, value, "text")
            empty = found is not None and value in _NOTHING and found.default == (value,)
            return Fact(at, words_for_nothing()["absent"], "none") if empty else _sent(at, value)
        if value in _NOTHING and found.default == (value,):
            return Fact(at, words_for_nothing()["absent"], "none")
        if value == "" and found.format == "text":
            return Fact(at, words_for_nothing()["empty"], "none")
        written = write(found, value, self.locale, currency)
        if written is None:
            return _sent(at, value)
        if written == [value] and isinstance(value, str):
            return _sent(at, value) if _looks_like_ours(value) else Fact(at, value, "text")
        if found.format == "money" and self.spoken.get((*where[:-1], found.currency)):
            at = (where, (*where[:-1], found.currency))
        total, self.summed = found.sum and not self.summed, self.summed or found.sum
        return Fact(at, "\n".join(written), "written", total)

    def _absent(self, found: Declared, where: Where, label: tuple[Label, ...], currency: Json) -> None:
        """A declared field that was not sent: what runs is its default."""
        words = words_for_nothing()
        if found.default is None:
            fact = Fact((), words["unknown" if not found.required else "absent"], "none")
        elif found.default[0] in _NOTHING:
            fact = Fact((), words["absent"], "none")
        else:
            fact = replace(self._fact(found, where, found.default[0], currency), at=(), default=True)
        self._add(found, where, label, (fact,), None)

    def _add(
        self,
        found: Declared | None,
        where: Where,
        label: tuple[Label, ...],
        made: tuple[Fact, ...],
        into: list[Row] | None,
    ) -> None:
        row = Row(label, made, where)
        if into is not None:
            into.append(row)
            return
        beside = (*where[:-1], found.beside) if found is not None and found.beside else None
        self.rows.append((row, beside))

    # -- money --------------------------------------------------------------------------------------------------------

    def _currency(self, found: Declared, within: JsonObject) -> Json:
        """The code of an amount's currency: what the named member holds, its default, or the declaration itself."""
        if not found.currency:
            return None
        holder = self.known.get((*found.path[:-1], found.currency))
        if found.currency in within:
            return within[found.currency]
        if holder is not None:
            return holder.default[0] if holder.default else None
        return found.currency

    def _amount(self, found: Declared, where: Where, within: JsonObject) -> None:
        """A currency that all amounts of it say needs no row of its own."""
        holder, key = (*where, found.currency), str(found.path[-1])
        if (*found.path[:-1], found.currency) not in self.known or found.currency == key or found.words:
            return
        given = within[key] if key in within else found.default[0] if found.default else None
        said = write(found, given, self.locale, self._currency(found, within)) is not None
        self.spoken[holder] = said and self.spoken.get(holder, True)


def _beside(walk: _Walk) -> list[Row]:
    """The rows, with those that belong to another on its line. What would stand beside nothing stands alone."""
    homes = {row.where: row for row, beside in walk.rows if beside is None}
    guests: dict[Where, list[Fact]] = {}
    alone: list[Row] = []
    for row, beside in walk.rows:
        if beside is None:
            alone.append(row)
        elif beside in homes:
            guests.setdefault(beside, []).extend(row.facts)
        else:
            alone.append(row)
    return [
        replace(row, facts=tuple(map(_apart, (*row.facts, *guests[row.where]))))
        if row.where in guests
        else row
        for row in alone
    ]


def _apart(fact: Fact) -> Fact:
    """The same for a line of several values, in quotes where it could be taken for more than one of them."""
    return (
        replace(fact, text=as_sent(fact.text), how="json")
        if fact.how == "text" and _DOTS.search(fact.text)
        else fact
    )


def _sent(at: tuple[Where, ...], value: Json) -> Fact:
    return Fact(at, as_sent(value), "json")


def _scalar(value: Json) -> bool:
    return not isinstance(value, dict | list)


def _fits(made: list[Fact]) -> bool:
    """Whether the facts can stand on one line and be told apart there."""
    return sum(len(fact.text) for fact in made) <= ONE_LINE and not any(
        _DOTS.search(fact.text) or "\n" in fact.text for fact in made
    )


def _looks_like_json(text: str) -> bool:
    """Whether a text could be taken for another value: ``2``, ``true``, ``{}``, or a text in quotes."""
    bare = text.strip()
    if bare in _JSON_WORDS or _looks_like_ours(text):
        return True
    if bare[:1] not in _JSON_STARTS:
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _looks_like_ours(text: str) -> bool:
    said = text.strip().casefold()
    return text.startswith('"') or any(said == words.casefold() for words in words_for_nothing().values())
