"""Dynamic values evaluated once, without closures: for what is drawn straight from its definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from a2ui.binding.budget import fallback_value
from a2ui.binding.calling import LOOKED_AT, taken
from a2ui.binding.compiler import COMPILED, Compiler, from_expression
from a2ui.binding.reading import descend
from a2ui.binding.secrets import show
from a2ui.binding.values import NODES, Array, Binding, FunctionCall, Record, Value
from a2ui.errors import A2uiError, ExpressionError
from a2ui.functions.expressions import Path, PlainText

_FEW = 2
"""Values in a text that are not counted as work, see `EvaluationBudget.texts`."""


class NeedsCompilation(Exception):
    """Only the compiled form knows what to do here."""


class Direct:
    """Evaluates values whose scope is the whole data model. Results and reports are those of the compiled form."""

    __slots__ = ("_compiler", "_report", "_root", "_texts", "_work")

    def __init__(self, compiler: Compiler, root: Any, report: Callable[[A2uiError, str], None]) -> None:
        self._compiler = compiler
        self._work = compiler.work
        self._root = root
        self._report = report
        self._texts = compiler.function("formatString") is not None

    def value(self, value: Value, component_id: str) -> Any:
        """The value now, None where there is nothing. Raises NeedsCompilation."""
        if isinstance(value, Binding):
            return descend(self._root, value.tokens)
        if isinstance(value, FunctionCall):
            if value.name == "formatString" and (
                self._compiler.function(value.name, value.catalog_id) if value.catalog_id else self._texts
            ):
                return self._text(value.arguments.get("value"), component_id)
            return self._call(value, component_id)
        if isinstance(value, Array):
            return [self.value(item, component_id) for item in value.items]
        if isinstance(value, Record):
            return {key: self.value(member, component_id) for key, member in value.members.items()}
        return value

    def _call(self, call: FunctionCall, component_id: str) -> Any:
        compiler = self._compiler
        function = compiler.callee(call)
        if isinstance(function, ExpressionError):
            self._report(function, component_id)
            return None
        if function.remote:
            # Where it is called has to be known to whoever makes the call.
            raise NeedsCompilation
        arguments: dict[str, Any] = {}
        for name, argument in call.arguments.items():
            if isinstance(argument, NODES):
                found = self.value(argument, component_id)
                if type(found) in LOOKED_AT:
                    found = taken(found, compiler.protect(function.name), self._work)
                arguments[name] = found
            else:
                arguments[name] = argument
        self._work.compiled += 1
        return compiler.carry_out(function, arguments, self._report, component_id)

    def _text(self, text: Value, component_id: str) -> str | None:
        """`formatString`."""
        if isinstance(text, NODES):
            # What it reads is in a text that nobody has seen yet.
            raise NeedsCompilation
        shown = show(text, self._work)
        self._work.compiled += len(shown) // COMPILED
        template = self._compiler.parse(shown)
        if isinstance(template, ExpressionError):
            self._report(template, component_id)
            return fallback_value(template)
        if template.constant is not None:
            return template.constant
        root, work, paths = self._root, self._work, template.paths
        if 0 < len(paths) <= _FEW:
            work.compiled += len(template.parts)
            return template.pattern % tuple([show(descend(root, tokens), work) for tokens in paths])
        pieces, found = [], []
        for part in template.parts:
            if isinstance(part, PlainText):
                pieces.append(part.text)
                continue
            if isinstance(part, Path):
                shown = show(descend(root, part.tokens), work)
            else:
                shown = show(self.value(from_expression(part), component_id), work)
            pieces.append(shown)
            found.append(shown)
        work.compiled += len(pieces)
        if len(found) > _FEW:
            work.texts(found)
        return "".join(pieces)
