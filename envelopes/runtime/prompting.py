"""What a model of an actor is told with each request: the system prompt, and the tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from a2ui import Catalog, Taught, taught
from envelopes.models import Session
from envelopes.ownership import owner_of
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.respond_tool import offered, respond_tool
from envelopes.protocol.snippet import system_snippet
from envelopes.registries.actors import Actor, Instructing, actors
from envelopes.registries.tools import Tool
from envelopes.session_state.engines import engine_for, taught_catalogs
from envelopes.types import JsonObject


@dataclass(frozen=True)
class Prompt:
    """``sections`` are ``(name, text)`` in their order: ``system`` is made of them. ``left_out``: what of its catalogs
    the model is not told for want of room."""

    sections: tuple[tuple[str, str], ...]
    tools: list[JsonObject]
    left_out: Sequence[str] = ()

    @property
    def system(self) -> str:
        return "\n\n".join(text.rstrip() for _, text in self.sections if text.strip())


def prompt_for(actor: Actor, instructions: str | None = None) -> Prompt:
    """What models of ``actor`` are told: the same to the byte as long as the same is registered and set, so that what
    providers keep of it can be used again. ``instructions``: those of a conversation, where they depend on it; without
    them such an actor has none here."""
    if instructions is None:
        instructions = actor.instructions if isinstance(actor.instructions, str) else ""
    kinds = offered(actor)
    others = {other.name: f"{other.display_name}, {other.role}" for other in actors if other is not actor}
    interfaces = Taught("", [])
    if A2UI_SURFACE in kinds:
        engine = engine_for(settings.LANGUAGE_CODE, "UTC")
        interfaces = _taught(taught_catalogs(engine, actor.catalogs))
    sections = (
        ("instructions", instructions),
        ("respond", system_snippet(kinds, others)),
        ("tools", _told_of_results(actor.offered)),
        ("a2ui", f"{_A2UI}\n{interfaces.text}" if interfaces.text else ""),
    )
    tools = [respond_tool(others, kinds), *(tool.definition() for tool in actor.offered)]
    return Prompt(sections, tools, interfaces.left_out)


def instructions_for(actor: Actor, session: Session) -> str:
    """The instructions of ``actor`` in this conversation. Raises what its function raises."""
    owner = owner_of(session)
    return actor.instructions_for(
        Instructing(
            actor=actor.name,
            session_id=session.public_id,
            user=owner.user if owner is not None else None,
            owner_name=owner.name if owner is not None else "",
            locale=session.locale,
            timezone=session.timezone,
        )
    )


_A2UI = f"""\
Interfaces: A2UI 1.0
- The data of a part of type {A2UI_SURFACE.name} is {{"messages": [...]}}."""


@lru_cache(maxsize=64)
def _taught(catalogs: tuple[Catalog, ...]) -> Taught:
    # Asked for at each step of each turn.
    return taught(catalogs)


def _told_of_results(tools: Sequence[Tool]) -> str:
    shown = ", ".join(f"{tool.name} ({tool.data_kind})" for tool in tools if tool.data_kind)
    if not shown:
        return ""
    return (
        "Results that are data: what these tools give is delivered as data of its kind by itself, so do not send it "
        f"again: {shown}. A surface that you make of it names that kind as its dataKind."
    )
