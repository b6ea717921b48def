"""Compiles dynamic values to closures that take the scope's value and know which paths they read.

A compiled value never raises: a function that fails gives None and one report (rulebook 9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from a2ui.binding.agent_calls import AgentCalls
from a2ui.binding.answered import ask, known, run_on_answers
from a2ui.binding.budget import CUT, EvaluationBudget, fallback_value
from a2ui.binding.calling import (
    LOOKED_AT,
    REVEALING,
    SHORT,
    checked,
    dotted,
    failed,
    prepare,
    run_prepared,
    taken,
    unveiled,
)
from a2ui.binding.reading import Const, Getter, ReadRecorder, Report, Source
from a2ui.binding.secrets import show
from a2ui.binding.system import system_call, unknown
from a2ui.binding.texts import joined
from a2ui.binding.values import NODES, SYSTEM, Array, Binding, FunctionCall, Record, Value
from a2ui.errors import A2uiError, ExpressionError
from a2ui.functions import expressions
from a2ui.functions.registry import Env, Function
from a2ui.journal import Journal
from a2ui.safety.limits import Limits

_CACHED_TEMPLATES = 64
_COMPILING = 4
"""Compiling a piece of a text costs as much as so many calls."""
_PARSED = 2
"""Parsing so many characters of a text costs as much as one call."""
COMPILED = 20
"""How many characters of a text that an agent wrote count like one piece of it."""
_KEPT = 16


FunctionOf = Callable[[str, str], Function | None]
"""(name, id of a catalog) -> the function."""


class Compiler:
    """Compiles for one surface: its data model, the functions of its catalogs, the session's environment."""

    __slots__ = (
        "_env", "_function_of", "_functions", "_journal", "_parsed", "_reveal", "_source", "_system", "calls",
        "work",
    )  # fmt: skip

    def __init__(
        self,
        source: Source,
        functions: Mapping[str, Function],
        function_of: FunctionOf,
        env: Env,
        reveal: Callable[[Any], Any] | None,
        journal: Journal,
        *,
        system: bool,
        calls: AgentCalls | None = None,
    ) -> None:
        """`functions` are those of the default catalog; `system`: texts may call those of the protocol (1.0).
        `calls`: what is known of those that the agent runs; None where none can be called."""
        self.calls = calls
        self._journal = journal
        self._source = source
        self._functions = functions
        self._function_of = function_of
        self._system = system
        self._env = env
        self._reveal = reveal
        self.work = EvaluationBudget(env.limits)
        self._parsed: dict[str, expressions.Template | ExpressionError] = {}

    def compile(self, value: Value, recorder: ReadRecorder) -> Getter | Const:
        """The closure of a value, or a Const. What it reads is added to the recorder."""
        kind = type(value)
        if kind is Binding:
            return recorder.reading(self._source, cast("Binding", value))
        if kind is FunctionCall:
            return self._call(cast("FunctionCall", value), recorder)
        if isinstance(value, Array | Record):
            return self._container(value, recorder)
        return Const(value)

    def _container(self, value: Array | Record, recorder: ReadRecorder) -> Getter:
        asked = self._asked
        if isinstance(value, Array):
            items = [self.getter(item, recorder) for item in value.items]
            if self._asked != asked:
                return lambda scope: known([item(scope) for item in items])
            return lambda scope: [item(scope) for item in items]
        members = {key: self.getter(member, recorder) for key, member in value.members.items()}
        if self._asked != asked:
            return lambda scope: known({key: member(scope) for key, member in members.items()})
        return lambda scope: {key: member(scope) for key, member in members.items()}

    @property
    def _asked(self) -> int:
        """How many calls of agents' functions were compiled so far: whoever compiles one may have to wait for it."""
        return self.calls.compiled if self.calls is not None else 0

    @property
    def limits(self) -> Limits:
        return self._env.limits

    def function(self, name: str, catalog_id: str = "") -> Function | None:
        """The function of that name in a catalog, by default that of the surface."""
        return self._function_of(name, catalog_id) if catalog_id else self._functions.get(name)

    def getter(self, value: Value, recorder: ReadRecorder) -> Getter:
        """Like `compile`, with a closure for literals too."""
        compiled = self.compile(value, recorder)
        if isinstance(compiled, Const):
            constant = compiled.value
            return lambda _: constant
        return compiled

    # ------------------------------------------------------------------ functions

    def _call(self, call: FunctionCall, recorder: ReadRecorder) -> Getter | Const:
        if call.name == "formatString" and self.function(call.name, call.catalog_id) is not None:
            return self._format_string(call.arguments.get("value"), recorder)
        if call.catalog_id == SYSTEM and recorder.counter is not None:
            return self._system_call(call, recorder)
        function = self.callee(call)
        if isinstance(function, ExpressionError):
            return _failing(function, recorder)
        if function.remote and self.calls is not None:
            if not recorder.asks:
                return _failing(_not_here(call), recorder)
            return ask(self, self.calls, function, call, recorder)
        return self._run(function, call.arguments, recorder)

    def callee(self, call: FunctionCall) -> Function | ExpressionError:
        """The function that is called, or why it cannot be."""
        function = self.function(call.name, call.catalog_id)
        if function is None:
            return unknown(call)
        if function.special:
            if function.effect:
                return ExpressionError(f"{call.name} runs on a click only.", expression=call.name)
            if function.callers == "agentOnly":
                return ExpressionError(f"Only the agent may call {call.name}.", expression=call.name)
            if function.remote and self.calls is None:
                return _not_here(call)
        for name in function.literal_args:
            if isinstance(call.arguments.get(name), NODES):
                message = f"`{name}` of {call.name[:40]} must be a literal; got a binding or a call."
                return ExpressionError(message, expression=call.name)
        return function

    def carry_out(
        self, function: Function, arguments: dict[str, Any], report: Report, component_id: str
    ) -> Any:
        """The result of a call with resolved arguments; None, and a report, where it fails."""
        try:
            problem = self.work.problem(function, arguments)
            if problem is not None:
                report(problem, component_id)
                return fallback_value(problem, function)
            found = function.evaluate(arguments, self._env)
            return found if function.ours else checked(found, self.limits)
        except A2uiError as error:
            report(error, component_id)
            return fallback_value(error, function)
        except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
            report(failed(function, error), component_id)
            return None

    def _system_call(self, call: FunctionCall, recorder: ReadRecorder) -> Getter:
        """A function of the protocol, inside of a template."""
        self.work.compiled += 1
        arguments = {name: self.getter(value, recorder) for name, value in call.arguments.items()}
        return system_call(call.name, arguments, recorder, self.work)

    def _run(self, function: Function, arguments: Mapping[str, Value], recorder: ReadRecorder) -> Getter:
        fixed: dict[str, Any] = {}
        dynamic: list[tuple[str, Getter]] = []
        waits = False
        for name, value in arguments.items():
            if type(value) is Binding:
                dynamic.append((name, recorder.reading(self._source, value)))
            elif type(value) is FunctionCall or type(value) is Array or type(value) is Record:
                asked = self._asked
                compiled = self.compile(value, recorder)
                waits = waits or self._asked != asked
                if isinstance(compiled, Const):
                    fixed[name] = compiled.value
                else:
                    dynamic.append((name, compiled))
            else:
                fixed[name] = value
        work = self.work
        work.compiled += 1
        protect = self.protect(function.name)
        if waits:
            return run_on_answers(self, function, fixed, dynamic, recorder)
        if function.prepare is not None and len(dynamic) == 1:
            name, item = dynamic[0]
            prepared = prepare(function, name, fixed, self._env)
            if prepared is not None:
                return partial(run_prepared, function, prepared, item, protect, work, recorder)

        def run(scope: Any) -> Any:
            resolved = dict(fixed)
            for name, item in dynamic:
                value = item(scope)
                resolved[name] = taken(value, protect, work) if type(value) in LOOKED_AT else value
            return self.carry_out(function, resolved, recorder.report, recorder.component_id)

        return run

    def protect(self, name: str) -> Getter:
        """What the function sees of a handle: the value behind it, or dots."""
        return partial(unveiled, self._reveal) if self._reveal and name in REVEALING else dotted

    # ------------------------------------------------------------------ formatString

    def _format_string(self, value: Value, recorder: ReadRecorder) -> Getter | Const:
        source = self.compile(value, recorder)
        if isinstance(source, Const):
            return self._template(show(source.value, self.work), recorder)
        recorder.grows = True
        if self._system and recorder.counter is not None:
            # Nobody knows yet what the text will ask for.
            recorder.counter.watched = True
        cache: dict[str, Getter] = {}
        work, journal = self.work, self._journal

        def run(scope: Any) -> Any:
            text = show(source(scope), work)
            getter = cache.get(text)
            if getter is None:
                if work.used > work.allowed:
                    recorder.failed(work.refusal("formatString"))
                    return CUT
                before = work.compiled
                work.used += len(text) // _PARSED
                if journal.on:
                    journal.entries(cache)
                if len(cache) >= _CACHED_TEMPLATES:
                    cache.clear()
                compiled = self._template(text, recorder)
                work.used += _COMPILING * (work.compiled - before)
                getter = cache[text] = _constantly(compiled) if isinstance(compiled, Const) else compiled
            return getter(scope)

        return run

    def parse(self, text: str) -> expressions.Template | ExpressionError:
        """The parsed formatString text, or what is wrong with it; the last long ones are kept, where a component is
        used many times."""
        known = self._parsed.get(text) if self._parsed else None
        if known is None:
            try:
                known = expressions.parse_template(text, self._env.limits, system=self._system)
            except ExpressionError as error:
                # Kept without the way it came, which would keep all that was in use on it.
                known = error.with_traceback(None)
            if len(text) > SHORT or isinstance(known, ExpressionError):
                if len(self._parsed) >= _KEPT:
                    self._parsed.clear()
                self._parsed[text] = known
        return known

    def _template(self, text: str, recorder: ReadRecorder) -> Getter | Const:
        """The closure of one formatString text: pieces that are fixed, readers of the others."""
        self.work.compiled += len(text) // COMPILED
        template = self.parse(text)
        if isinstance(template, ExpressionError):
            return _failing(template, recorder, fallback_value(template))
        if template.constant is not None:
            return Const(template.constant)
        self.work.compiled += len(template.parts)
        fixed: list[str] = [""]
        getters: list[Getter] = []
        for part in template.parts:
            if isinstance(part, expressions.PlainText):
                fixed[-1] += part.text
            elif isinstance(part, expressions.Path):
                getters.append(recorder.reading(self._source, (part.tokens, part.absolute)))
                fixed.append("")
            elif isinstance(part, expressions.Literal):
                fixed[-1] += show(part.value)
            else:
                getters.append(self.getter(from_expression(part), recorder))
                fixed.append("")
        return joined(fixed, getters, self.work, recorder)


def from_expression(part: expressions.Expression) -> Value:
    """The same value in the form that component properties have."""
    if isinstance(part, expressions.Path):
        return Binding(part.tokens, part.absolute)
    if isinstance(part, expressions.Call):
        arguments = {name: from_expression(argument) for name, argument in part.args}
        return FunctionCall(part.name, arguments, SYSTEM if part.name[:1] == "@" else "")
    return part.value


def _constantly(constant: Const) -> Getter:
    value = constant.value
    return lambda _: value


def _not_here(call: FunctionCall) -> ExpressionError:
    message = f"{call.name} is run by the agent, which cannot be asked from here."
    return ExpressionError(message, expression=call.name)


def _failing(error: A2uiError, recorder: ReadRecorder, shown: str | None = None) -> Getter:
    def fail(_: Any) -> str | None:
        recorder.failed(error)
        return shown

    return fail
