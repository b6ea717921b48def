"""The arguments of a tool call, all of them, as a person has to judge them: nothing hidden, nothing left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes.delivery.panel.markup import SafeString, cut, html, join, reveal, trusted
from envelopes.types import Json, JsonObject

FOLD_FROM = 140
PEEK = 72
MAX_ROWS = 200
_JOINT = re.compile(r"(?<=[.\]_])(?=.)|(?=\[)")


def table(args: JsonObject, labels: JsonObject | None = None) -> SafeString:
    """One row per value; nested values under their path. Without arguments, a sentence that says so.

    ``labels``: what to call an argument. Its own name stays beside it: that is what runs.
    """
    rows = list(_rows("", args)) if args else []
    if not rows:
        return html('<p class="b-approval__result">{}</p>', _("It is called without arguments."))
    if len(rows) > MAX_ROWS:
        # Still all of it: as JSON, where a table would be longer than anybody reads.
        rows = [(_("all arguments"), json.dumps(args, ensure_ascii=False, indent=1))]
    return html(
        '<table class="b-args">{}</table>',
        join(
            html('<tr><th scope="row">{}</th><td>{}</td></tr>', _head(name, labels or {}), _value(value))
            for name, value in rows
        ),
    )


def _rows(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    stack: list[tuple[str, Json]] = [(path, value)]
    while stack:
        name, item = stack.pop()
        if isinstance(item, dict) and item:
            stack += [(f"{name}.{key}" if name else str(key), inner) for key, inner in reversed(item.items())]
        elif isinstance(item, list) and item:
            stack += [(f"{name}[{number}]", inner) for number, inner in reversed(list(enumerate(item)))]
        else:
            yield name, item


def _head(path: str, labels: JsonObject) -> SafeString:
    label = labels.get(path)
    if not isinstance(label, str) or not label.strip():
        return _name(path)
    return html("{} <code>{}</code>", reveal(label), _name(path))


def _name(path: str) -> SafeString:
    """A path that may break where it has joints, not in the middle of a word."""
    return join((reveal(piece) for piece in _JOINT.split(path)), trusted("<wbr>"))


def _value(value: Json) -> SafeString:
    if isinstance(value, str):
        return _words(value)
    # Numbers, true, false, null, {} and []: as they run, told apart from text that looks the same.
    return html("<code>{}</code>", json.dumps(value))


def _words(value: str) -> SafeString:
    if value == "":
        return html("<small>{}</small>", _("empty text"))
    if len(value) <= FOLD_FROM and "\n" not in value:
        return html("<bdi>{}</bdi>", reveal(value))
    size = ngettext("{} character", "{} characters", len(value)).format(len(value))
    return html(
        '<details class="b-fold"><summary><span class="b-fold__peek" dir="auto">{}</span>'
        '<span class="b-fold__size">{}</span><span class="b-fold__more">{}</span><span class="b-fold__less">{}</span>'
        "</summary>"
        '<p dir="auto" tabindex="0">{}</p></details>',
        reveal(cut(value[: PEEK * 4], PEEK)),
        size,
        _("All {}").format(size),
        _("Fold"),
        reveal(value),
    )
