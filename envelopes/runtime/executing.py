"""Running tools: with their context, their timeout, and an honest account of how it ended."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from asgiref.sync import sync_to_async

from envelopes import artifacts, secrets
from envelopes.conf import setting
from envelopes.errors import BeachError, LeaseLost, ToolFailed, ValidationFailed
from envelopes.log.append import Fence, writing
from envelopes.models import Participant, ToolCall, Turn
from envelopes.protocol.text import clean_json
from envelopes.registries.tools import Tool
from envelopes.runtime.calls import Ended
from envelopes.runtime.emitting import emit
from envelopes.runtime.turns import UNKNOWN
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""How long a tool that was told to end may take to do so."""


@dataclass
class RunningCall:
    """The ``ToolContext`` of one call."""

    call: ToolCall
    fence: Fence
    session_id: str
    turn_id: str
    call_id: str
    actor: str
    owner_name: str
    abandoned: bool = False

    async def reveal(self, value: Json) -> Json:
        if isinstance(value, dict) and secrets.HANDLE in value:
            return await sync_to_async(secrets.reveal)(value)
        return value

    async def attach(self, name: str, mime_type: str, content: bytes) -> str:
        self._check()
        part = await sync_to_async(_attach)(self.call, self.fence, name, mime_type, content)
        return str(part["data"]["artifactId"])

    async def emit(self, *parts: JsonObject) -> None:
        self._check()
        await sync_to_async(_emit)(self.call, self.fence, list(parts))

    def _check(self) -> None:
        """A tool that did not end when it had to has no voice any more, although its turn may still run."""
        if self.abandoned:
            raise LeaseLost


def context_of(call: ToolCall, fence: Fence) -> RunningCall:
    turn = Turn.objects.select_related("session").get(pk=call.turn_id)
    owner = Participant.objects.filter(session=turn.session_id, role="owner").first()
    return RunningCall(
        call=call,
        fence=fence,
        session_id=turn.session.public_id,
        turn_id=turn.public_id,
        call_id=call.call_id,
        actor=turn.actor,
        owner_name=owner.name if owner else "",
    )


def _attach(call: ToolCall, fence: Fence, name: str, mime_type: str, content: bytes) -> JsonObject:
    with writing(call.session_id, fence=fence) as writer:
        turn = Turn.objects.get(pk=call.turn_id)
        part = artifacts.store(writer.session, name, mime_type, content)
        writer.add(
            "part",
            {"part": part, "turnState": turn.turn_state or "awaiting"},
            part_type="artifact",
            turn=turn,
        )
        return part


def _emit(call: ToolCall, fence: Fence, raw: list[JsonObject]) -> None:
    with writing(call.session_id, fence=fence) as writer:
        emit(writer, Turn.objects.select_related("session").get(pk=call.turn_id), raw)


async def execute(tool: Tool, call: ToolCall, fence: Fence) -> tuple[Ended, Json, JsonObject | None]:
    """Run ``tool`` on the stored arguments; returns how it ended, its result, its error.

    A tool that raises has failed. One that does not come back in time has failed if it may be repeated; otherwise
    nobody knows.
    """
    context = await sync_to_async(context_of)(call, fence)
    args = tool.input.model_validate(call.args)
    seconds = tool.timeout or (None if tool.background else setting("BEACH_TOOL_SECONDS"))
    try:
        result = await _within(seconds, tool, context, args)
    except TimeoutError:
        if not tool.idempotent:
            return (
                "unknown",
                None,
                {
                    **UNKNOWN,
                    "message": f"No answer within {seconds:g} seconds. Whether it took effect is not known.",
                },
            )
        return (
            "failed",
            None,
            {"code": "tool_timeout", "message": f"{tool.name} did not answer within {seconds:g} seconds."},
        )
    except BeachError as error:
        if error.code == "lease_lost":
            raise
        return "failed", None, error.as_dict()
    except Exception:
        logger.exception("The tool %s raised.", tool.name)
        return (
            "failed",
            None,
            {"code": "tool_failed", "message": f"{tool.name} failed inside. It has been logged."},
        )
    return "succeeded", _kept(tool, result), None


def _kept(tool: Tool, result: Json) -> Json:
    """The result as it can be stored. What cannot be does not undo what the tool has done: that is said instead."""
    try:
        return clean_json(result)
    except ValidationFailed as error:
        logger.exception("The result of %s cannot be stored.", tool.name)
        return {"note": f"It was done, but its result cannot be shown: {error.message}"}


async def _within(seconds: float | None, tool: Tool, context: RunningCall, args: object) -> Json:
    """Run ``tool`` for at most ``seconds``; raises ``TimeoutError``.

    Not ``wait_for``: it waits for the end of what it cancels, and a tool that catches that would hold its turn, and
    the server's own end, for ever.
    """
    running = asyncio.create_task(_run(tool, context, args))
    try:
        done, _ = await asyncio.wait({running}, timeout=seconds)
        if done:
            return running.result()
        raise TimeoutError
    finally:
        if not running.done():
            running.cancel()
            _, left = await asyncio.wait({running}, timeout=GRACE_SECONDS)
            if left:
                context.abandoned = True
                logger.error("The tool %s does not end; it is left to itself.", tool.name)


async def _run(tool: Tool, context: RunningCall, args: object) -> Json:
    try:
        return await tool.run(context, args)
    except TimeoutError as error:
        raise ToolFailed(f"{tool.name} ran into a timeout. {error}".strip(), cause="timeout") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled it: let through, it would look as if this server went down, and be run again for ever.
        raise ToolFailed(f"{tool.name} broke off.", cause="cancelled") from error
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        # A library that calls sys.exit() must not end the server, and with the turn's next start the next one.
        logger.exception("The tool %s raised.", tool.name)
        raise ToolFailed(f"{tool.name} failed inside. It has been logged.") from error
