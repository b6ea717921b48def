"""Slots: where the data of an actor goes, and how it joins what is there (protocol document, "Slot keys and merge
strategy"; D11). The actor's configuration says it, never a reader's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envelopes.errors import RegistrationError
from envelopes.protocol.merging import STRATEGIES, Strategy
from envelopes.protocol.surfaces import RESERVED, is_reserved
from envelopes.protocol.text import clean_text, is_blank
from envelopes.registries.written import check_flag

LONGEST = 128
"""Characters of a kind and of a key, as in the metadata of a part."""


@dataclass(frozen=True)
class Slot:
    """Data of ``kind`` ("" for all that no other slot of the actor is for) joins what is there by ``strategy``.

    ``key`` is stamped as the ``slotKey`` of parts that name none: what comes for the same key in later turns is the
    same thing, brought up to date, wherever it is shown. Without a key data of one kind comes together within its turn
    alone. ``own_card``: the agent shows such data by an interface of its own, so pages draw it themselves only where
    none has come by the time the turn stops. Raises ``RegistrationError`` for a strategy that does not exist, and for
    names that no part could have.
    """

    kind: str = ""
    key: str = ""
    strategy: Strategy = "replace"
    own_card: bool = False

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise RegistrationError(
                f"{self.strategy!r} is no way in which data comes together; there are {', '.join(STRATEGIES)}.",
                name=self.key or self.kind,
            )
        check_flag("a slot", "own_card", self.own_card)
        for name in (self.kind, self.key):
            check_data_name("a slot", name)


def check_data_name(owner: str, name: Any) -> None:
    """Raises ``RegistrationError`` for what no part could have as its kind of data, or its slot key; "" names none."""
    if not isinstance(name, str) or len(name) > LONGEST or clean_text(name) != name:
        raise RegistrationError(
            f"{name!r:.60} of {owner} does not name data: it has up to {LONGEST} characters, all of which can be "
            "stored.",
            name=str(name)[:LONGEST],
        )
    if name and is_blank(name):
        raise RegistrationError(f"The name of the data of {owner} can be read.", name=name)
    if is_reserved(name):
        raise RegistrationError(
            f"{name!r} of {owner} is the runtime's: names with {' or '.join(RESERVED)} in front are.",
            name=name,
        )


def check_slots(actor: str, slots: Sequence[Slot]) -> None:
    """Raises ``RegistrationError`` where two slots of an actor leave open what holds for some data."""
    kinds: set[str] = set()
    keys: dict[str, Strategy] = {}
    for slot in slots:
        if slot.kind in kinds:
            of = f"of the kind {slot.kind!r}" if slot.kind else "of any other kind"
            raise RegistrationError(f"The actor {actor!r} has two slots for data {of}.", name=slot.kind)
        kinds.add(slot.kind)
        if slot.key and keys.setdefault(slot.key, slot.strategy) != slot.strategy:
            raise RegistrationError(
                f"The actor {actor!r} has two strategies for the slot {slot.key!r}.", name=slot.key
            )


def slot_for(slots: Sequence[Slot], kind: str, key: str) -> Slot | None:
    """The slot of data of ``kind`` for ``key``, either of which may be "": by its kind, else by its key, else the one
    for everything else; None where the actor has none for it."""
    by_kind = next((slot for slot in slots if slot.kind and slot.kind == kind), None)
    by_key = next((slot for slot in slots if slot.key and slot.key == key), None)
    return by_kind or by_key or next((slot for slot in slots if not slot.kind), None)
