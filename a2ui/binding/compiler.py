"""Compiles dynamic values to closures that take the scope's value and know which paths they read.

A compiled value never raises: a function that fails gives None and one report (rulebook 9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from a2ui.binding.secrets import DOTS, is_secret, show
from a2ui.binding.values import Array, Binding, FunctionCall, Value
from a2ui.binding.work import Work
from a2ui.errors import A2uiError, ExpressionError
from a2ui.functions import expressions
from a2ui.functions.registry import Env, Function, FunctionRegistry
from a2ui.state.pointer import Tokens, to_index

Getter: TypeAlias = Callable[[Any], Any]
"""Value of the scope -> value; absent is None."""

Read: TypeAlias = tuple[Tokens, bool]
"""(tokens, absolute) of something that was read."""

REVEALING = frozenset({"required", "regex", "length", "numeric", "email", "and", "or", "not"})
"""Functions that judge a value without showing it: they get what a handle stands for (D24)."""

_CACHED_TEMPLATES = 64


@dataclass(frozen=True, slots=True)
class Const:
    """A compiled value that reads nothing."""

    value: Any


class Sink:
    """Where the compiled values of one part of a component leave what they read and what went wrong.

    `on_read` is called for paths that show up later, in a formatString text that itself comes from the data.
    """

    __slots__ = ("component_id", "on_read", "reads", "report")

    def __init__(self, component_id: str, report: Callable[[A2uiError, str], None]) -> None:
        self.component_id = component_id
        self.reads: list[Read] = []
        self.report = report
        self.on_read: Callable[[Read], None] | None = None

    def read(self, read: Read) -> None:
        if read not in self.reads:
            self.reads.append(read)
            if self.on_read is not None:
                self.on_read(read)

    def failed(self, error: A2uiError) -> None:
        self.report(error, self.component_id)


class Compiler:
    """Compiles for one surface: its data model, its catalog's functions, the session's environment."""

    __slots__ = ("_env", "_functions", "_reveal", "_root", "work")

    def __init__(
        self,
        root: Callable[[], Any],
        functions: FunctionRegistry,
        env: Env,
        reveal: Callable[[Any], Any] | None = None,
    ) -> None:
        self._root = root
        self._functions = functions
        self._env = env
        self._reveal = reveal
        self.work = Work(env.limits)

    def compile(self, value: Value, sink: Sink) -> Getter | Const:
        """The closure of a value, or a Const. What it reads is added to the sink."""
        if isinstance(value, Binding):
            return self.reader(value.tokens, value.absolute, sink)
        if isinstance(value, FunctionCall):
            return self._call(value, sink)
        if isinstance(value, Array):
            items = [self.getter(item, sink) for item in value.items]
            return lambda scope: [item(scope) for item in items]
        return Const(value)

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
        if absolute:
            root = self._root
            return lambda _: descend(root(), tokens)
        if not tokens:
            return lambda scope: scope
        if len(tokens) > 1:
            return lambda scope: descend(scope, tokens)
        token = tokens[0]
        return lambda scope: scope.get(token) if type(scope) is dict else descend(scope, tokens)

    # ------------------------------------------------------------------ functions

    def _call(self, call: FunctionCall, sink: Sink) -> Getter | Const:
        if call.name == "formatString" and call.name in self._functions:
            return self._format_string(call.arguments.get("value"), sink)
        function = self._functions.get(call.name)
        problem = self._refusal(call, function)
        if function is None or problem is not None:
            error = problem or ExpressionError(
                f"There is no function {call.name[:40]!r}.", expression=call.name[:100]
            )
            return _failing(error, sink)
        arguments = {name: self.compile(value, sink) for name, value in call.arguments.items()}
        return self._run(function, arguments, sink)

    def _refusal(self, call: FunctionCall, function: Function | None) -> ExpressionError | None:
        if function is None:
            return None
        if function.effect:
            return ExpressionError(f"{call.name} runs on a click only.", expression=call.name)
        for name in function.literal_args:
            if isinstance(call.arguments.get(name), Binding | FunctionCall | Array):
                return ExpressionError(f"{name} of {call.name} is a literal.", expression=call.name)
        return None

    def _run(self, function: Function, arguments: Mapping[str, Getter | Const], sink: Sink) -> Getter:
        fixed = {name: item.value for name, item in arguments.items() if isinstance(item, Const)}
        dynamic = [(name, item) for name, item in arguments.items() if not isinstance(item, Const)]
        evaluate, env, protect = function.evaluate, self._env, self._protect(function.name)
        work, called = self.work, function.name

        def run(scope: Any) -> Any:
            resolved = dict(fixed)
            for name, item in dynamic:
                value = item(scope)
                resolved[name] = protect(value) if type(value) is dict or type(value) is list else value
            problem = work.problem(called, resolved)
            if problem is not None:
                sink.failed(problem)
                return None
            try:
                return evaluate(resolved, env)
            except A2uiError as error:
                if error.facts.get("limit") == "regex_ms":
                    work.slow = True
                sink.failed(error)
                return None

        return run

    def _protect(self, name: str) -> Getter:
        """What the function sees of a handle: the value behind it, or dots."""
        reveal = self._reveal if name in REVEALING else None

        def protect(value: Any) -> Any:
            if is_secret(value):
                return reveal(value) if reveal else DOTS
            if type(value) is list and any(map(is_secret, value)):
                return [protect(item) for item in value]
            return value

        return protect

    # ------------------------------------------------------------------ formatString

    def _format_string(self, value: Value, sink: Sink) -> Getter | Const:
        source = self.compile(value, sink)
        if isinstance(source, Const):
            return self._template(show(source.value), sink)
        cache: dict[str, Getter] = {}

        def run(scope: Any) -> Any:
            text = show(source(scope))
            getter = cache.get(text)
            if getter is None:
                if len(cache) >= _CACHED_TEMPLATES:
                    cache.clear()
                compiled = self._template(text, sink)
                getter = cache[text] = _constantly(compiled) if isinstance(compiled, Const) else compiled
            return getter(scope)

        return run

    def _template(self, text: str, sink: Sink) -> Getter | Const:
        """The closure of one formatString text: pieces that are fixed, readers of the others."""
        try:
            template = expressions.parse_template(text, self._env.limits)
        except ExpressionError as error:
            return _failing(error, sink)
        if template.constant is not None:
            return Const(template.constant)
        fixed: list[str] = [""]
        getters: list[Getter] = []
        for part in template.parts:
            if isinstance(part, expressions.Text):
                fixed[-1] += part.text
            elif isinstance(part, expressions.Literal):
                fixed[-1] += show(part.value)
            else:
                getters.append(self.getter(_from_expression(part), sink))
                fixed.append("")
        return _joined(fixed, getters, self.work, sink)


def descend(value: Any, tokens: Tokens) -> Any:
    """The value at the tokens, None where there is nothing."""
    for token in tokens:
        if type(value) is dict:
            value = value.get(token)
        elif type(value) is list:
            index = to_index(token)
            if index is None or index >= len(value):
                return None
            value = value[index]
        else:
            return None
    return value


def _joined(fixed: list[str], getters: list[Getter], work: Work, sink: Sink) -> Getter:
    """Texts and values in turn. One and two values, by far the most frequent, get a form without a loop."""
    if len(getters) == 1:
        before, after = fixed
        get = getters[0]
        return lambda scope: f"{before}{show(get(scope))}{after}"
    if len(getters) == 2:
        before, between, after = fixed
        first, second = getters
        return lambda scope: f"{before}{show(first(scope))}{between}{show(second(scope))}{after}"
    pattern = "%s".join([text.replace("%", "%%") for text in fixed])

    def joined(scope: Any) -> str | None:
        if work.used > work.allowed:
            sink.failed(work.refusal("formatString"))
            return None
        texts = [show(get(scope)) for get in getters]
        if not work.texts(texts):
            sink.failed(work.refusal("formatString"))
            return None
        return pattern % tuple(texts)

    return joined


def _from_expression(part: expressions.Expression) -> Value:
    """The same value in the form that component properties have."""
    if isinstance(part, expressions.Path):
        return Binding(part.tokens, part.absolute)
    if isinstance(part, expressions.Call):
        return FunctionCall(part.name, {name: _from_expression(argument) for name, argument in part.args})
    return part.value


def _constantly(constant: Const) -> Getter:
    value = constant.value
    return lambda _: value


def _failing(error: A2uiError, sink: Sink) -> Getter:
    def fail(_: Any) -> None:
        sink.failed(error)

    return fail
