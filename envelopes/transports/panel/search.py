"""Words in a conversation, newest first: in its messages and what came with them, and in the texts of parts that a page
shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from html import unescape
from itertools import islice
from operator import and_, or_

from django.db.models import Q
from django.utils.html import strip_tags

from a2ui.safety import markdown
from a2ui.safety.text import to_text
from envelopes.markup.html import SafeString, html, join, text
from envelopes.models import Event, Session
from envelopes.part_types.artifact import ARTIFACT
from envelopes.protocol.file_names import file_name
from envelopes.protocol.text import shorten
from envelopes.registries.part_types import part_types
from envelopes.transports.panel.reader import gets
from envelopes.types import Json, JsonObject

CHARACTERS, WORDS = 200, 8
"""So much is looked for, as characters and as words, which all have to be there. What is beyond is said (R6)."""

FOUND = 30
"""So many places are named."""

BEFORE, AROUND = 48, 180
"""Characters of a text before what was found in it, and in all."""


@dataclass(frozen=True)
class Found:
    """One row. ``mine``: a person wrote it; else ``actor`` did. ``said`` has the words marked."""

    seq: int
    at: datetime
    mine: bool
    actor: str
    said: SafeString


@dataclass(frozen=True)
class Results:
    """``wanted``: the words that were looked for. ``cut``: there were further ones (R6). ``more``: there are further
    places than are named."""

    wanted: list[str]
    found: list[Found]
    cut: bool = False
    more: bool = False


def search(session: Session, words: str) -> Results:
    """Where all of ``words`` occur, whatever their case."""
    # Databases take a NUL for the end of a pattern, or for an error.
    asked = words.replace("\0", " ").strip()
    wanted = asked[:CHARACTERS].split()
    cut = len(asked) > CHARACTERS or len(wanted) > WORDS
    wanted = wanted[:WORDS]
    if not wanted:
        return Results([], [])
    said = reduce(and_, (_has("data__text", word) | _came(word) for word in wanted))
    told = reduce(and_, (_has("data__part__text", word) for word in wanted))
    rows = Event.objects.filter(
        Q(kind="message") & said | Q(kind="part", part_type__in=_shown()) & told,
        session=session,
        audience="delivered",
    )
    found = list(islice(_found(rows.order_by("-seq").iterator(chunk_size=FOUND * 2), wanted), FOUND + 1))
    return Results(wanted, found[:FOUND], cut=cut, more=len(found) > FOUND)


def _has(path: str, word: str) -> Q:
    return _any(path, _forms(word))


def _came(word: str) -> Q:
    """Whether ``word`` may be in what came with a message: in the JSON of it, of which a page shows only some."""
    forms = _forms(word)
    # SQLite has JSON as it was written, which is in ASCII.
    return _any(
        "data__parts",
        {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in forms for ascii_only in (True, False)},
    )


def _any(path: str, forms: set[str]) -> Q:
    return reduce(or_, (Q(**{f"{path}__icontains": form}) for form in forms))


def _forms(word: str) -> set[str]:
    # SQLite knows the case of ASCII only.
    return {word} if word.isascii() else {word, word.lower(), word.upper(), word.capitalize()}


def _shown() -> list[str]:
    """The part types of which a page shows the text."""
    return [kind.name for kind in part_types if gets(kind)]


def _found(events: Iterator[Event], words: list[str]) -> Iterator[Found]:
    shown = frozenset(_shown())
    for event in events:
        mine = event.kind == "message"
        said = " ".join(_said(event.data, shown)) if mine else str(event.data["part"].get("text") or "")
        if not mine:
            yield Found(event.seq, event.at, mine, event.actor, marked(_read(said, words), words))
        elif _all_in(said, words):
            yield Found(event.seq, event.at, mine, event.actor, marked(said, words))


def _all_in(said: str, words: list[str]) -> bool:
    low = said.lower()
    return all(word.lower() in low for word in words)


def _read(said: str, words: list[str]) -> str:
    """What people read of Markdown; as it was written where only that has all of ``words``, such as an address."""
    # A break is the only mark that nothing else stands for between two words.
    read = unescape(strip_tags(markdown.render(said).html.replace("<br>", " ")))
    return read if _all_in(read, words) else said


def _said(message: JsonObject, shown: frozenset[str]) -> Iterator[str]:
    """What a page shows of a message, in its order: its text, then words, names of files and data that came with it."""
    yield str(message.get("text") or "")
    for part in message.get("parts") or ():
        part_type, data = part["metadata"]["partType"], part.get("data")
        if part_type not in shown:
            continue
        if part_type == ARTIFACT.name and isinstance(data, dict):
            yield file_name(str(data.get("name") or ""))
        else:
            yield str(part.get("text") or "")
            yield from _leaves(data)


def _leaves(data: Json) -> Iterator[str]:
    """The keys and the values of ``data`` as text, each with the key before it."""
    match data:
        case dict():
            for key, value in data.items():
                yield key
                yield from _leaves(value)
        case list():
            for value in data:
                yield from _leaves(value)
        case None | bool():
            return
        case _:
            yield to_text(data)


def marked(said: str, words: list[str]) -> SafeString:
    """A line of ``said`` around the first of ``words``, with all of them marked."""
    line = " ".join(said.split())
    first = _next(line, words, 0)
    start = max(0, (first[0] if first else 0) - BEFORE)
    if start:
        start = line.find(" ", start) + 1 or start
    line = ("… " if start else "") + shorten(line[start:], AROUND)
    pieces: list[SafeString] = []
    at = 0
    while (hit := _next(line, words, at)) is not None:
        pieces += [text(line[at : hit[0]]), html("<mark>{}</mark>", text(line[hit[0] : hit[1]]))]
        at = hit[1]
    return join([*pieces, text(line[at:])])


def _next(line: str, words: list[str], start: int) -> tuple[int, int] | None:
    """Where the next of ``words`` begins and ends."""
    low = line.lower()
    if len(low) != len(line):
        # A letter whose small form is longer would move everything after it.
        low = line
    hits = [(at, -len(word)) for word in words if (at := low.find(word.lower(), start)) >= 0]
    return (min(hits)[0], min(hits)[0] - min(hits)[1]) if hits else None
