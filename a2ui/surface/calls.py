"""What interfaces ask of agents: calls that are due, made, answered (section 9 of the reading of 1.0)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from a2ui.binding.agent_calls import AgentCalls, key_of
from a2ui.data.values import JSON, Copier
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, A2uiError, DataError, Diagnostic, LimitError
from a2ui.options import Shared
from a2ui.protocol.messages import AgentFunctionResponse
from a2ui.safety.text import clean_text
from a2ui.surface.due import CallsDue, due
from a2ui.surface.renderer_calls import EXECUTION_ERROR, INVALID_FUNCTION_CALL
from a2ui.surface.surface import Surface

_ID_CHARS = 200
_CODE_CHARS = 100
_MESSAGE_CHARS = 1_000


class SurfaceCalls:
    """The calls of all surfaces of one session: `SurfaceSet.calls`, made anew for whoever asks."""

    def __init__(
        self,
        engine: Shared,
        surfaces: Mapping[tuple[str, str], Surface],
        touch: Callable[[Surface], None],
    ) -> None:
        self._engine = engine
        self._surfaces = surfaces
        self._touch = touch

    @property
    def possible(self) -> bool:
        """Whether there are functions that agents run at all."""
        return self._engine.catalogs.asks_agents

    def due(self) -> list[CallsDue]:
        """The calls that the surfaces want made, as they are drawn now: after a flush. They are due until `make` has
        been told."""
        if not self.possible:
            return []
        found = [due(surface) for surface in self._surfaces.values()]
        return [one for one in found if one is not None]

    def pending(self) -> dict[str, tuple[str, str]]:
        """(owner, surfaceId) of every call that waits for an answer, by its id."""
        return {
            call_id: (surface.owner, surface.id)
            for surface in self._surfaces.values()
            if surface.calls is not None
            for call_id in surface.calls.pending()
        }

    def make(self, made: CallsDue) -> None:
        """These calls are made, and wait for an answer. Does nothing for a surface that is gone."""
        surface = self._surfaces.get((made.owner, made.surface_id))
        if surface is None or surface.calls is None:
            return
        keys = {str(body["functionCallId"]): _key(body["callFunction"]) for body in map(_body, made.messages)}

        def change(calls: AgentCalls) -> None:
            calls.make(keys, made.forget, clicked=made.clicked)

        self._touch(surface)
        surface.change_calls(change)

    def answer(self, message: AgentFunctionResponse, owner: str) -> list[Diagnostic]:
        """An agent's answer. Raises A2uiError, with nothing changed, where nobody waits for it or it is too large."""
        surface = self._waiting(owner, message.call_id)
        copier = Copier(self._engine.options.limits)
        value = self._value(message, copier)
        failure = _failure(message.error) if message.error is not None else None

        def change(calls: AgentCalls) -> None:
            if calls.answer(message.call_id, value, failure) and failure is not None:
                surface.report(A2uiError(failure[1], code=failure[0], functionCallId=message.call_id))

        self._touch(surface)
        surface.change_calls(change)
        said = "A reserved name was left out of the value."
        return [Diagnostic(VALIDATION_FAILED, said, "/value", surface.id) for _ in copier.dropped[:1]]

    def _waiting(self, owner: str, call_id: str) -> Surface:
        """The surface of this owner that waits for the answer."""
        for surface in self._surfaces.values():
            if surface.owner == owner and surface.calls is not None and call_id in surface.calls.pending():
                return surface
        raise A2uiError(
            "Nobody waits for the answer to this call: it was answered, has timed out, or was never made.",
            code=INVALID_FUNCTION_CALL,
            fault="agent",
            functionCallId=call_id[:_ID_CHARS],
        )

    def _value(self, message: AgentFunctionResponse, copier: Copier) -> JSON:
        facts: dict[str, Any] = {"path": "/value", "fault": "agent", "functionCallId": message.call_id}
        if message.error is not None:
            return None
        try:
            value: JSON = copier.copy(message.value)
        except (DataError, LimitError) as error:
            raise A2uiError(error.message, code=error.code, **facts) from error
        allowed = self._engine.options.limits.agent_answer_bytes
        if copier.bytes > allowed:
            said = f"An answer has at most {allowed} bytes; got {copier.bytes}."
            raise A2uiError(
                said,
                code=BUDGET_EXCEEDED,
                limit="agent_answer_bytes",
                allowed=allowed,
                got=copier.bytes,
                **facts,
            )
        return value


def _body(message: Mapping[str, Any]) -> Mapping[str, Any]:
    body: Mapping[str, Any] = message["callAgentFunction"]
    return body


def _key(call: Mapping[str, Any]) -> str:
    return key_of(call["@call"], call.get("catalogId", ""), call["args"])


def _failure(error: Mapping[str, Any]) -> tuple[str, str]:
    """(code, message) of an agent's error, as far as it can be shown."""
    code, message = error.get("code"), error.get("message")
    return (
        clean_text(code)[:_CODE_CHARS] if isinstance(code, str) and code else EXECUTION_ERROR,
        clean_text(message)[:_MESSAGE_CHARS]
        if isinstance(message, str) and message
        else "The agent gave no reason.",
    )
