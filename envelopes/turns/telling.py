"""What a turn has told, as models of later turns read it. Taken in row by row: one in which a job goes on for hours is
not read from its beginning each time."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field

from envelopes.delivery import rules
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.parts import continued
from envelopes.protocol.slots import Key, key_of, update_of
from envelopes.registries import retelling
from envelopes.registries.part_types import part_types
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

SAID_CHARACTERS = 40_000
"""How much is told of what one turn said."""


@dataclass(slots=True)
class Telling:
    """The lines of turn ``number``, each under what it is about, in the order in which they are told; ``joined`` are
    parts that later ones go on with, ``left_out`` are characters of lines that came after too many."""

    number: int
    lines: dict[Key, str] = field(default_factory=dict)
    joined: dict[Key, JsonObject] = field(default_factory=dict)
    left_out: int = 0
    _characters: int = 0
    # What has gone on since its line was made, and with which row of which session.
    _behind: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def part(self, session_pk: int, seq: int, name: str, actor: str, part: JsonObject) -> None:
        """Take in a part of ``actor`` that was shown. What goes on with another is told once, where that began, as it
        was in the end; of what a surface shows at one place of its data, the last is told, where it came."""
        about = _key(name, part, self.number)
        if about is not None:
            before = self.joined.get(key := (name, *about))
            self.joined[key] = part if before is None else _joined(name, before, part)
            if before is None:
                self._tell(key, _line(session_pk, seq, name, part))
            elif key in self.lines:
                self._behind[key] = session_pk, seq
            return
        key = ("row", str(seq))
        if (shown := rules.shown_at(part_types.get(name), part)) is not None:
            key = ("shown", actor, *shown)
            self._forget(key)
        self._tell(key, _line(session_pk, seq, name, part))

    def found_out(self, seq: int, data: JsonObject) -> None:
        """Take in what staff recorded about a call whose outcome nobody knew: its turn may not have heard of it any
        more."""
        outcome = data["error"] or data["result"]
        note = outcome.get("note") or outcome.get("message", "")
        told = f"[Staff found out that {data['name']} has {data['state']}: {note}]"
        self._tell(("row", str(seq)), told)

    @property
    def is_silent(self) -> bool:
        """Whether there is nothing of it that a model could read."""
        self._catch_up()
        return not any(map(str.strip, self.lines.values()))

    @property
    def said(self) -> str:
        """What it said, up to a bound: one must not take the place of all others."""
        self._catch_up()
        said = "\n".join(filter(str.strip, self.lines.values()))
        if len(said) + self.left_out <= SAID_CHARACTERS:
            return said
        return f"{said[:SAID_CHARACTERS]} (cut: {len(said) + self.left_out} characters in all)"

    @property
    def size(self) -> int:
        """About how many characters this holds."""
        self._catch_up()
        return self._characters + sum(len(json.dumps(part)) for part in self.joined.values())

    def _catch_up(self) -> None:
        """Make the lines of what has gone on, each once: one may have gone on a thousand times."""
        behind, self._behind = self._behind, {}
        for key, (session_pk, seq) in behind.items():
            self._tell(key, _line(session_pk, seq, key[0], self.joined[key]))

    def _tell(self, key: Key, line: str) -> None:
        if key not in self.lines and self._characters > SAID_CHARACTERS:
            self.left_out += len(line) + 1
            return
        before = self.lines.get(key)
        self._characters += len(line) - len(before) if before is not None else len(line) + 1
        self.lines[key] = line

    def _forget(self, key: Key) -> None:
        if (line := self.lines.pop(key, None)) is not None:
            self._characters -= len(line) + 1


def _line(session_pk: int, seq: int, part_type: str, part: JsonObject) -> str:
    """What is told of one part; empty for nothing."""
    kind = part_types.get(part_type)
    retold = kind.retold if kind is not None and kind.retold is not None else retelling.words
    try:
        return retold(part)
    except Exception:
        # An application's own: what it cannot tell of must not keep the next turn from beginning.
        logger.exception("Row %s of session %s cannot be retold.", seq, session_pk)
        return ""


def _key(part_type: str, part: JsonObject, turn: int) -> Key | None:
    """What later parts of a type have, too, where they join ``part``: a slot, or the id of a part (D8, D11)."""
    metadata = part.get("metadata")
    if not isinstance(metadata, dict):
        return None
    if part_type == DOMAIN_DATA.name:
        return key_of(metadata, turn)
    part_id = metadata.get("partId")
    return ("id", str(turn), part_id) if isinstance(part_id, str) else None


def _joined(part_type: str, before: JsonObject, part: JsonObject) -> JsonObject:
    update = update_of(part) if part_type == DOMAIN_DATA.name else None
    return continued(before, part) if update is None else {**part, "data": update.of(before.get("data"))}
