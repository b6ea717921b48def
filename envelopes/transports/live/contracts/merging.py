"""Several contracts that hold at once, as one: that of a session, and those of single surfaces in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from envelopes.transports.live.contracts.entries import ENTRIES_IN
from envelopes.transports.live.contracts.violations import Violation, at, cut, same
from envelopes.types import JsonObject


def merged(documents: Iterable[JsonObject]) -> tuple[JsonObject, list[Violation]]:
    """One document with the entries of all, and a violation for each name that two of them declare differently: an
    action that reaches the agent has one shape, whichever surface it is of. Of these the first one stands in it.

    What is no contract at all is passed on as it is, for ``contract_of`` to refuse.
    """
    made: JsonObject = {}
    faults: list[Violation] = []
    for document in documents:
        for part, spec in document.items():
            inside = ENTRIES_IN.get(part)
            known: Any = made.get(part)
            if not (isinstance(spec, dict) and isinstance(known, dict)):
                made.setdefault(part, spec)
                continue
            if inside is None:
                made[part] = _joined(part, known, spec, faults)
            elif isinstance(spec.get(inside), dict) and isinstance(known.get(inside), dict):
                prefix = part if part == "propsSpec" else f"{part}.{inside}"
                made[part] = {**spec, **known, inside: _joined(prefix, known[inside], spec[inside], faults)}
    return made, faults


def _joined(prefix: str, known: JsonObject, more: JsonObject, faults: list[Violation]) -> JsonObject:
    faults += [
        Violation(
            at(prefix, [cut(name)]),
            f"'{cut(name)}' is declared for this session already, and not in the same way.",
            code="CTR_DUP_NAME",
        )
        for name, entry in more.items()
        if name in known and not same(known[name], entry)
    ]
    return {**more, **known}
