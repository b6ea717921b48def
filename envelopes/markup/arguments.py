"""The arguments of a tool call, all of them, as a person has to judge them: nothing hidden, nothing left out.

``shown`` draws them as rows in people's words, ``exact`` as the program gets them. In both every blank and every
character that cannot be seen is named; a value that is too long to show whole has both ends in sight and says what
lies between them, and ``Shown.folded`` names it, so that nobody approves it unseen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from django.utils.translation import gettext as _

from envelopes.markup.facts import Fact, Facts, Label, Row, Where
from envelopes.markup.html import SafeString, brief, gap, html, icon, join, named, reveal, text, trusted
from envelopes.protocol.unseen import Mark, glimpse, marks, turns
from envelopes.types import Json, JsonObject

WHOLE, HEAD, TAIL, LINES = 400, 160, 80, 6
"""Characters of a value that is shown whole; of a longer one those of its beginning and its end, and lines of each."""


class Folded(NamedTuple):
    """A value that has to be opened: the id of its whole text, and what to call it."""

    id: str
    label: SafeString


class Shown(NamedTuple):
    """``changed``: how many rows say something else than before."""

    html: SafeString
    folded: list[Folded]
    changed: int = 0


def shown(facts: Facts, prefix: str, *, unfold: bool = False, before: Facts | None = None) -> Shown:
    """The rows. ``prefix`` begins the DOM ids; with ``unfold`` long values stand open from the beginning. What a row
    said ``before``, where it says something else now, stands beside it, struck out."""
    folded: list[Folded] = []
    numbers = iter(range(10**9))
    was = {row.where: row for row in (*before.rows, *before.strange)} if before is not None else {}
    changed: set[Where] = set()

    def draw(rows: tuple[Row, ...]) -> SafeString:
        return html(
            '<dl class="b-facts">{}</dl>',
            join(html("<div><dt>{}</dt><dd>{}</dd></div>", label(row.label), line(row)) for row in rows),
        )

    def line(row: Row) -> SafeString:
        old = was.get(row.where)
        texts = [] if old is None else [fact.text for fact in old.facts]
        if before is None or texts == [fact.text for fact in row.facts]:
            return join((piece(row, fact) for fact in row.facts), " ")
        changed.add(row.where)
        if len(texts) != len(row.facts):
            whole = html("<ins>{}</ins>", join((piece(row, fact) for fact in row.facts), " "))
            gone = html("<del>{}</del> ", brief(", ".join(texts), WHOLE)) if texts else ""
            return html("<span>{}{}</span>", gone, whole)
        return join(
            (
                piece(row, fact)
                if fact.text == text
                else html("<span><del>{}</del> <ins>{}</ins></span>", brief(text, WHOLE), piece(row, fact))
                for fact, text in zip(row.facts, texts, strict=True)
            ),
            " ",
        )

    def piece(row: Row, fact: Fact) -> SafeString:
        drawn = value(row, fact)
        return html('{} <span class="is-none">{}</span>', drawn, _("by default")) if fact.default else drawn

    def value(row: Row, fact: Fact) -> SafeString:
        if fact.how in ("text", "json"):
            taken = marks(fact.text)
            found = glimpse(taken, WHOLE, HEAD, TAIL, LINES)
            if found is not None:
                whole = f"{prefix}{next(numbers)}"
                folded.append(Folded(whole, label(row.label)))
                return html(
                    '<details class="b-long"{}><summary>{}<span class="b-gap"><span class="is-shut">{}</span>'
                    '<span class="is-open">{}</span>{}</span>{}</summary>'
                    '<div class="b-long__all" id="{}" tabindex="0" dir="auto">{}</div></details>',
                    trusted(" open") if unfold else "",
                    _end(found.head),
                    gap(found),
                    _("Show less"),
                    icon("down"),
                    _end(found.tail),
                    whole,
                    named(taken),
                )
        return _piece(fact)

    parts: list[SafeString] = []
    if facts.rows:
        parts.append(draw(facts.rows))
    if facts.strange:
        told = _("Also sent, though the tool declares no such argument:")
        parts.append(html('<p class="b-facts__strange">{}</p>', told))
        parts.append(draw(facts.strange))
    if not parts:
        parts.append(html('<p class="b-approval__result">{}</p>', _("It takes no arguments.")))
    return Shown(join(parts), folded, len(changed))


def label(parts: tuple[Label, ...]) -> SafeString:
    """ "Traveller 2, Full name". Keys that were sent are set as code: no key can pass for a title."""
    drawn: list[SafeString] = []
    for part in parts:
        between = "" if not drawn else " " if part.kind == "item" else ", "
        words = (
            html('<code dir="auto">{}</code>', _key(part.text)) if part.kind == "key" else reveal(part.text)
        )
        drawn.append(html("{}{}", between, words))
    return join(drawn)


def _key(key: str) -> SafeString:
    found = glimpse(marks(key), 72, 48, 24, 1)
    return (
        reveal(key) if found is None else html("{}{}{}", _end(found.head), chip(gap(found)), _end(found.tail))
    )


def chip(words: str) -> SafeString:
    return html('<span class="b-gap">{}</span>', words)


def _end(found: list[Mark]) -> SafeString:
    return html('<span dir="auto">{}</span>', named(found))


def _piece(fact: Fact) -> SafeString:
    match fact.how:
        case "none":
            return html('<span class="is-none">{}</span>', fact.text)
        case "json":
            return html('<span><code dir="auto">{}</code></span>', reveal(fact.text))
        case "text":
            return html('<span><span dir="auto">{}</span></span>', reveal(fact.text))
    kind = trusted(' class="is-sum"') if fact.sum else ""
    return join((html("<span{}>{}</span>", kind, piece) for piece in fact.text.split("\n")), " ")


# -- the exact call ---------------------------------------------------------------------------------------------------


def exact(tool: str, args: JsonObject, digest: str) -> SafeString:
    """What a program gets, behind a line: the names, every argument as JSON, and the digest of both."""
    short = f"{digest[:4]} {digest[4:8]}".strip()
    groups = " ".join(digest[at : at + 8] for at in range(0, len(digest), 8))
    bottom: object = ""
    if digest:
        copy = _("Copy the digest")
        bottom = html(
            '<p class="b-exact__sum"><span>{}</span><code>{}</code><button class="b-iconbtn" type="button" '
            'data-copy="{}" aria-label="{}" title="{}">{}</button></p>',
            _("Digest"),
            text(groups),
            text(digest),
            copy,
            copy,
            icon("copy", "b-icon--s"),
        )
    return html(
        '<details class="b-exact"><summary>{}<b>{}</b><code>{}{}</code></summary><div class="b-exact__box">'
        '<pre tabindex="0" dir="ltr" aria-label="{}">{} {}</pre>{}</div></details>',
        icon("right", "b-icon--flip"),
        _("Exact call"),
        reveal(tool),
        f" · {short}" if short else "",
        _("Tool and arguments as JSON"),
        reveal(tool),
        join(_json(args, 0)),
        bottom,
    )


def _json(value: Json, depth: int) -> Iterator[SafeString]:
    """JSON in lines. Escapes stand for what cannot be seen, counts for runs of blanks: nothing looks like something
    that it is not, and nothing is left out."""
    if not isinstance(value, dict | list) or not value:
        yield _string(value) if isinstance(value, str) else html("{}", json.dumps(value))
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield html("{}\n", opening)
    items = list(value.items() if isinstance(value, dict) else ((None, item) for item in value))
    for number, (key, item) in enumerate(items):
        yield html("{}", "  " * (depth + 1))
        if key is not None:
            yield html("<span>{}:</span> ", _string(str(key)))
        yield from _json(item, depth + 1)
        yield html("{}\n", "" if number == len(items) - 1 else ",")
    yield html("{}{}", "  " * depth, closing)


def _string(value: str) -> SafeString:
    found = marks(value)
    drawn = {mark: _escaped(mark) for mark in set(found)}
    inside = trusted("".join(drawn[mark] for mark in found))
    # Isolated, so that what is written from right to left does not change places with what stands beside it.
    return html('"<bdi>{}</bdi>"', inside) if turns(value) else html('"{}"', inside)


def _escaped(mark: Mark) -> SafeString:
    if mark.kind == "text" or (mark.kind == "blanks" and mark.length == 1):
        return html("{}", json.dumps(mark.text, ensure_ascii=False)[1:-1])
    if mark.kind == "blanks" or (mark.length > 4 and len(set(mark.text)) == 1):
        escaped = "U+0020" if mark.kind == "blanks" else json.dumps(mark.text[0])[1:-1]
        return html("<span> {} \N{MULTIPLICATION SIGN} {} </span>", mark.length, escaped)
    return html("{}", json.dumps(mark.text)[1:-1])
