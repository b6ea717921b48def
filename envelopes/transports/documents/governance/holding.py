"""Experimental documents as they are drawn: as they are, or as a placeholder that says nothing of them; kept with the
verdict, which is logged whenever it becomes another one."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes.log.append import Writer
from envelopes.models import Document, Turn
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.originators import is_principal
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.rows import ExperimentData
from envelopes.session_state import live_sessions
from envelopes.transports.documents.formats.errors import DocumentError
from envelopes.transports.documents.formats.experimental import read
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import PatchDocument, apply, parse_patch, root_replacement
from envelopes.transports.documents.governance.asking import ask
from envelopes.transports.documents.governance.verdicts import Verdict, verdict
from envelopes.transports.documents.parts import KEY, surface_part
from envelopes.transports.documents.rendering import placeholder_of, surface_of
from envelopes.turns.gates import Held
from envelopes.turns.parts import append_parts
from envelopes.types import JsonObject


@dataclass(frozen=True)
class Shown:
    """What stands on a surface: the body that it was made with, and whether that is of the document itself."""

    body: JsonObject
    is_document: bool


def on_screen(writer: Writer, kept: Document | None) -> Shown | None:
    """What stands where ``kept`` is shown; None where its surface is gone."""
    if kept is None:
        return None
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        is_there = view.surfaces.get(kept.owner, kept.surface) is not None
    return _drawn(kept.document, kept.blocked) if is_there else None


def part_to(
    before: Shown | None, document: JsonObject, held: str, patch: PatchDocument | None = None
) -> JsonObject | None:
    """The part by which ``document`` stands there, as the verdict ``held`` has it; None where nothing changes.
    ``patch`` makes it of the one that stands there."""
    after = _drawn(document, held)
    was_there = before is not None and before.is_document
    told: JsonObject | None = None
    if after.is_document:
        made = patch if was_there and patch is not None else root_replacement(document)
        told = {"surface": document["surface"], "patch": made.as_json()}
    elif was_there:
        # Whoever follows documents hears that it is gone, and nothing of what it has become.
        told = {"surface": document["surface"], "closed": True}
    part = surface_part(None if before is None else before.body, after.body, told)
    return part if told is not None or part["data"]["messages"] else None


def _drawn(document: JsonObject, held: str) -> Shown:
    if held:
        return Shown(placeholder_of(document["surface"]), is_document=False)
    return Shown(surface_of(document), is_document=True)


def judge(writer: Writer, owner: str, document: JsonObject) -> Verdict:
    """The verdict on a document of ``owner``; "" for one that is not experimental."""
    block = read(document)
    return "" if block is None else verdict(block, writer.session, owner)


def keep(writer: Writer, kept: Document, document: JsonObject, held: Verdict) -> None:
    """Store ``document`` in ``kept`` with the verdict, log it where it is another one, and ask for the consent that is
    missing. Called once the part of it is there."""
    block = read(document)
    before = (read(kept.document), kept.blocked) if kept.pk else None
    kept.document, kept.blocked = document, held
    kept.flag = "" if block is None else block.feature_flag
    kept.save()
    if block is None:
        return
    if before is None or before[0] is None or before[1] != held:
        told: ExperimentData = {
            "surfaceId": kept.surface,
            "trackId": block.track_id,
            "flag": block.feature_flag,
            "stage": block.rollout_stage,
            "reason": held,
        }
        writer.add("experiment", told, turn=kept.turn, actor=kept.owner, audience="audit")
    if held == "consent_needed" and (before is None or before != (block, held)):
        ask(writer, kept.turn, kept.owner, block)


def look_again(writer: Writer, kept: Document) -> bool:
    """Draw ``kept`` again where the verdict on it has changed; whether it has. ``kept`` is read under the lock of
    ``writer``."""
    held = judge(writer, kept.owner, kept.document)
    if held == kept.blocked:
        return False
    before = on_screen(writer, kept)
    part = None if before is None else part_to(before, kept.document, held)
    if part is not None:
        append_parts(writer, kept.turn, [part], "runtime", actor=kept.owner)
    keep(writer, kept, kept.document, held)
    return True


# -- those of agents --------------------------------------------------------------------------------------------------


def is_document(part: Part) -> bool:
    """Whether an agent shows a document by ``part``."""
    return part.part_type == A2UI_SURFACE.name and isinstance(part.data, dict) and KEY in part.data


def hold(writer: Writer, turn: Turn, owner: str, part: Part) -> Held:
    """An agent's part with an experimental document, or what stands in its place. Those of programs come through their
    own door, where the same is asked (``storing``)."""
    document = None if is_principal(owner) else _document(part)
    if document is None:
        return Held(part)
    kept = (
        Document.objects.filter(session=writer.session, owner=owner, surface=document["surface"])
        .select_related("turn")
        .first()
    )
    if read(document) is None:
        return Held(part, None if kept is None else kept.delete)
    held = judge(writer, owner, document)
    made = part_to(on_screen(writer, kept), document, held)
    row = kept or Document(
        session=writer.session, owner=owner, surface=document["surface"], version=0, document=document
    )
    row.turn = turn
    row.version += 1
    shown = made if made is not None else _the_same(placeholder_of(document["surface"]))
    through = Part(
        data=shown["data"], metadata=Metadata(**{**part.metadata.model_dump(), **shown["metadata"]})
    )
    return Held(through, lambda: keep(writer, row, document, held))


def _the_same(body: JsonObject) -> JsonObject:
    """A part that leaves a surface as it is: what an agent says becomes a row."""
    named = {name: body[name] for name in ("surfaceId", "components")}
    part = surface_part(body, body, None)
    part["data"]["messages"] = [{"version": "1.0", "updateComponents": named}]
    return part


def _document(part: Part) -> JsonObject | None:
    """The document that a part shows whole. What an agent's model may have written there is none of ours."""
    given = (part.data or {}).get(KEY)
    if not isinstance(given, dict):
        return None
    try:
        found = apply(None, parse_patch(given.get("patch"), DEFAULT_LIMITS), DEFAULT_LIMITS)
        document = normalise(found, DEFAULT_LIMITS).document
    except DocumentError:
        return None
    return document if document == found else None
