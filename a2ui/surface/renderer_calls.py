"""Functions of ours that agents call: `callRendererFunction` (section 9 of the reading of 1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from a2ui.binding.calling import LOOKED_AT, taken
from a2ui.binding.compiler import Compiler
from a2ui.binding.parsing import parse
from a2ui.binding.reading import ReadRecorder
from a2ui.binding.values import FunctionCall
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.registry import NO_CATALOG, Vocabulary
from a2ui.data.values import JSON, Copier
from a2ui.errors import BUDGET_EXCEEDED, A2uiError, Diagnostic
from a2ui.functions.registry import Function
from a2ui.journal import Journal
from a2ui.options import Shared
from a2ui.protocol.dialects import PLAIN, dialect_of
from a2ui.protocol.messages import CallRendererFunction
from a2ui.surface.surface import Surface

INVALID_FUNCTION_CALL: Final = "INVALID_FUNCTION_CALL"
EXECUTION_ERROR: Final = "EXECUTION_ERROR"

_ID_CHARS = 200


class _Nothing:
    """The data model of a call that names no surface."""

    now: Any = {}


class RendererCalls:
    """What agents have asked since somebody last looked. No part of the state: replaying a message runs nothing."""

    def __init__(self, engine: Shared, surfaces: Mapping[tuple[str, str], Surface], journal: Journal) -> None:
        self._engine = engine
        self._surfaces = surfaces
        self._journal = journal
        self.asked: list[tuple[CallRendererFunction, str]] = []
        """The calls, each with the agent that made it."""

    @property
    def _words(self) -> Vocabulary:
        return Vocabulary(NO_CATALOG, self._engine.catalogs)

    def ask(self, message: CallRendererFunction, owner: str) -> list[Diagnostic]:
        """Takes note of a call, of which there is nothing to say yet. Raises A2uiError for one too many."""
        allowed = self._engine.options.limits.renderer_calls
        if len(self.asked) >= allowed:
            raise A2uiError(
                f"At most {allowed} functions are called at once.",
                code=BUDGET_EXCEEDED,
                fault="agent",
                limit="renderer_calls",
                allowed=allowed,
                functionCallId=message.call_id[:_ID_CHARS],
            )
        self.asked.append((message, owner))
        return []

    def forget(self) -> None:
        """Nobody wants to know."""
        self.asked = []

    def responses(self) -> list[dict[str, Any]]:
        """Runs what was asked, with the data as it is now; a `rendererFunctionResponse` message for each, in order."""
        asked, self.asked = self.asked, []
        return [self._respond(message, owner) for message, owner in asked]

    def _respond(self, message: CallRendererFunction, owner: str) -> dict[str, Any]:
        surface = self._surfaces.get((owner, message.surface_id))
        body: dict[str, Any] = {"functionCallId": message.call_id}
        try:
            body["value"] = self._run(message, surface)
        except A2uiError as error:
            body["error"] = {"code": error.code, "message": error.message}
        version = surface.version if surface is not None else message.version
        return {"version": version, "rendererFunctionResponse": body}

    def _run(self, message: CallRendererFunction, surface: Surface | None) -> JSON:
        """The value of the call. Raises A2uiError: INVALID_FUNCTION_CALL, EXECUTION_ERROR."""
        if message.surface_id and surface is None:
            raise _invalid(f"Surface not found: {message.surface_id[:60]!r}.")
        function, call = self._callee(message)
        options = self._engine.options
        source = surface.model if surface is not None else _Nothing()
        # What stands behind handles of obscured values is for nobody who asks from outside (D24).
        compiler = Compiler(
            source, {}, self._words.function, self._engine.env, None, self._journal, system=True
        )
        problems: list[A2uiError] = []
        recorder = ReadRecorder("", lambda error, _: problems.append(error))
        copier = Copier(options.limits)
        try:
            arguments = {
                name: compiler.getter(value, recorder)(source.now) for name, value in call.arguments.items()
            }
            for name, value in arguments.items():
                if type(value) in LOOKED_AT:
                    arguments[name] = taken(value, compiler.protect(function.name), compiler.work)
            result: JSON = copier.copy(compiler.carry_out(function, arguments, recorder.report, ""))
        except A2uiError as error:
            raise A2uiError(error.message, code=EXECUTION_ERROR, fault="agent") from error
        if problems:
            raise A2uiError(problems[0].message, code=EXECUTION_ERROR, fault="agent")
        if copier.bytes > options.limits.agent_answer_bytes:
            said = f"The value has more than {options.limits.agent_answer_bytes} bytes."
            raise A2uiError(said, code=EXECUTION_ERROR)
        return result

    def _callee(self, message: CallRendererFunction) -> tuple[Function, FunctionCall]:
        """The function, and the call with its arguments as they are evaluated."""
        dialect = dialect_of(message.version)
        notation = dialect.notation_of([message.call]) if dialect is not None else PLAIN
        problems: list[Diagnostic] = []
        where = AcceptContext(
            self._engine.options.limits, message.surface_id, problems, notation, self._words.signature
        )
        call = parse(message.call, where)
        refused = [problem.message for problem in problems if problem.refused]
        if refused or not isinstance(call, FunctionCall):
            raise _invalid(refused[0] if refused else "`callFunction` is no function call.")
        if not call.catalog_id or self._words.catalog(call.catalog_id) is None:
            raise _invalid(f"Catalog not found: {call.catalog_id[:200]!r}.")
        function = self._words.function(call.name, call.catalog_id)
        if function is None:
            raise _invalid(f"There is no function {call.name[:40]!r} in this catalog.")
        if not function.is_open:
            raise _invalid(f"Agents may not call {call.name[:40]}.")
        return function, call


def _invalid(message: str) -> A2uiError:
    return A2uiError(message, code=INVALID_FUNCTION_CALL, fault="agent")
