"""Compiles dynamic values to closures that take the scope's value and know which paths they read.

A compiled value never raises: a function that fails gives None and one report (rulebook 9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from a2ui.binding.reading import Const, Getter, Report, Sink, Source, reader
from a2ui.binding.secrets import DOTS, is_secret, show
from a2ui.binding.texts import joined
from a2ui.binding.values import Array, Binding, FunctionCall, Value, is_dynamic
from a2ui.binding.work import CUT, Work, instead
from a2ui.errors import A2uiError, ExpressionError
from a2ui.functions import expressions
from a2ui.functions.registry import Env, Function, FunctionRegistry
from a2ui.safety.limits import Limits
from a2ui.state.pointer import Tokens

REVEALING = frozenset({"required", "regex", "length", "numeric", "email", "and", "or", "not"})
"""Functions that judge a value without showing it: they get what a handle stands for (D24)."""

_CACHED_TEMPLATES = 64
_COMPILING = 4
"""Compiling a piece of a text costs as much as so many calls."""
_PARSED = 2
"""Parsing so many characters of a text costs as much as one call."""
COMPILED = 20
"""So many characters of a text that an agent wrote count like one piece of it."""
_KEPT = 16
LOOKED_AT = frozenset({str, list, dict})
"""Types of arguments that functions look through, however long they are."""
_SHORT = 500
"""Characters of a text that needs no counting."""


class Compiler:
    """Compiles for one surface: its data model, its catalog's functions, the session's environment."""

    __slots__ = ("_env", "_functions", "_parsed", "_reveal", "_source", "work")

    def __init__(
        self,
        source: Source,
        functions: FunctionRegistry,
        env: Env,
        reveal: Callable[[Any], Any] | None = None,
    ) -> None:
        self._source = source
        self._functions = functions
        self._env = env
        self._reveal = reveal
        self.work = Work(env.limits)
        self._parsed: dict[str, expressions.Template | ExpressionError] = {}

    def compile(self, value: Value, sink: Sink) -> Getter | Const:
        """The closure of a value, or a Const. What it reads is added to the sink."""
        kind = type(value)
        if kind is Binding:
            tokens, absolute = cast("Binding", value)
            return self.reader(tokens, absolute, sink)
        if kind is FunctionCall:
            return self._call(cast("FunctionCall", value), sink)
        if isinstance(value, Array):
            items = [self.getter(item, sink) for item in value.items]
            return lambda scope: [item(scope) for item in items]
        return Const(value)

    @property
    def limits(self) -> Limits:
        return self._env.limits

    def function(self, name: str) -> Function | None:
        """The function of that name in the surface's catalog."""
        return self._functions.get(name)

    def getter(self, value: Value, sink: Sink) -> Getter:
        """Like `compile`, with a closure for literals too."""
        compiled = self.compile(value, sink)
        if isinstance(compiled, Const):
            constant = compiled.value
            return lambda _: constant
        return compiled

    def reader(self, tokens: Tokens, absolute: bool, sink: Sink) -> Getter:
        """Reads what is at the tokens, None where there is nothing (rulebook 6.2)."""
        sink.read((tokens, absolute))
        return reader(self._source, tokens, absolute)

    # ------------------------------------------------------------------ functions

    def _call(self, call: FunctionCall, sink: Sink) -> Getter | Const:
        if call.name == "formatString" and call.name in self._functions:
            return self._format_string(call.arguments.get("value"), sink)
        function = self.callee(call)
        if isinstance(function, ExpressionError):
            return _failing(function, sink)
        return self._run(function, call.arguments, sink)

    def callee(self, call: FunctionCall) -> Function | ExpressionError:
        """The function that is called, or why it cannot be."""
        function = self._functions.get(call.name)
        if function is None:
            return ExpressionError(f"There is no function {call.name[:40]!r}.", expression=call.name[:100])
        if function.effect:
            return ExpressionError(f"{call.name} runs on a click only.", expression=call.name)
        for name in function.literal_args:
            if isinstance(call.arguments.get(name), Binding | FunctionCall | Array):
                message = f"`{name}` of {call.name[:40]} must be a literal; got a binding or a call."
                return ExpressionError(message, expression=call.name)
        return function

    def carry_out(
        self, function: Function, arguments: dict[str, Any], report: Report, component_id: str
    ) -> Any:
        """The result of a call with resolved arguments; None, and a report, where it fails."""
        problem = self.work.problem(function, arguments)
        if problem is not None:
            report(problem, component_id)
            return instead(problem, function)
        try:
            return function.evaluate(arguments, self._env)
        except A2uiError as error:
            report(error, component_id)
            return instead(error, function)

    def _run(self, function: Function, arguments: Mapping[str, Value], sink: Sink) -> Getter:
        fixed: dict[str, Any] = {}
        dynamic: list[tuple[str, Getter]] = []
        for name, value in arguments.items():
            if isinstance(value, Binding):
                dynamic.append((name, self.reader(value.tokens, value.absolute, sink)))
                continue
            if not is_dynamic(value):
                fixed[name] = value
                continue
            compiled = self.compile(value, sink)
            if isinstance(compiled, Const):
                fixed[name] = compiled.value
            else:
                dynamic.append((name, compiled))
        work = self.work
        work.compiled += 1
        env, protect = self._env, self.protect(function.name)
        if len(dynamic) == 1 and function.prepare is not None:
            name, item = dynamic[0]
            prepared = function.prepare(name, fixed, env)
            if prepared is not None:
                return partial(_prepared, function, prepared, item, protect, work, sink)

        def run(scope: Any) -> Any:
            resolved = dict(fixed)
            for name, item in dynamic:
                value = item(scope)
                resolved[name] = taken(value, protect, work) if type(value) in LOOKED_AT else value
            return self.carry_out(function, resolved, sink.report, sink.component_id)

        return run

    def protect(self, name: str) -> Getter:
        """What the function sees of a handle: the value behind it, or dots."""
        reveal = self._reveal if name in REVEALING else None
        return partial(_unveiled, reveal) if reveal else _dotted

    # ------------------------------------------------------------------ formatString

    def _format_string(self, value: Value, sink: Sink) -> Getter | Const:
        source = self.compile(value, sink)
        if isinstance(source, Const):
            return self._template(show(source.value, self.work), sink)
        sink.grows = True
        cache: dict[str, Getter] = {}
        work = self.work

        def run(scope: Any) -> Any:
            text = show(source(scope), work)
            getter = cache.get(text)
            if getter is None:
                if work.used > work.allowed:
                    sink.failed(work.refusal("formatString"))
                    return CUT
                before = work.compiled
                work.used += len(text) // _PARSED
                if len(cache) >= _CACHED_TEMPLATES:
                    cache.clear()
                compiled = self._template(text, sink)
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
                known = expressions.parse_template(text, self._env.limits)
            except ExpressionError as error:
                # Kept without the way it came, which would keep all that was in use on it.
                known = error.with_traceback(None)
            if len(text) > _SHORT or isinstance(known, ExpressionError):
                if len(self._parsed) >= _KEPT:
                    self._parsed.clear()
                self._parsed[text] = known
        return known

    def _template(self, text: str, sink: Sink) -> Getter | Const:
        """The closure of one formatString text: pieces that are fixed, readers of the others."""
        self.work.compiled += len(text) // COMPILED
        template = self.parse(text)
        if isinstance(template, ExpressionError):
            return _failing(template, sink, instead(template))
        if template.constant is not None:
            return Const(template.constant)
        self.work.compiled += len(template.parts)
        fixed: list[str] = [""]
        getters: list[Getter] = []
        for part in template.parts:
            if isinstance(part, expressions.Text):
                fixed[-1] += part.text
            elif isinstance(part, expressions.Path):
                getters.append(self.reader(part.tokens, part.absolute, sink))
                fixed.append("")
            elif isinstance(part, expressions.Literal):
                fixed[-1] += show(part.value)
            else:
                getters.append(self.getter(from_expression(part), sink))
                fixed.append("")
        return joined(fixed, getters, self.work, sink)


def _prepared(
    function: Function, evaluate: Getter, item: Getter, protect: Getter, work: Work, sink: Sink, scope: Any
) -> Any:
    """A call of which all arguments but one are fixed."""
    value = item(scope)
    if type(value) in LOOKED_AT:
        value = taken(value, protect, work)
    work.used += 1
    if work.used > work.allowed:
        problem = work.refusal(function.name)
        sink.failed(problem)
        return instead(problem, function)
    try:
        return evaluate(value)
    except A2uiError as error:
        sink.failed(error)
        return instead(error, function)


def taken(value: Any, protect: Getter, work: Work) -> Any:
    """An argument as the function gets it, of a type that is looked through: counted if it is long."""
    if type(value) is str:
        if len(value) > _SHORT:
            work.argument(value)
        return value
    # Looking for handles is work as well. None goes nowhere: the call is refused.
    return protect(value) if work.argument(value) else None


def _unveiled(reveal: Callable[[Any], Any], value: Any) -> Any:
    """The value, with what is behind a handle in its place."""
    if is_secret(value):
        return reveal(value)
    if type(value) is list and any(map(is_secret, value)):
        return [_unveiled(reveal, item) for item in value]
    return value


_dotted: Getter = partial(_unveiled, lambda _: DOTS)


def from_expression(part: expressions.Expression) -> Value:
    """The same value in the form that component properties have."""
    if isinstance(part, expressions.Path):
        return Binding(part.tokens, part.absolute)
    if isinstance(part, expressions.Call):
        return FunctionCall(part.name, {name: from_expression(argument) for name, argument in part.args})
    return part.value


def _constantly(constant: Const) -> Getter:
    value = constant.value
    return lambda _: value


def _failing(error: A2uiError, sink: Sink, shown: str | None = None) -> Getter:
    def fail(_: Any) -> str | None:
        sink.failed(error)
        return shown

    return fail
