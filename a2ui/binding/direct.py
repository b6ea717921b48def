"""Dynamic values evaluated once, without a closure that stays: for what is drawn straight from its definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from a2ui.binding.compiler import Compiler, Sink, descend
from a2ui.binding.secrets import show
from a2ui.binding.values import Array, Binding, FunctionCall, Value
from a2ui.errors import A2uiError, ExpressionError
from a2ui.functions.expressions import Path, Text, parse_template

_PIECES = 4
"""A text of so many pieces is put together here; longer ones count as work, which the compiled form does."""


class Unusual(Exception):
    """Only the compiled form knows what to do here."""


class Direct:
    """Evaluates values whose scope is the whole data model. Results and reports are those of the compiled form."""

    __slots__ = ("_compiler", "_limits", "_report", "_root", "_texts")

    def __init__(self, compiler: Compiler, root: Any, report: Callable[[A2uiError, str], None]) -> None:
        self._compiler = compiler
        self._limits = compiler.limits
        self._root = root
        self._report = report
        self._texts = compiler.function("formatString") is not None

    def value(self, value: Value, component_id: str) -> Any:
        """The value now, None where there is nothing. Raises Unusual."""
        if isinstance(value, Binding):
            return descend(self._root, value.tokens)
        if isinstance(value, FunctionCall):
            text = value.arguments.get("value") if value.name == "formatString" else None
            if isinstance(text, str) and self._texts:
                return self._text(text, value, component_id)
        elif not isinstance(value, Array):
            return value
        return self._compiled(value, component_id)

    def _text(self, text: str, call: Value, component_id: str) -> Any:
        """`formatString` of a text with few pieces, all of them paths or fixed."""
        try:
            template = parse_template(text, self._limits)
        except ExpressionError as error:
            self._report(error, component_id)
            return None
        if template.constant is not None:
            return template.constant
        parts, root = template.parts, self._root
        if len(parts) > _PIECES:
            return self._compiled(call, component_id)
        pieces = []
        for part in parts:
            if isinstance(part, Path):
                pieces.append(show(descend(root, part.tokens)))
            elif isinstance(part, Text):
                pieces.append(part.text)
            else:
                return self._compiled(call, component_id)
        self._compiler.work.compiled += len(parts)
        return "".join(pieces)

    def _compiled(self, value: Value, component_id: str) -> Any:
        sink = Sink(component_id, self._report)
        get = self._compiler.getter(value, sink)
        if sink.grows:
            raise Unusual
        return get(self._root)
