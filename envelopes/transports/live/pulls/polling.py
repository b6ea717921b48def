"""One poll: the tool of a channel is run beside all turns, and what it gives is checked by the channel's schema.

Only tools that are registered for it (``Tool.polled``) are: nothing is stored of a poll, and nobody is asked.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from envelopes import artifacts
from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.delivery import Changed
from envelopes.errors import BeachError, ToolFailed
from envelopes.ownership import owner_of
from envelopes.protocol.encoding import encoded
from envelopes.protocol.parts import from_pydantic
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool
from envelopes.runtime.calling import within
from envelopes.runtime.executing import kept
from envelopes.runtime.trying import Running
from envelopes.transports.live.contracts import Contract, ContractViolation
from envelopes.transports.live.errors import LiveError
from envelopes.transports.live.identity import session_of
from envelopes.transports.live.stored import contract_for
from envelopes.transports.live.subscribing import Subscription
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

MAX_BYTES: Final = 1_048_576
"""Of what a poll gives, as JSON."""

NOTHING_ELSE = "A tool that is polled gives its result and nothing else."


class PollFailed(BeachError):
    """The tool of this channel gave nothing that fits."""


@dataclass
class Polling(Running):
    """The ``ToolContext`` of a poll: there is no turn that parts could be said in, and no secret for whoever polls."""

    session_pk: int
    session_id: str
    actor: str
    owner_name: str
    user: Any
    call_id: str = ""
    turn_id: str = ""

    async def reveal(self, value: Json) -> Json:
        raise ToolFailed("What is polled goes to whoever asks: no secret is given to it.")

    async def attach(self, name: str, mime_type: str, content: bytes, *, alt: str = "") -> str:
        raise ToolFailed(NOTHING_ELSE)

    async def write_artifact(self, content: bytes, **chunk: object) -> str:
        raise ToolFailed(NOTHING_ELSE)

    async def read_artifact(self, artifact_id: str) -> tuple[str, str, bytes]:
        return await in_session(self.session_pk, artifacts.read, self.session_pk, artifact_id)

    async def emit(self, *parts: JsonObject) -> list[JsonObject]:
        raise ToolFailed(NOTHING_ELSE)


@dataclass(frozen=True, slots=True)
class Source:
    """What a channel is fed by, as things stand."""

    contract: Contract
    channel: str
    tool: Tool
    args: JsonObject
    owner_name: str
    user: Any


def source_of(made: Subscription, channel: str) -> Source:
    """Of a channel of ``made``'s session. Raises ``Changed`` for whoever may no longer, and ``LiveError`` in the
    reading's order: CHANNEL_NOT_LOCAL, SESSION_NOT_FOUND, CHANNEL_UNKNOWN, CHANNEL_NOT_LOCAL. In a thread."""
    who = made.identity.principal()
    if who.key != made.key:
        raise Changed
    actor = actors.get(made.session.actor)
    allowed = _allowed(actor)
    if not allowed:
        raise LiveError("CHANNEL_NOT_LOCAL", "No tool of this server feeds channels of this app.")
    session = session_of(who, made.session.public_id)
    if session is None:
        raise LiveError("SESSION_NOT_FOUND", "This session is gone.")
    contract = contract_for(session)
    declared = contract.channel(channel) if contract is not None else None
    if contract is None or declared is None or declared.source is None:
        raise LiveError("CHANNEL_UNKNOWN", "No channel of this name has a source.")
    tool = allowed.get(declared.source.tool)
    if tool is None:
        raise LiveError("CHANNEL_NOT_LOCAL", "No tool of this server that may be polled feeds this channel.")
    owner = owner_of(session)
    name, user = (owner.name, owner.user) if owner else ("", None)
    return Source(contract, channel, tool, declared.source.args or {}, name, user)


def _allowed(actor: Actor | None) -> dict[str, Tool]:
    return {tool.name: tool for tool in actor.all_tools if tool.polled} if actor is not None else {}


async def poll(made: Subscription, source: Source, args: JsonObject) -> Json:
    """What the tool gives for ``args`` over those of the source. Raises ``PollFailed``; a fault inside of the tool is
    logged and only said to have been one."""
    tool, session = source.tool, made.session
    context = Polling(session.pk, session.public_id, session.actor, source.owner_name, source.user)
    seconds = tool.timeout or conf.BEACH_TOOL_SECONDS
    try:
        given = tool.input.model_validate({**source.args, **args})
        result = kept(tool, await within(seconds, tool, context, given))
        faults = source.contract.delivery_violations(source.channel, result)
    except ValidationError as error:
        raise PollFailed(from_pydantic(error).message) from error
    except TimeoutError as error:
        raise PollFailed(f"{tool.name} did not answer within {seconds:g} seconds.") from error
    except BeachError as error:
        raise PollFailed(error.message) from error
    except Exception as error:
        logger.exception("The tool %s raised.", tool.name)
        raise PollFailed(f"{tool.name} failed inside. It has been logged.") from error
    if faults:
        raise PollFailed(ContractViolation("ggui_emit", faults).message)
    if len(encoded(result).encode()) > MAX_BYTES:
        raise PollFailed(f"The result is longer than {MAX_BYTES:,} bytes.")
    return result
