"""A row of the log as one readable sentence, for people who look for what happened. Plain text; never markup."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes.delivery.panel.markup import cut
from envelopes.errors import ValidationFailed
from envelopes.log.rows import Row
from envelopes.protocol.surfaces import messages_of
from envelopes.types import Json, JsonObject

LENGTH = 400
"""How much of somebody's words a sentence holds; the row's JSON below it holds all."""


def sentence(row: Row) -> str:
    """What the row says. A row that is not as it should be still gets one: rows outlive the code that wrote them."""
    try:
        written = _KINDS[row.kind](row) if row.kind in _KINDS else ""
    except (KeyError, TypeError, AttributeError, ValueError):
        written = ""
    return written or _("A {} row.").format(row.kind)


def _text(value: Json, length: int = LENGTH) -> str:
    return cut(value, length) if isinstance(value, str) else ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _message(row: Row) -> str:
    return _text(row.data.get("text"))


def _action(row: Row) -> str:
    action = _object(row.data.get("action"))
    label = _text(row.data.get("label")) or _("a button")
    return _("Pressed “{}”: action {} on surface {} of {}.").format(
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
    return _("Asked to see {} items of a list on surface {} of {}.").format(
        row.data.get("count", "?"), row.data.get("surfaceId", "?"), row.data.get("owner", "?")
    )


def _turn(row: Row) -> str:
    status, reason, attempt = row.data.get("status"), row.data.get("reason"), row.data.get("attempt")
    match status:
        case "running" if reason == "recovered":
            return _("Taken over from a runner that was gone (attempt {}).").format(attempt)
        case "running":
            return _("Runs (attempt {}).").format(attempt)
        case "queued" if reason == "approval":
            return _("Goes on: everything it waited for has been decided.")
        case "queued":
            return _("Queued.")
        case "suspended":
            return _("Suspended: it waits for a person's approval.")
        case "waiting":
            return _("Waits for work in the background.")
        case _:
            return _("Is {}.").format(status)


def _part(row: Row) -> str:
    part = _object(row.data.get("part"))
    kind = row.part_type or str(_object(part.get("metadata")).get("partType"))
    special = _PARTS.get(kind)
    written = special(_object(part.get("data")), _object(part.get("metadata"))) if special else ""
    return written or _text(part.get("text")) or _("A part of type {}.").format(kind)


def _data(data: JsonObject, metadata: JsonObject) -> str:
    keys = _text(", ".join(data), 120) or _("nothing")
    kind = metadata.get("slotKey") or metadata.get("dataKind")
    return _("Data for {}: {}.").format(kind, keys) if kind else _("Data: {}.").format(keys)


def _surface(data: JsonObject, metadata: JsonObject) -> str:
    try:
        messages = messages_of(data)
    except ValidationFailed:
        return ""
    verbs = {"createSurface": _("created"), "updateComponents": _("components"), "updateDataModel": _("data")}
    told: dict[str, list[str]] = {}
    for message in messages:
        for verb, body in message.items():
            if isinstance(body, dict):
                told.setdefault(str(body.get("surfaceId", "?")), []).append(verbs.get(verb, verb))
    return "; ".join(
        _("Surface {}: {}.").format(name, ", ".join(dict.fromkeys(changes))) for name, changes in told.items()
    )


def _progress(data: JsonObject, metadata: JsonObject) -> str:
    amount = f" {data['current']:g}/{data['total']:g}" if data.get("current") and data.get("total") else ""
    return f"{_text(data.get('label')) or data.get('id', '?')}: {data.get('status', 'running')}{amount}."


def _asked(data: JsonObject, metadata: JsonObject) -> str:
    return _("Asked for approval: {}").format(_text(metadata.get("question")) or data.get("toolName", "?"))


def _answered(data: JsonObject, metadata: JsonObject) -> str:
    by = metadata.get("decidedByName") or data.get("decidedBy") or "?"
    told = _("Approved by {} ({}).") if data.get("decision") == "granted" else _("Denied by {} ({}).")
    if data.get("reason") == "expired":
        told = _("Nobody decided in time, so it counts as denied: {} ({}).")
    reason = _text(data.get("reason"))
    written = told.format(by, metadata.get("source", "?"))
    return f"{written} {_('Reason: {}').format(reason)}" if reason and reason != "expired" else written


def _artifact(data: JsonObject, metadata: JsonObject) -> str:
    return _("File {} ({}, {} bytes).").format(
        _text(data.get("name")) or data.get("artifactId", "?"),
        data.get("mimeType", "?"),
        data.get("sizeBytes", "?"),
    )


def _citation(data: JsonObject, metadata: JsonObject) -> str:
    return _("Source: {}").format(_text(data.get("title")))


def _state(data: JsonObject, metadata: JsonObject) -> str:
    return _("Asked for these states: {}.").format(
        ", ".join(f"{key} = {value}" for key, value in data.items())
    )


def _trace(data: JsonObject, metadata: JsonObject) -> str:
    return _("Reasoning, kept for audit: {}").format(_text(data.get("text")) or _("see below"))


_PARTS: dict[str, Callable[[JsonObject, JsonObject], str]] = {
    "domain-data": _data,
    "a2ui-surface": _surface,
    "progress": _progress,
    "approval-request": _asked,
    "approval-response": _answered,
    "artifact": _artifact,
    "citation": _citation,
    "setState": _state,
    "reasoning-trace": _trace,
}


def _withdrawn(row: Row) -> str:
    count = len(row.data.get("live", []))
    return ngettext(
        "Took back {} streamed text that became no part.",
        "Took back {} streamed texts that became no part.",
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


def _settled(row: Row) -> str:
    state, by = row.data.get("turnState"), row.data.get("finalizedBy")
    return _("Settled: {}.").format(state) if state == by else _("Settled: {}, because {}.").format(state, by)


def _free_text(row: Row) -> str:
    return _("Wrote outside respond(), delivered to nobody: {}").format(_text(row.data.get("text")))


def _refused(row: Row) -> str:
    error = _object(row.data.get("error"))
    return _("A call of {} was refused: {}").format(row.data.get("call", "?"), _text(error.get("message")))


def _note(row: Row) -> str:
    return _("Note for the log: {}").format(_text(row.data.get("note")))


def _late(row: Row) -> str:
    told = _("Tried to decide too late: {}, by {} ({}). It changed nothing.")
    written = told.format(row.data.get("decision"), row.data.get("by") or "?", row.data.get("source"))
    reason = _text(row.data.get("reason"))
    return f"{written} {_('Reason: {}').format(reason)}" if reason else written


def _diagnostic(row: Row) -> str:
    return _("Surface {} was repaired: {}").format(
        row.data.get("surfaceId", "?"), _text(row.data.get("message"))
    )


def _provider(row: Row) -> str:
    error = row.data.get("error")
    if error:
        return _("The model broke off: {}").format(_text(_object(error).get("message")) or _text(error))
    usage = _object(row.data.get("usage"))
    used = ", ".join(f"{name} {count:,}" for name, count in usage.items() if isinstance(count, int))
    return _("The model's reply ended: {}. {}").format(row.data.get("stopReason"), used).strip()


_KINDS: dict[str, Callable[[Row], str]] = {
    "message": _message,
    "action": _action,
    "edit": _edit,
    "show": _show,
    "turn": _turn,
    "part": _part,
    "withdrawn": _withdrawn,
    "tool": _tool,
    "settled": _settled,
    "free-text": _free_text,
    "refused": _refused,
    "note": _note,
    "tool-result": _result,
    "late-decision": _late,
    "diagnostic": _diagnostic,
    "provider": _provider,
}
