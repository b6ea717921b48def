"""What a conversion has to say about a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["lost", "rewritten", "kept"]


@dataclass(frozen=True, slots=True)
class Note:
    """``lost``: the other version cannot say it. ``rewritten``: said in other words, which do the same unless the text
    says otherwise. ``kept``: no message of a version that is converted, passed on as it is.

    `message` is the position in the program that was read, `path` a JSON Pointer into that message.
    """

    message: int
    kind: Kind
    path: str
    text: str

    def as_json(self) -> dict[str, Any]:
        """The note as a JSON object."""
        return {"message": self.message, "kind": self.kind, "path": self.path, "text": self.text}

    def __str__(self) -> str:
        return f"message {self.message}: {self.kind}: {self.path or '/'}: {self.text}"


class Notes:
    """Collects the notes of one program; `message` is the position that is being read."""

    __slots__ = ("found", "message")

    def __init__(self) -> None:
        self.found: list[Note] = []
        self.message = 0

    def lost(self, path: str, text: str) -> None:
        self.found.append(Note(self.message, "lost", path, text))

    def rewritten(self, path: str, text: str) -> None:
        self.found.append(Note(self.message, "rewritten", path, text))

    def kept(self, text: str) -> None:
        self.found.append(Note(self.message, "kept", "", text))
