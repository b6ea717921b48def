"""Functions of the protocol itself: `@index`, the position of an item of a template (4.3 of the reading of 1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2ui.binding.budget import EvaluationBudget
from a2ui.binding.reading import Getter, ReadRecorder
from a2ui.binding.values import SYSTEM, FunctionCall
from a2ui.errors import ExpressionError
from a2ui.schema.dynamic import INDEX

_OFFSET = "offset"


def unknown(call: FunctionCall) -> ExpressionError:
    """Why a call has no function: nobody knows it, or it is one of the protocol outside of where it has a value."""
    name, of = call.name[:40], call.catalog_id
    if of == SYSTEM and name == INDEX:
        message = f"{INDEX} has a value inside of templates only."
    else:
        where = f" in the catalog {of[:200]}" if of and of != SYSTEM else ""
        message = f"There is no function {name!r}{where}."
    return ExpressionError(message, expression=call.name[:100], unusable=True)


def system_call(
    name: str, arguments: Mapping[str, Getter], recorder: ReadRecorder, work: EvaluationBudget
) -> Getter:
    """A function of the protocol, inside of a template."""
    if name == INDEX:
        return _position(arguments, recorder, work)
    problem = unknown(FunctionCall(name, {}, SYSTEM))
    return lambda _: recorder.failed(problem)


def _position(arguments: Mapping[str, Getter], recorder: ReadRecorder, work: EvaluationBudget) -> Getter:
    """The position of the item that is evaluated, from 0, plus the offset; None, with a report, where the arguments
    have no meaning. The recorder has a counter."""
    counter, offset = recorder.counter, arguments.get(_OFFSET)
    recorder.counting()
    unknown = next((name for name in arguments if name != _OFFSET), None)

    def at(scope: Any) -> Any:
        work.used += 1
        if work.used > work.allowed:
            recorder.failed(work.refusal(INDEX))
            return None
        if unknown is not None:
            recorder.failed(_problem(f"{INDEX} has no argument {unknown[:40]!r}."))
            return None
        if counter is None or offset is None:
            return None if counter is None else counter.at
        more = offset(scope)
        if type(more) is not int and type(more) is not float:
            recorder.failed(_problem(f"{INDEX} needs a number as its offset."))
            return None
        found = counter.at + more
        return int(found) if type(found) is float and found.is_integer() else found

    return at


def _problem(message: str) -> ExpressionError:
    return ExpressionError(message, expression=INDEX)
