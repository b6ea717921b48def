"""Running the calls of turns: with what a tool may do while it runs, and an honest account of how it ended."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from envelopes import artifacts, secrets, tracing
from envelopes.artifacts import Chunk, Stored
from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.errors import BeachError, LeaseLost, TooLarge, ValidationFailed
from envelopes.log.append import Fence, JobFence, TurnFence, writing
from envelopes.models import ToolCall, Turn
from envelopes.ownership import owner_of
from envelopes.protocol.parts import Part
from envelopes.protocol.text import clean_json
from envelopes.registries.outputs import Misfit, check_size, fitted
from envelopes.registries.tools import Tool
from envelopes.runtime.calling import Stopped, within
from envelopes.runtime.trying import Running
from envelopes.tracing import span
from envelopes.turns.emitting import emit
from envelopes.turns.outcomes import UNKNOWN, Ended
from envelopes.turns.parts import checked_parts
from envelopes.turns.short_way import ShortWay
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

KEPT_TRIES = 50
"""How many of its runs are kept with a call, the last ones: more than one that is tried again can have."""


@dataclass
class RunningCall(Running):
    """The ``ToolContext`` of one call."""

    call: ToolCall
    fence: Fence
    session_id: str
    turn_id: str
    call_id: str
    actor: str
    owner_name: str
    user: Any
    short_way: ShortWay
    # Files of this call to which more may be appended.
    growing: dict[str, None] = field(default_factory=dict)

    async def reveal(self, value: Json) -> Json:
        if isinstance(value, dict) and secrets.HANDLE in value:
            session = self.call.session_id
            return await in_session(session, partial(secrets.reveal, value, session=session))
        return value

    async def attach(self, name: str, mime_type: str, content: bytes, *, alt: str = "") -> str:
        return await self._write(Chunk(name, mime_type, alt=alt, last_chunk=True), content)

    async def write_artifact(
        self,
        content: bytes,
        *,
        artifact_id: str = "",
        name: str = "",
        mime_type: str = "",
        alt: str = "",
        append: bool = False,
        last_chunk: bool = False,
        seq: int | None = None,
    ) -> str:
        return await self._write(Chunk(name, mime_type, artifact_id, append, last_chunk, seq, alt), content)

    async def _write(self, chunk: Chunk, content: bytes) -> str:
        self._check()
        # Nothing is handed to the storage that could not be kept.
        artifacts.check_size(len(content))
        # The storage may take its time: not in the thread in which others of this process wait for the database.
        there = await asyncio.to_thread(artifacts.put, self.session_id, content)
        part = await in_session(self.call.session_id, _record, self.call, self.fence, chunk, there)
        artifact_id = str(part["data"]["artifactId"]) if part is not None else chunk.artifact_id
        if chunk.last_chunk:
            self.growing.pop(artifact_id, None)
        else:
            self.growing[artifact_id] = None
        return artifact_id

    async def read_artifact(self, artifact_id: str) -> tuple[str, str, bytes]:
        self._check()
        return await in_session(self.call.session_id, artifacts.read, self.call.session_id, artifact_id)

    async def end_files(self) -> None:
        """The call is over, so nothing comes any more of what it was writing."""
        growing, self.growing = list(self.growing), {}
        for artifact_id in growing:
            await in_session(self.call.session_id, _end, self.call, self.fence, artifact_id)

    async def emit(self, *parts: JsonObject) -> list[JsonObject]:
        self._check()
        # What was said first stands first, by whatever way it goes.
        async with self.short_way.live.writers():
            checked = checked_parts(parts, "actor")
            if await self.short_way.append(checked):
                return []
            return await in_session(self.call.session_id, _emit, self.call, self.fence, checked)

    def close(self) -> None:
        self.short_way.close()

    def _check(self) -> None:
        """A tool that did not end when it had to has no voice any more, although its turn may still run."""
        if self.abandoned:
            raise LeaseLost


def context_of(call: ToolCall, fence: TurnFence | JobFence) -> RunningCall:
    turn = Turn.objects.select_related("session").get(pk=call.turn_id)
    owner = owner_of(turn.session)
    return RunningCall(
        call=call,
        fence=fence,
        session_id=turn.session.public_id,
        turn_id=turn.public_id,
        call_id=call.call_id,
        actor=turn.actor,
        owner_name=owner.name if owner else "",
        user=owner.user if owner else None,
        short_way=ShortWay(turn.session, turn, fence),
    )


def _record(call: ToolCall, fence: Fence, chunk: Chunk, there: Stored) -> JsonObject | None:
    with artifacts.kept(there), writing(call.session_id, fence=fence) as writer:
        part = artifacts.record(writer.session, _owner(call), chunk, there)
        if part is not None:
            emit(writer, call, [part], "runtime")
        return part


def _owner(call: ToolCall) -> str:
    """Whose file it is: also after the turn was passed on, the actor's that called the tool."""
    return Turn.objects.only("actor").get(pk=call.turn_id).actor


def _end(call: ToolCall, fence: Fence, artifact_id: str) -> None:
    with writing(call.session_id, fence=fence) as writer:
        part = artifacts.whole(writer.session, artifact_id)
        if part is not None:
            emit(writer, call, [part], "runtime")


def _emit(call: ToolCall, fence: Fence, parts: list[Part]) -> list[JsonObject]:
    with writing(call.session_id, fence=fence) as writer:
        appended = emit(writer, call, parts, "actor")
    if appended.refused:
        # The rest is stored, and so is the refusal: the tool has to hear of it as a model does.
        first = appended.refused[0]
        told = " ".join(str(reason["message"]) for reason in first["reasons"])
        raise ValidationFailed(told, path=first["part"].removeprefix("/parts"), problems=appended.refused)
    return appended.responses


async def execute(
    tool: Tool, call: ToolCall, fence: TurnFence | JobFence, stopped: asyncio.Event | None = None
) -> tuple[Ended, Json, JsonObject | None]:
    """Run ``tool`` on the stored arguments; returns how it ended, its result, its error. ``call.tries`` has each run.

    A tool that raises has failed. One that does not come back in time, or with what it does not declare, has failed if
    it may be repeated; otherwise nobody knows. Raises ``Stopped`` when it was ended because ``stopped`` was set.
    """
    context = await in_session(call.session_id, context_of, call, fence)
    before = call.tries
    try:
        with span("beach.tool", _ended, tool=tool.name, actor=context.actor) as running:
            try:
                done = await _executed(tool, call, context, stopped)
            except Stopped:
                await context.end_files()
                raise
            finally:
                call.tries = [*before, *context.tries][-KEPT_TRIES:]
                running.set_attribute("beach.tries", len(context.tries))
            running.set_attribute(tracing.ENDED, done[0])
        await context.end_files()
        return done
    finally:
        context.close()


def _ended(error: BaseException) -> str:
    if isinstance(error, Stopped):
        return tracing.STOPPED
    return tracing.LEFT if isinstance(error, LeaseLost | asyncio.CancelledError) else ""


async def _executed(
    tool: Tool, call: ToolCall, context: RunningCall, stopped: asyncio.Event | None
) -> tuple[Ended, Json, JsonObject | None]:
    seconds = tool.timeout or (None if tool.background else conf.BEACH_TOOL_SECONDS)
    try:
        args = tool.input.model_validate(call.args)
        return "succeeded", kept(tool, await within(seconds, tool, context, args, stopped)), None
    except TimeoutError:
        if not tool.idempotent:
            return _unknown(f"No answer within {seconds:g} seconds.")
        return (
            "failed",
            None,
            {"code": "tool_timeout", "message": f"{tool.name} did not answer within {seconds:g} seconds."},
        )
    except (LeaseLost, Stopped):
        raise
    except Misfit as error:
        context.tries[-1] |= {"ended": "refused", "error": error.found}
        # It came to its end: what it was called for has probably been done.
        return ("failed", None, error.as_dict()) if tool.idempotent else _unknown(error.message)
    except BeachError as error:
        return "failed", None, error.as_dict()
    except Exception:
        logger.exception("The tool %s raised.", tool.name)
        return (
            "failed",
            None,
            {"code": "tool_failed", "message": f"{tool.name} failed inside. It has been logged."},
        )


def _unknown(why: str) -> tuple[Ended, Json, JsonObject | None]:
    return "unknown", None, {**UNKNOWN, "message": f"{why} Whether it took effect is not known."}


def kept(tool: Tool, result: Json) -> Json:
    """The result as it can be stored; raises ``Misfit`` for one that is not what the tool declares. What cannot be
    stored of a tool that declares nothing does not undo what the tool has done: that is said instead."""
    if tool.output is not None:
        try:
            return fitted(tool.name, tool.output, result)
        except Misfit as error:
            # No traceback: it would hold the values.
            logger.error("The result of %s is not what it declares: %s", tool.name, error.found)  # noqa: TRY400
            raise
    try:
        check_size(result)
        return clean_json(result)
    except (ValidationFailed, TooLarge) as error:
        logger.exception("The result of %s cannot be stored.", tool.name)
        told = error.message
    except Exception as error:
        # Whatever a result is made of is code of the tool's author.
        logger.exception("The result of %s cannot be stored.", tool.name)
        told = f"{type(error).__name__} while it was read."
    return {"note": f"It was done, but its result cannot be shown: {told}"}
