"""Data that a surface template draws: the parts that ``append_parts`` adds to those that hold it (D11).

There is one surface a slot, whoever has data for it. With a slot key it stays for the conversation, with a kind alone
for the turn and those that go on with it; later data changes it. Where the agent has a surface of its own for the slot,
there is none of the template's.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence
from copy import deepcopy
from dataclasses import dataclass

from django.db.models import QuerySet

from a2ui import SurfaceSet
from a2ui.compose import changes
from envelopes.errors import RespondRefused
from envelopes.log.append import Writer
from envelopes.models import Event, TemplateSurface, Turn
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.merging import merged, strategy_of
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.rows import DiagnosticData
from envelopes.protocol.surfaces import messages_of
from envelopes.protocol.text import clean_text, clip
from envelopes.registries.surface_templates import SurfaceTemplate, TemplateContext, surface_templates
from envelopes.registries.turn_states import emits_envelope
from envelopes.session_state import live_sessions
from envelopes.turns.surfaces import RETIRED_SLOT, Tried, check_surfaces
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

FAILED = "TEMPLATE_FAILED"


@dataclass(frozen=True)
class Made:
    """A part that shows ``data``, and what is kept of it; without a part nothing is shown, or all of it already.
    ``gone``: nothing is kept any more. ``was_there``: the surface had been shown before."""

    kept: TemplateSurface
    part: Part | None
    gone: bool = False
    data: Part | None = None
    was_there: bool = False

    @property
    def shows(self) -> Part | None:
        """The part whose data a surface shows now; None where there is none to show them."""
        return self.data if self.kept.made else None


def is_drawn(part: Part) -> bool:
    """Whether ``part`` is data that a template draws."""
    return (
        part.part_type == DOMAIN_DATA.name
        and isinstance(part.data, dict)
        and surface_templates.for_data(part.metadata.dataKind) is not None
    )


def may_cover(surfaces: SurfaceSet, part: Part) -> bool:
    """Whether an agent may have put ``part`` in the place of a template's surface, of whatever turn."""
    slot = _slot(part) if part.part_type == A2UI_SURFACE.name else ""
    if not slot or not surface_templates.has_any_for_data():
        return False
    return any(
        one.id == _of_slot(slot) or (one.id.startswith("data:") and one.id.endswith(f":{slot}"))
        for one in surfaces
    )


def made_of(writer: Writer, turn: Turn, owner: str, parts: Sequence[Part]) -> list[Made]:
    """What templates make of the data in ``parts`` of ``owner``, and which of their surfaces end.

    A slot that another actor has begun is shown where that one's surface is.
    """
    if not surface_templates.has_any_for_data():
        return []
    drawn = [part for part in parts if is_drawn(part)]
    own = [part for part in parts if part.part_type == A2UI_SURFACE.name and _slot(part)]
    if not drawn and not own:
        return []
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        shown = {(each.owner, each.id) for each in view.surfaces}
    turns = _turns(turn)
    found = [
        Made(each, _ended(each.surface_id), gone=True)
        for each in _ending(writer, turns[0], owner, own, shown)
    ]
    covered = {_slot(part) for part in own}
    latest: dict[str, TemplateSurface] = {}
    for part in drawn:
        template, slot = surface_templates.for_data(part.metadata.dataKind), _slot(part)
        surface_id = _of_slot(slot) if part.metadata.slotKey else _of_turn(slot, turns[0])
        before = latest.get(surface_id) or _showing(writer, owner, surface_id, shown)
        whose = before.owner if before is not None else owner
        is_there = (whose, surface_id) in shown or surface_id in latest
        if template is None or slot in covered or (not is_there and _has_own(writer, turns, part, shown)):
            continue
        made = _made(writer, turn, whose, template, part, surface_id, before, is_there=is_there)
        if made is not None:
            latest[surface_id] = made.kept
            found.append(made)
    return found


def _ending(
    writer: Writer, first: int, owner: str, own: Sequence[Part], shown: Container[tuple[str, str]]
) -> list[TemplateSurface]:
    """Surfaces of templates in whose place ``owner`` puts its ``own``."""
    found: dict[int, TemplateSurface] = {}
    for part in own:
        slot = _slot(part)
        for each in _kept(writer, [_of_slot(slot), _of_turn(slot, first)]):
            is_named = each.owner == owner and each.surface_id in _named(part)
            if (each.owner, each.surface_id) in shown and not is_named:
                found[each.pk] = each
    return list(found.values())


def _showing(
    writer: Writer, owner: str, surface_id: str, shown: Container[tuple[str, str]]
) -> TemplateSurface | None:
    """What is kept of the surface that shows a slot: of ``owner``, unless it is another one's that is there."""
    kept = {each.owner: each for each in _kept(writer, [surface_id])}
    if (owner, surface_id) not in shown:
        for each in kept.values():
            if each.made and (each.owner, surface_id) in shown:
                return each
    return kept.get(owner)


def tried(
    writer: Writer, turn: Turn, owner: str, parts: list[Part], made: list[Made], *, strict: bool = False
) -> tuple[Tried, list[Made]]:
    """``check_surfaces`` of ``parts``, which a model wrote where it is ``strict``, and what was made of them. What a
    surface refuses of the latter is told to staff: the surface ends, its data is kept and shown generically. The agent
    hears of its own parts alone. Raises as that does."""
    shown = [each for each in made if each.part is not None]
    try:
        found = check_surfaces(
            writer,
            owner,
            [*parts, *(each.part for each in shown if each.part)],
            owners={len(parts) + at: each.kept.owner for at, each in enumerate(shown)},
            strict=range(len(parts)) if strict else (),
        )
    except RespondRefused as error:
        problems = error.facts.get("problems", [])
        wrong = {
            shown[at].kept.surface_id for problem in problems if (at := _number(problem) - len(parts)) >= 0
        }
        if not wrong:
            raise
        for problem in problems:
            if (at := _number(problem) - len(parts)) >= 0:
                _tell(writer, turn, owner, shown[at].kept, problem["message"], problem["path"])
        return tried(writer, turn, owner, parts, _without(made, wrong), strict=strict)
    for problem in found.told:
        if (at := _number(problem) - len(parts)) >= 0:
            _tell(writer, turn, owner, shown[at].kept, problem["message"], problem["path"])
    found.told[:] = [problem for problem in found.told if _number(problem) < len(parts)]
    return found, made


def _without(made: Sequence[Made], wrong: Container[str]) -> list[Made]:
    """``made`` with an end of the surfaces ``wrong``, whose data stays for what comes later."""
    found: list[Made] = []
    ended: set[str] = set()
    for one in made:
        surface_id = one.kept.surface_id
        if surface_id not in wrong:
            found.append(one)
        elif surface_id not in ended:
            ended.add(surface_id)
            one.kept.made = {}
            found.append(Made(one.kept, _ended(surface_id) if one.was_there else None))
    return found


def keep(made: Made) -> None:
    """Store what is kept of a surface, in the transaction in which its part is. Whoever else shows the slot goes on
    from what has come together there by now."""
    kept = made.kept
    if made.gone:
        kept.delete()
        return
    kept.save()
    _of_all(kept).exclude(pk=kept.pk).update(data=kept.data)


def _made(
    writer: Writer,
    turn: Turn,
    owner: str,
    template: SurfaceTemplate,
    part: Part,
    surface_id: str,
    before: TemplateSurface | None,
    *,
    is_there: bool,
) -> Made | None:
    session, metadata, new = writer.session, part.metadata, part.data or {}
    kept = before or _begun(TemplateSurface(session=session, owner=owner, surface_id=surface_id, made={}))
    kept.kind, was = template.name, kept.made
    kept.data = merged(kept.data, new, strategy_of(metadata.mergeStrategy))
    context = TemplateContext(
        surface_id, session.public_id, owner, _slot(part), session.locale, session.timezone
    )
    if is_there and not was:
        _tell(writer, turn, owner, kept, "The agent has a surface of this id, so the template has none.")
        return None
    try:
        (message,) = template.draw(deepcopy(kept.data), context).create()
        kept.made = message["createSurface"]
        if kept.made["surfaceId"] != surface_id:
            raise ValueError(f"It is not the surface {surface_id!r}.")  # noqa: TRY301 - as any other of its faults
    except Exception as error:
        # Whatever is wrong with it, the data is there to be read.
        logger.exception("The surface template %r raised.", template.name)
        _tell(writer, turn, owner, kept, f"{type(error).__name__}: {error}")
        kept.made = {}
        return Made(kept, _ended(surface_id) if is_there else None)
    messages = changes(was, kept.made) if is_there else [message]
    named = {"partType": A2UI_SURFACE.name, "slotKey": metadata.slotKey, "dataKind": metadata.dataKind}
    shown = Metadata.model_validate({**named, "template": template.name})
    made = Part(data={"messages": messages}, metadata=shown) if messages else None
    return Made(kept, made, data=part, was_there=is_there)


def _has_own(writer: Writer, turns: Sequence[int], part: Part, shown: Container[tuple[str, str]]) -> bool:
    """Whether an agent shows the slot by a surface of its own: of this turn, and those that it goes on with, or, with a
    slot key, of any."""
    rows = Event.objects.filter(
        session=writer.session,
        kind="part",
        part_type=A2UI_SURFACE.name,
        data__part__metadata__template__isnull=True,
    )
    if key := part.metadata.slotKey:
        rows = rows.filter(data__part__metadata__slotKey=key)
    else:
        rows = rows.filter(turn__in=turns, data__part__metadata__dataKind=part.metadata.dataKind)
    last = rows.order_by("-seq").values_list("actor", "data").first()
    if last is None:
        return False
    return any((last[0], name) in shown for name in _named(Part.model_validate(last[1]["part"])))


def _named(part: Part) -> set[str]:
    """The ids of the surfaces that a part speaks of."""
    bodies = [body for message in messages_of(part.data) for body in message.values()]
    return {str(body.get("surfaceId", "")) for body in bodies if isinstance(body, dict)}


def _slot(part: Part) -> str:
    return part.metadata.slotKey or part.metadata.dataKind or ""


def _of_slot(slot: str) -> str:
    return f"slot:{slot}"


def _of_turn(kind: str, first: int) -> str:
    return f"data:{first}:{kind}"


def _turns(turn: Turn) -> list[int]:
    """The numbers of the turns within which a kind is one thing, oldest first: that in which ``turn`` is read, and
    those that it goes on with and that have had no envelope."""
    numbers = [turn.shown_in]
    for earlier in reversed(turn.home.lineage()[:-1]):
        if emits_envelope(earlier.turn_state):
            break
        numbers.insert(0, earlier.number)
    return numbers


def _kept(writer: Writer, ids: Sequence[str]) -> list[TemplateSurface]:
    """What is kept of these surfaces, whoever shows them."""
    return list(TemplateSurface.objects.filter(session=writer.session, surface_id__in=ids))


def _of_all(kept: TemplateSurface) -> QuerySet[TemplateSurface]:
    """What is kept of the same slot, whoever shows it."""
    return TemplateSurface.objects.filter(session=kept.session, surface_id=kept.surface_id)


def _begun(kept: TemplateSurface) -> TemplateSurface:
    """``kept`` with what others have found for its slot."""
    other = _of_all(kept).first()
    kept.data = {} if other is None else other.data
    return kept


def _ended(surface_id: str) -> Part:
    message = {"version": "1.0", "deleteSurface": {"surfaceId": surface_id}}
    return Part(data=message, metadata=Metadata(partType=A2UI_SURFACE.name, slotKey=RETIRED_SLOT))


def _number(problem: JsonObject) -> int:
    """The place of the part that a problem is about."""
    return int(str(problem["part"]).rpartition("/")[2])


def _tell(
    writer: Writer, turn: Turn, owner: str, kept: TemplateSurface, message: str, path: str = ""
) -> None:
    told: DiagnosticData = {
        "part": "",
        "code": FAILED,
        "surfaceId": kept.surface_id,
        "path": path,
        "message": clip(clean_text(f"Template {kept.kind}: {message}"), 512),
    }
    writer.add("diagnostic", told, turn=turn, actor=owner, audience="audit")
