"""Answering surfaces that call functions of an agent: its tools run beside all turns, within the time that there is.

The calls are in the database (``turns.agent_answers``), so whatever this process does not finish another one does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils import timezone
from pydantic import ValidationError

from envelopes import artifacts, secrets
from envelopes.database_threads import beside_sessions, in_session
from envelopes.errors import BeachError, LeaseLost, ToolFailed
from envelopes.models import AgentCall
from envelopes.ownership import owner_of
from envelopes.protocol.parts import from_pydantic
from envelopes.registries.actors import actors
from envelopes.runtime.calling import within
from envelopes.runtime.executing import kept
from envelopes.runtime.trying import Running
from envelopes.turns import agent_answers
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


@dataclass
class AnsweringCall(Running):
    """The ``ToolContext`` of a call by a surface: there is no turn that parts could be said in."""

    call: AgentCall
    session_id: str
    call_id: str
    actor: str
    owner_name: str
    user: Any
    turn_id: str = ""

    async def reveal(self, value: Json) -> Json:
        if isinstance(value, dict) and secrets.HANDLE in value:
            session = self.call.session_id
            return await in_session(session, partial(secrets.reveal, value, session=session))
        return value

    async def attach(self, name: str, mime_type: str, content: bytes, *, alt: str = "") -> str:
        raise ToolFailed("What answers an interface gives its value and nothing else.")

    async def write_artifact(self, content: bytes, **chunk: Any) -> str:
        raise ToolFailed("What answers an interface gives its value and nothing else.")

    async def read_artifact(self, artifact_id: str) -> tuple[str, str, bytes]:
        return await in_session(self.call.session_id, artifacts.read, self.call.session_id, artifact_id)

    async def emit(self, *parts: JsonObject) -> list[JsonObject]:
        raise ToolFailed("What answers an interface gives its value and nothing else.")


class Answering:
    """The calls that this process sees to. ``sweep`` finds what nobody has; ``wake`` is told of new ones at once."""

    def __init__(self, owner: str, spawn: Spawn) -> None:
        self._owner = owner
        self._spawn = spawn
        self._at_work: dict[int, asyncio.Task[None]] = {}

    def wake(self, session: int) -> None:
        """A surface of this session has called something."""
        self._spawn(self.sweep())

    async def sweep(self) -> None:
        """Begin what nobody runs and tell what has waited too long; end what nobody waits for."""
        # What begins while the database is asked is in none of its answers.
        before = set(self._at_work)
        waiting, known = await beside_sessions(agent_answers.waiting)
        for pk in (before - known) & self._at_work.keys():
            self._at_work[pk].cancel()
        for pk, session in waiting:
            if pk not in self._at_work:
                self._at_work[pk] = task = self._spawn(self._answer(pk, session))
                task.add_done_callback(partial(self._over, pk))

    def _over(self, pk: int, _: asyncio.Task[None]) -> None:
        self._at_work.pop(pk, None)

    async def _answer(self, pk: int, session: int) -> None:
        call = await in_session(session, agent_answers.claim, pk, self._owner)
        if call is None:
            return
        body = await self._run(call)
        await in_session(session, partial(agent_answers.answer, call, body, source="tool"))

    async def _run(self, call: AgentCall) -> JsonObject:
        """The answer of the tool: a value, or an error. What is told of a fault inside of it is that there was one."""
        actor = actors.get(call.owner)
        tool = actor.answering(call.name) if actor is not None else None
        if tool is None:
            return _error("UNKNOWN_FUNCTION", f"Nobody runs {call.name} any more.")
        context = await in_session(call.session_id, _context, call)
        left = (call.deadline - timezone.now()).total_seconds()
        seconds = min(tool.timeout or left, left)
        try:
            args = tool.input.model_validate(call.args)
            return {"value": kept(tool, await within(max(0.0, seconds), tool, context, args))}
        except ValidationError as error:
            return _error("INVALID_FUNCTION_CALL", from_pydantic(error).message)
        except TimeoutError:
            return _error("TIMEOUT", f"{tool.name} did not answer within {seconds:g} seconds.")
        except LeaseLost:
            raise
        except BeachError as error:
            return _error("EXECUTION_ERROR", error.message)
        except Exception:
            logger.exception("The tool %s raised.", tool.name)
            return _error("EXECUTION_ERROR", f"{tool.name} failed inside. It has been logged.")


def _context(call: AgentCall) -> AnsweringCall:
    owner = owner_of(call.session)
    name, user = (owner.name, owner.user) if owner else ("", None)
    return AnsweringCall(call, call.session.public_id, call.call_id, call.owner, name, user)


def _error(code: str, message: str) -> JsonObject:
    return {"error": {"code": code, "message": message}}
