"""A row of the log as one readable sentence, for people who look for what happened. Plain text; never markup."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes.admin import function_calls, turn_rows
from envelopes.admin.people import People
from envelopes.part_types.approval_response import by_door, reasoned
from envelopes.part_types.set_state import in_words
from envelopes.protocol.rows import Row
from envelopes.protocol.text import shorten
from envelopes.registries.part_types import PartType, part_types
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

LENGTH = 400
"""How much of somebody's words a sentence holds; the row's JSON below it holds all."""

NOBODY = People()

DECISIONS = ("late-decision", "tried-decision", "grant", "edit-ignored")
"""Kinds of rows in which somebody answers a question: in vain, as one of several, or with more than a decision."""

Speaker: TypeAlias = Literal["person", "decider", "runtime", "actor"]


def sentence(row: Row, people: People = NOBODY) -> str:
    """What the row says to whom ``people`` was made for. A row that is not as it should be still gets one: rows
    outlive the code that wrote them."""
    try:
        if row.kind == "consent":
            written = _consent(row, people)
        elif row.kind == "grant":
            written = _grant(row, people)
        elif row.kind == "edit-ignored":
            written = _ignored(row, people)
        elif row.kind in DECISIONS:
            written = _in_vain(row, people)
        elif row.kind == "part":
            written = _part(row, people)
        else:
            written = _KINDS[row.kind].written(row) if row.kind in _KINDS else ""
    except (KeyError, TypeError, AttributeError, ValueError):
        written = ""
    return written or _("Event of type {}.").format(row.kind)


def speaker_of(row: Row) -> Speaker:
    """Who speaks in a row: a person who uses the conversation, whoever answered a question, the runtime, or the actor
    of the row, as in one of a kind that nobody knows."""
    kind = part_types.get(row.part_type)
    if row.kind in DECISIONS or (kind is not None and kind.decides):
        return "decider"
    if kind is not None and kind.origins == {"runtime"}:
        return "runtime"
    return _KINDS[row.kind].speaker if row.kind in _KINDS else "actor"


def _text(value: Json, length: int = LENGTH) -> str:
    return shorten(value, length) if isinstance(value, str) else ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _message(row: Row) -> str:
    return _text(row.data.get("text"))


def _action(row: Row) -> str:
    action = _object(row.data.get("action"))
    label = _text(row.data.get("label")) or _("a button")
    return _("Clicked “{}” (action {} on surface {} of {}).").format(
        label, action.get("name", "?"), action.get("surfaceId", "?"), row.data.get("owner", "?")
    )


def _edit(row: Row) -> str:
    paths = [str(_object(op).get("path", "?")) for op in row.data.get("ops", [])]
    told = ngettext(
        "Changed {} value on surface {} of {}: {}.", "Changed {} values on surface {} of {}: {}.", len(paths)
    )
    return told.format(
        len(paths), row.data.get("surfaceId", "?"), row.data.get("owner", "?"), _text(", ".join(paths), 120)
    )


def _show(row: Row) -> str:
    return _("Showed {} items of a list on surface {} of {}.").format(
        row.data.get("count", "?"), row.data.get("surfaceId", "?"), row.data.get("owner", "?")
    )


def _part(row: Row, people: People) -> str:
    part = _object(row.data.get("part"))
    name = row.part_type or str(_object(part.get("metadata")).get("partType"))
    kind = part_types.get(name)
    if kind is not None and kind.decides:
        part = _decided_by(part, people)
    told = _of_its_type(kind, part) or _text(part.get("text")) or _("Part of type {}.").format(name)
    # Of a citation: why it belongs to no data.
    unbound = _text(row.data.get("unbound"))
    return f"{told} ({unbound})" if unbound else told


def _decided_by(part: JsonObject, people: People) -> JsonObject:
    """``part`` with whoever decided under the name that the reader knows them by."""
    metadata = _object(part.get("metadata"))
    who = people.name(_object(part.get("data")).get("decidedBy"), metadata.get("decidedByName"))
    return {**part, "metadata": {**metadata, "decidedByName": who}}


def _of_its_type(kind: PartType | None, part: JsonObject) -> str:
    if kind is None or kind.in_words is None:
        return ""
    try:
        return _text(kind.in_words(part))
    except Exception:
        # It may be somebody else's code, and the part may be older than it.
        logger.exception("What a part of type %s says in words fails.", kind.name)
        return ""


def _withdrawn(row: Row) -> str:
    count = len(row.data.get("live", []))
    return ngettext(
        "Withdrew {} streamed text that did not become part of the answer.",
        "Withdrew {} streamed texts that did not become part of the answer.",
        count,
    ).format(count)


def _tool(row: Row) -> str:
    error = row.data.get("error")
    told = _text(row.data.get("summary")) or _text(_object(error).get("message") or error)
    name, state = row.data.get("name", "?"), str(row.data.get("state", "?"))
    return f"{name}: {state}. {told}".strip()


def _result(row: Row) -> str:
    kind = row.data.get("dataKind")
    shown = f" {_('Data kind: {}.').format(kind)}" if kind else ""
    return f"{_tool(row)}{shown}"


def _free_text(row: Row) -> str:
    return _("Text outside respond(), not delivered: {}").format(_text(row.data.get("text")))


def _refused(row: Row) -> str:
    error = _object(row.data.get("error"))
    # What is wrong with a surface is told with its place.
    problems = [_object(one) for one in error.get("problems") or ()]
    told = [f"{_text(one['pointer'])}: {_text(one.get('message'))}" for one in problems if "pointer" in one]
    said = " ".join([_text(error.get("message")), *told])
    return _("Call to {} refused: {}").format(row.data.get("call", "?"), said)


def _state_refused(row: Row) -> str:
    reasons = row.data.get("reasons")
    told = [_text(_object(reason).get("message")) for reason in reasons] if isinstance(reasons, list) else []
    return _("{} Refused: {}").format(in_words({"data": row.data.get("patch")}), " ".join(told))


def _note(row: Row) -> str:
    return _("Internal note: {}").format(_text(row.data.get("note")))


def _in_vain(row: Row, people: People) -> str:
    told = {
        ("late-decision", True): _("{} tried to approve this too late{}. Nothing changed."),
        ("late-decision", False): _("{} tried to deny this too late{}. Nothing changed."),
        ("tried-decision", True): _("{} tried to approve this{}, but may not. Nothing changed."),
        ("tried-decision", False): _("{} tried to deny this{}, but may not. Nothing changed."),
    }[row.kind, row.data.get("decision") == "granted"]
    who = people.heading(row.data.get("by"))
    return reasoned(told.format(who, by_door(row.data.get("source"))), _text(row.data.get("reason")))


def _grant(row: Row, people: People) -> str:
    who = people.heading(row.data.get("by"), row.data.get("name"))
    told = _("{} approved this{}, {} of {}.").format(
        who, by_door(row.data.get("source")), row.data.get("given", "?"), row.data.get("needed", "?")
    )
    return reasoned(told, _text(row.data.get("reason")))


def _ignored(row: Row, people: People) -> str:
    names = ", ".join(_object(row.data.get("sent")))
    return _("{} sent more than a decision ({}){}. That had no effect.").format(
        people.heading(row.data.get("by")), _text(names, 120), by_door(row.data.get("source"))
    )


def _diagnostic(row: Row) -> str:
    told = _("Surface {} repaired: {}").format(row.data.get("surfaceId", "?"), _text(row.data.get("message")))
    found = " · ".join(map(_text, _object(row.data.get("failed")).values()))
    return f"{told} ({found})" if found else told


def _experiment(row: Row) -> str:
    surface, track, flag = (_text(row.data.get(name)) for name in ("surfaceId", "trackId", "flag"))
    if not row.data.get("reason"):
        return _("The experimental document {} is shown (track {}, flag {}).").format(surface, track, flag)
    why = {
        "stage_disabled": _("its stage is “disabled”"),
        "dark_launch": _("its stage is “dark launch”, which is shown to nobody"),
        "not_an_operator": _("its stage is “operator preview”, and the conversation is not one of staff"),
        "flag_unknown": _("there is no flag {}").format(flag),
        "flag_off": _("the flag {} is off here").format(flag),
        "consent_needed": _("it needs consent, which nobody has given"),
        "consent_refused": _("the person does not want it"),
    }[row.data["reason"]]
    return _("The experimental document {} is not shown (track {}): {}.").format(surface, track, why)


def _consent(row: Row, people: People) -> str:
    told = {
        "granted": _("{} allowed the track {} (flag {}): “{}”"),
        "refused": _("{} did not allow the track {} (flag {}): “{}”"),
        "tried": _("{} answered for a person on the track {} (flag {}), but may not. Nothing changed. “{}”"),
    }[row.data["decision"]]
    asked = (_text(row.data.get(name)) for name in ("trackId", "flag", "summary"))
    return told.format(people.heading(row.data.get("by")), *asked)


class _Kind(NamedTuple):
    """A kind of rows: who speaks in one, and what it says."""

    speaker: Speaker
    written: Callable[[Row], str]


_KINDS: dict[str, _Kind] = {
    "message": _Kind("person", _message),
    "action": _Kind("person", _action),
    "edit": _Kind("person", _edit),
    "show": _Kind("person", _show),
    "agent-call": _Kind("runtime", function_calls.called),
    "agent-answer": _Kind("runtime", function_calls.answered),
    "renderer-answer": _Kind("runtime", function_calls.responded),
    "turn": _Kind("runtime", turn_rows.stands),
    "withdrawn": _Kind("runtime", _withdrawn),
    "tool": _Kind("runtime", _tool),
    "settled": _Kind("runtime", turn_rows.settled),
    "free-text": _Kind("actor", _free_text),
    "refused": _Kind("runtime", _refused),
    "state-refused": _Kind("runtime", _state_refused),
    "note": _Kind("actor", _note),
    "tool-result": _Kind("runtime", _result),
    "diagnostic": _Kind("runtime", _diagnostic),
    "experiment": _Kind("runtime", _experiment),
    "consent": _Kind("decider", lambda row: ""),
    "provider": _Kind("runtime", turn_rows.replied),
}
