"""What rows of a log say to whoever reads them, as lines: what people and agents wrote, the data of answers, what was
filled in and sent, what somebody was asked. Only of rows that may leave the server, so nothing that is kept for audit,
and no value that was typed into an obscured field (R9): those are handles already, and left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import unescape

from django.utils.html import strip_tags

from a2ui.safety import markdown
from a2ui.safety.text import to_text
from envelopes.delivery import rules
from envelopes.errors import ValidationFailed
from envelopes.protocol.rows import Row
from envelopes.protocol.surfaces import RUNTIME, messages_of
from envelopes.registries import retelling
from envelopes.registries.part_types import PartType, part_types
from envelopes.secrets import HANDLE
from envelopes.types import Json, JsonObject

VALUES = 300
"""So many values of one part's data are searched."""

CHARACTERS = 40_000
"""So much of what was said in a conversation is searched: the last of it. What it is called, whose it is and its id are
in any case."""

KINDS = ("message", "part", "action")
"""The kinds of rows that say anything."""

_BETWEEN = " · "


def lines_of(row: Row) -> list[str]:
    """The lines of one row, none empty."""
    if row.audience != "delivered":
        return []
    read = _READERS.get(row.kind)
    lines = (" ".join(line.split()) for line in read(row)) if read is not None else ()
    return [line for line in lines if line]


def spoken_in(row: Row) -> str:
    """What somebody says in a row, and not only shows: a message, the text of a part, the question of an approval."""
    part = row.data if row.kind == "message" else row.data.get("part")
    if row.audience != "delivered" or not isinstance(part, dict) or row.kind not in ("message", "part"):
        return ""
    kind = part_types.get(row.part_type)
    if kind is not None and kind.retold is retelling.nothing:
        return ""
    asked = (
        retelling.metadata_of(part).get("question") if kind is not None and rules.is_question(kind) else ""
    )
    text = str(part.get("text") or asked or "")
    return " ".join((text if row.kind == "message" else _read(text)).split())


def shown_at(row: Row) -> tuple[str, ...] | None:
    """Whose interfaces at which places a row sets the data of, where that is all that it does (``rules.shown_at``)."""
    part = row.data.get("part")
    if row.kind != "part" or not isinstance(part, dict):
        return None
    places = rules.shown_at(part_types.get(row.part_type), part)
    return (row.actor, *places) if places is not None else None


def _read(text: str) -> str:
    """What people read of Markdown."""
    if not any(mark in text for mark in "*_`#[<&|>"):
        return text
    # A break is the only mark that nothing else stands for between two words.
    return unescape(strip_tags(markdown.render(text).html.replace("<br>", " ")))


def bounded(said: str) -> tuple[str, bool]:
    """The last ``CHARACTERS`` of it, in whole lines where there are several; whether that is not all."""
    if len(said) <= CHARACTERS:
        return said, False
    kept = said[-CHARACTERS:]
    _, newline, rest = kept.partition("\n")
    return (rest if newline else kept), True


def _message(row: Row) -> Iterator[str]:
    yield str(row.data.get("text") or "")
    for part in row.data.get("parts") or ():
        yield from _part_lines(part, _type_of(part))


def _part(row: Row) -> Iterator[str]:
    kind = part_types.get(row.part_type)
    data = row.data if kind is None or kind.for_staff is None else kind.for_staff(row.data)
    part = data.get("part")
    # Of the runtime's own surfaces the words are those of the part that they show.
    is_runtimes = row.actor == RUNTIME and kind is not None and rules.is_surface(kind)
    if isinstance(part, dict) and not is_runtimes:
        yield from _part_lines(part, kind)


def _action(row: Row) -> Iterator[str]:
    """What a click sent along: what somebody has filled in."""
    action = row.data.get("action")
    if isinstance(action, dict):
        yield from values_of(action.get("context"))


def _part_lines(part: JsonObject, kind: PartType | None) -> Iterator[str]:
    if kind is not None and kind.retold is retelling.nothing:
        # Meant for the moment, or for somebody else.
        return
    yield _read(str(part.get("text") or ""))
    data = part.get("data")
    if not data:
        return
    if kind is not None and rules.is_surface(kind):
        yield from _of_surface(data)
    elif kind is not None and rules.is_question(kind):
        yield str(retelling.metadata_of(part).get("question") or "")
        yield from values_of(retelling.data_of(part).get("args"))
    elif kind is not None and kind.canonical and kind.data_model is not None:
        # Of what the protocol says in a form of its own, only what it says in words.
        if not part.get("text") and kind.in_words is not None:
            yield kind.in_words(part)
    else:
        yield from values_of(data)


def _type_of(part: JsonObject) -> PartType | None:
    return part_types.get(str(retelling.metadata_of(part).get("partType")))


def _of_surface(data: Json) -> Iterator[str]:
    """The data that an interface shows, and the texts that stand in it."""
    try:
        messages = messages_of(data)
    except ValidationFailed:
        return
    for message in messages:
        for body in message.values():
            if not isinstance(body, dict):
                continue
            yield from values_of(body.get("dataModel") or body.get("value") or body.get("contents"))
            components = body.get("components")
            if isinstance(components, list):
                yield from (text for each in components[:VALUES] if (text := _text_of(each)))


def _text_of(component: Json) -> str:
    text = component.get("text") if isinstance(component, dict) else None
    return text if isinstance(text, str) else ""


def values_of(data: Json) -> list[str]:
    """The values of ``data``, ``VALUES`` at most: a line for each object or list that holds any."""
    lines: list[str] = []
    left = VALUES
    todo: list[Json] = [data]
    while todo and left > 0:
        held = todo.pop()
        if not isinstance(held, dict | list):
            held = [held]
        if isinstance(held, dict) and HANDLE in held:
            continue
        inside: Iterable[Json] = held.values() if isinstance(held, dict) else held
        values: list[str] = []
        further: list[Json] = []
        for value in inside:
            if isinstance(value, dict | list):
                further.append(value)
            elif value is None or isinstance(value, bool) or len(values) >= left:
                continue
            elif text := to_text(value).strip():
                values.append(text)
        left -= len(values)
        if values:
            lines.append(_BETWEEN.join(values))
        todo += reversed(further)
    return lines


_READERS: dict[str, Callable[[Row], Iterator[str]]] = {"message": _message, "part": _part, "action": _action}
