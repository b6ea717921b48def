"""Values that wait for the answer of an agent: they are PENDING, and so is what is made of them."""

from __future__ import annotations

from typing import Any, Protocol

from a2ui.binding.agent_calls import AgentCalls, Site
from a2ui.binding.budget import EvaluationBudget
from a2ui.binding.calling import LOOKED_AT, taken
from a2ui.binding.reading import Getter, ReadRecorder, Report
from a2ui.binding.values import FunctionCall, Value
from a2ui.functions.pending import PENDING
from a2ui.functions.registry import Function
from a2ui.safety.limits import Limits


class Compiling(Protocol):
    """The compiler, as far as it is needed here."""

    work: EvaluationBudget

    @property
    def limits(self) -> Limits: ...
    def getter(self, value: Value, recorder: ReadRecorder) -> Getter: ...
    def protect(self, name: str) -> Getter: ...
    def carry_out(
        self, function: Function, arguments: dict[str, Any], report: Report, component_id: str
    ) -> Any: ...


def ask(
    compiler: Compiling, calls: AgentCalls, function: Function, call: FunctionCall, recorder: ReadRecorder
) -> Getter:
    """A call of a function that the agent runs: what there is of it now."""
    compiler.work.compiled += 1
    arguments = [(name, compiler.getter(value, recorder)) for name, value in call.arguments.items()]
    site = Site(function, call.catalog_id or calls.catalog_id, arguments, compiler.limits)
    calls.add(recorder, site)
    return lambda scope: calls.value(site.request(scope), function, recorder)


def run_on_answers(
    compiler: Compiling,
    function: Function,
    fixed: dict[str, Any],
    dynamic: list[tuple[str, Getter]],
    recorder: ReadRecorder,
) -> Getter:
    """A call with arguments that an agent gives: pending as long as one of them is."""
    protect, work = compiler.protect(function.name), compiler.work

    def run(scope: Any) -> Any:
        resolved = dict(fixed)
        for name, item in dynamic:
            value = item(scope)
            if value is PENDING:
                return PENDING
            resolved[name] = taken(value, protect, work) if type(value) in LOOKED_AT else value
        return compiler.carry_out(function, resolved, recorder.report, recorder.component_id)

    return run


def known(value: list[Any] | dict[str, Any]) -> Any:
    """A list or an object as it is; PENDING where something in it is."""
    inside = value if type(value) is list else value.values()  # type: ignore[union-attr]
    return PENDING if any(item is PENDING for item in inside) else value
