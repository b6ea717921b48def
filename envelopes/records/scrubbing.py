"""Taking a person out of what others keep: their key, names and reasons, and no other word."""

from __future__ import annotations

import json
from dataclasses import dataclass

from envelopes.part_types.staff_message import described
from envelopes.types import Json

ERASED = "(erased)"
"""What stands where a key or a name stood in somebody else's conversation."""

_REPEATED = 8
"""A reason with so many characters is taken out of longer texts too, such as what a model was told."""


@dataclass(frozen=True)
class Scrub:
    """Takes a person out of JSON: whole values that are their key, name or reason, the same as JSON within a text,
    their name as that of staff, and long reasons wherever they stand. Other words of others stay as they are."""

    key: str
    names: frozenset[str]
    reasons: frozenset[str]

    def __call__(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {name: self(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        if text == self.key or text in self.names:
            return ERASED
        if text in self.reasons:
            return ""
        for known, instead in (
            (self.key, ERASED),
            *((name, ERASED) for name in self.names),
            *((reason, "") for reason in self.reasons),
        ):
            for quoted in {json.dumps(known), json.dumps(known, ensure_ascii=False)}:
                text = text.replace(quoted, json.dumps(instead))
        for name in self.names:
            # Models were told what they wrote as staff.
            text = text.replace(described(name), described(ERASED))
        for reason in self.reasons:
            if len(reason) >= _REPEATED:
                text = text.replace(reason, "")
        return text
