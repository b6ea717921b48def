"""What is wrong with a document, a patch document or an envelope: one family of errors."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from envelopes.errors import BeachError

Reason: TypeAlias = Literal[
    "AmbientConsentRequired",
    "BudgetExceeded",
    "Conflict",
    "EmptyField",
    "EmptyOperations",
    "InvalidExperimentalValue",
    "InvalidJson",
    "InvalidOperationFieldType",
    "InvalidPointer",
    "InvalidType",
    "InvalidValue",
    "MissingField",
    "MissingOperationField",
    "NotAnObject",
    "OperationNotObject",
    "PayloadTooLarge",
    "SerializePatch",
    "UnsupportedOperation",
    "UnsupportedVersion",
]


class DocumentError(BeachError):
    """This document cannot be used; nothing was changed.

    ``code`` is the family (``invalid_input``, ``invalid_patch``, ``conflict``, ``budget_exceeded``), ``reason`` the
    kind within it. ``path`` is the dotted name of a field (``experimental.track_id``), of an operation its JSON
    Pointer; ``index`` the number of the operation, from 0, and None where it is about no single one.
    """

    code = "invalid_input"
    fault = "client"

    def __init__(
        self, message: str, *, reason: Reason, path: str = "", index: int | None = None, **facts: Any
    ) -> None:
        self.reason, self.path, self.index = reason, path, index
        where = {} if index is None else {"index": index}
        super().__init__(message, reason=reason, path=path, **where, **facts)


class InvalidInput(DocumentError):
    """A document or an envelope that is not what it has to be."""


class InvalidPatch(DocumentError):
    """A patch document that is malformed, or that asks for what no patch may do."""

    code = "invalid_patch"


class PatchConflict(DocumentError):
    """A patch that does not fit the state: the place does not exist, or cannot hold this."""

    code = "conflict"


class BudgetExceeded(DocumentError):
    """A patch, or a queue of them, that is larger than is taken."""

    code = "budget_exceeded"
