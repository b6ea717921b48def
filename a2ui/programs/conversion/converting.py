"""`convert`: one program after the other version's rules, message by message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from a2ui.programs.conversion.canonical import Canonical
from a2ui.programs.conversion.downward import Downward
from a2ui.programs.conversion.notes import Note, Notes
from a2ui.programs.conversion.older import Older
from a2ui.programs.conversion.upward import Upward
from a2ui.programs.tree import is_pseudo

Target = Literal["1.0", "0.9.1"]

TARGETS: Final[tuple[Target, ...]] = ("1.0", "0.9.1")

_OLDER: Final = frozenset({"v0.9", "v0.9.1"})
_NEWER: Final = frozenset({"1.0", "v1.0"})


@dataclass(frozen=True, slots=True)
class Converted:
    """`messages` in the other version, and what there is to say about them, in order of the program."""

    messages: list[Any]
    notes: list[Note]

    @property
    def lossless(self) -> bool:
        """Whether nothing was lost and every message was converted."""
        return all(note.kind == "rewritten" for note in self.notes)


def convert(program: Iterable[Any], to: Target) -> Converted:
    """The program in version `to`. Never raises for what a program holds: messages of unknown versions, those of v0.8
    that are refused, and what is no message are passed on as they are, with a note.

    The messages that come out share nothing that changes with those that went in.
    """
    messages = list(program)
    notes = Notes()
    step = _upward(notes) if to == "1.0" else _downward(notes, messages)
    older = Older(notes) if any(map(Older.speaks, messages)) else None
    done: list[Any] = []
    for notes.message, message in enumerate(messages):
        try:
            parts = [message] if older is None else older.messages(message)
            # Before anything of it is kept: all of it is converted, or it is passed on.
            done += [one for part in parts for one in step(part)]
        except RecursionError:
            notes.kept("Nested too deeply to be converted.")
            done.append(message)
    return Converted(done, notes.found)


Step = Callable[[Any], list[Any]]


def _upward(notes: Notes) -> Step:
    upward, canonical = Upward(notes), Canonical(notes)

    def step(message: Any) -> list[Any]:
        version = _version(message)
        if version in _OLDER:
            return [upward.message(message)]
        if version in _NEWER:
            return [canonical.message(message)]
        if is_pseudo(message):
            upward.edited(message)
        else:
            _other(version, notes)
        return [message]

    return step


def _downward(notes: Notes, program: list[Any]) -> Step:
    canonical, downward = Canonical(notes), Downward(notes, program)

    def step(message: Any) -> list[Any]:
        version = _version(message)
        if version in _OLDER:
            # The same messages; v0.9.1 has other words in its prose only.
            return [{**message, "version": "v0.9.1"}]
        if version in _NEWER:
            return downward.message(canonical.message(message))
        if not is_pseudo(message):
            _other(version, notes)
        return [message]

    return step


def _version(message: Any) -> Any:
    version = message.get("version") if isinstance(message, Mapping) else None
    return version if isinstance(version, str) else None


def _other(version: str | None, notes: Notes) -> None:
    """Says why a message is passed on, unless that has been said."""
    if any(note.message == notes.message and note.kind == "kept" for note in notes.found[-1:]):
        return
    if version is None:
        notes.kept("No message of a known version: it has no version.")
    else:
        notes.kept(f"Messages of version {version[:40]!r} are not converted.")
