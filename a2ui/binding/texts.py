"""Texts made of fixed pieces and values in turn: what formatString compiles to (rulebook section 10)."""

from __future__ import annotations

from functools import partial
from typing import Any

from a2ui.binding.budget import CUT, EvaluationBudget
from a2ui.binding.reading import Getter, ReadRecorder
from a2ui.binding.secrets import show


def joined(fixed: list[str], getters: list[Getter], work: EvaluationBudget, recorder: ReadRecorder) -> Getter:
    """Texts and values in turn. One and two values, by far the most frequent, get a form without a loop."""
    if len(getters) == 1:
        return partial(_one, fixed[0], fixed[1], getters[0], work)
    if len(getters) == 2:
        return partial(_two, fixed[0], fixed[1], fixed[2], getters[0], getters[1], work)
    return partial(_many, "%s".join([text.replace("%", "%%") for text in fixed]), getters, work, recorder)


def _one(before: str, after: str, get: Getter, work: EvaluationBudget, scope: Any) -> str:
    return f"{before}{show(get(scope), work)}{after}"


def _two(
    before: str, between: str, after: str, first: Getter, second: Getter, work: EvaluationBudget, scope: Any
) -> str:
    return f"{before}{show(first(scope), work)}{between}{show(second(scope), work)}{after}"


def _many(
    pattern: str, getters: list[Getter], work: EvaluationBudget, recorder: ReadRecorder, scope: Any
) -> str:
    if work.used > work.allowed:
        recorder.failed(work.refusal("formatString"))
        return CUT
    texts = [show(get(scope), work) for get in getters]
    if not work.texts(texts):
        recorder.failed(work.refusal("formatString"))
        return CUT
    return pattern % tuple(texts)
